"""Makes the Word files of ``tests/data/docx`` from readable XML; the same bytes each time.

``python tests/build_docx_gold.py`` writes them. What each is expected to say stands beside it and is not written here.
"""

from dataclasses import dataclass, field

from gold_files import DATA, stored_zip

FOLDER = DATA / "docx"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
NAMESPACES = (
    f'xmlns:w="{WORD}" xmlns:r="{OFFICE}" xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
MUSTER = 'w:author="A. Muster" w:date="2026-03-02T09:15:00Z"'
BEISPIEL = 'w:author="B. Beispiel" w:date="2026-03-03T10:30:00Z"'


@dataclass
class WordFile:
    """One file, by the content of its parts; ``related`` maps a relation id to (kind, part, content)."""

    body: str
    title: str | None = None
    styles: str | None = None
    numbering: str | None = None
    related: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def parts(self) -> dict[str, str]:
        related = dict(self.related)
        if self.styles is not None:
            related["rIdS"] = ("styles", "styles.xml", part("styles", self.styles))
        if self.numbering is not None:
            related["rIdN"] = ("numbering", "numbering.xml", part("numbering", self.numbering))
        top = [("rId1", "officeDocument", "word/document.xml")]
        parts = {"word/document.xml": part("document", f"<w:body>{self.body}</w:body>")}
        if self.title is not None:
            top.append(("rId2", "core-properties", "docProps/core.xml"))
            parts["docProps/core.xml"] = (
                f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties"'
                f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{self.title}</dc:title></cp:coreProperties>'
            )
        parts["word/_rels/document.xml.rels"] = relationships(*((key, *each[:2]) for key, each in related.items()))
        parts |= {f"word/{name}": content for _, name, content in related.values() if content}
        return {"_rels/.rels": relationships(*top), **parts}

    def data(self) -> bytes:
        return stored_zip(self.parts())


def part(tag: str, content: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<w:{tag} {NAMESPACES}>{content}</w:{tag}>'


def relationships(*relations: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>' for key, kind, target in relations
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def struck(text: str) -> str:
    return f'<w:r><w:delText xml:space="preserve">{text}</w:delText></w:r>'


def ins(content: str, by: str = MUSTER) -> str:
    return f'<w:ins w:id="1" {by}>{content if content.startswith("<") else run(content)}</w:ins>'


def gone(content: str, by: str = MUSTER) -> str:
    return f'<w:del w:id="2" {by}>{content if content.startswith("<") else struck(content)}</w:del>'


def p(*content: str, style: str = "", num: tuple[int, int] | None = None, mark: str = "", more: str = "") -> str:
    """A paragraph; ``num`` is (list, level), ``mark`` goes into the properties of its mark."""
    properties = (
        (f'<w:pStyle w:val="{style}"/>' if style else "")
        + (f'<w:numPr><w:ilvl w:val="{num[1]}"/><w:numId w:val="{num[0]}"/></w:numPr>' if num else "")
        + (f"<w:rPr>{mark}</w:rPr>" if mark else "")
        + more
    )
    inside = "".join(piece if piece.startswith("<") else run(piece) for piece in content)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inside}</w:p>"


def row(*cells: str, properties: str = "") -> str:
    inside = "".join(f"<w:tc>{cell if cell.startswith('<') else p(cell)}</w:tc>" for cell in cells)
    return f"<w:tr>{f'<w:trPr>{properties}</w:trPr>' if properties else ''}{inside}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def control(content: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def char(kind: str, data: str = "") -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}">{data}</w:fldChar></w:r>'


def code(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'


def shown_field(instruction: str, result: str) -> str:
    return char("begin") + code(instruction) + char("separate") + run(result) + char("end")


def level(index: int, form: str, text: str, *, start: int = 1, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def abstract(key: int, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{key}">{"".join(levels)}</w:abstractNum>'


def num(key: int, abstract_key: int, overrides: str = "") -> str:
    return f'<w:num w:numId="{key}"><w:abstractNumId w:val="{abstract_key}"/>{overrides}</w:num>'


def start_override(index: int, value: int) -> str:
    return f'<w:lvlOverride w:ilvl="{index}"><w:startOverride w:val="{value}"/></w:lvlOverride>'


def style(key: str, content: str = "", *, based_on: str = "", more: str = "", kind: str = "paragraph") -> str:
    parent = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return f'<w:style w:type="{kind}" w:styleId="{key}" {more}>{parent}<w:pPr>{content}</w:pPr></w:style>'


def num_pr(key: int, index: int | None = None) -> str:
    inside = "" if index is None else f'<w:ilvl w:val="{index}"/>'
    return f'<w:numPr>{inside}<w:numId w:val="{key}"/></w:numPr>'


def section(*references: str) -> str:
    return f"<w:sectPr>{''.join(references)}</w:sectPr>"


def header(key: str, kind: str = "default") -> str:
    return f'<w:headerReference w:type="{kind}" r:id="{key}"/>'


def footer(key: str, kind: str = "default") -> str:
    return f'<w:footerReference w:type="{kind}" r:id="{key}"/>'


def note_mark(kind: str, key: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{key}"/></w:r>'


def note(kind: str, key: int, *content: str) -> str:
    return f'<w:{kind} w:id="{key}">{"".join(content)}</w:{kind}>'


CLAUSES = abstract(
    0,
    level(0, "decimal", "%1."),
    level(1, "decimal", "%1.%2"),
    level(2, "lowerLetter", "(%3)"),
    level(3, "lowerRoman", "(%4)"),
)
INSERTED, DELETED = f'<w:ins w:id="3" {MUSTER}/>', f'<w:del w:id="4" {MUSTER}/>'
SEPARATOR = '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
BOX = f"<w:txbxContent>{p('In the box')}{p('Second line of the box')}</w:txbxContent>"
SHAPE = f"<wps:wsp><wps:txbx>{BOX}</wps:txbx></wps:wsp>"
OLD_SHAPE = f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>"
CHECK = '<w:ffData><w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox></w:ffData>'
UNCHECKED = '<w:ffData><w:checkBox><w:default w:val="0"/></w:checkBox></w:ffData>'
CHOICE = (
    '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="Hamburg"/><w:listEntry w:val="Bremen"/>'
    "</w:ddList></w:ffData>"
)


def moved(tag: str, content: str) -> str:
    return f'<w:{tag} w:id="5" {BEISPIEL}>{run(content)}</w:{tag}>'


CASES: dict[str, WordFile] = {
    "body": WordFile(
        p("Liefervertrag")
        + p()
        + p()
        + p("Zwischen der A\u0308rzte GmbH\u00a0und", "<w:r><w:br/></w:r>", "der Werft.")
        + p("Frist:", "<w:r><w:tab/></w:r>", "14 Tage", "<w:r><w:softHyphen/></w:r>", "  ")
        + p("non", "<w:r><w:noBreakHyphen/></w:r>", "compete &amp; &lt;more&gt;"),
        title="Liefervertrag  Kranbau",
    ),
    "nested_table": WordFile(
        p("Prices")
        + table(
            row("Part", "EUR"),
            row(p("Gearbox") + p("KG-7"), p("see") + table(row("new", "48,250.00"), row("used", "9,100.00")) + p()),
            row("", "", "last"),
        )
        + p("End"),
    ),
    "headers_footers": WordFile(
        p("Body", more=section(header("h1", "first"), header("h2"), footer("f1")))
        + p("Second section")
        + section(header("h3"), footer("f2")),
        related={
            "h1": ("header", "header1.xml", part("hdr", p("First page of the agreement"))),
            "h2": ("header", "header2.xml", part("hdr", p("Crane agreement"))),
            "h3": ("header", "header3.xml", part("hdr", p("Crane ", "agreement"))),
            "h9": ("header", "header9.xml", part("hdr", p("Named by no section"))),
            "f1": ("footer", "footer1.xml", part("ftr", p("Page ", shown_field(" PAGE ", "1"), " of 9"))),
            "f2": ("footer", "footer2.xml", part("ftr", table(row("Ref. 12", "Hamburg")))),
        },
    ),
    "notes": WordFile(
        p("Second", note_mark("footnote", 3), " before first", note_mark("footnote", 2), ".")
        + p("End", note_mark("endnote", 1), "."),
        related={
            "n1": (
                "footnotes",
                "footnotes.xml",
                part(
                    "footnotes",
                    SEPARATOR
                    + note("footnote", 2, p("Noted later."))
                    + note("footnote", 3, p("<w:r><w:footnoteRef/></w:r>", " Noted first."), p("In two paragraphs.")),
                ),
            ),
            "n2": ("endnotes", "endnotes.xml", part("endnotes", note("endnote", 1, p("At the end.")))),
        },
    ),
    "comments": WordFile(
        p('<w:commentRangeStart w:id="0"/>', "The price is fixed.", '<w:commentRangeEnd w:id="0"/>'),
        related={
            "c1": (
                "comments",
                "comments.xml",
                part(
                    "comments",
                    f'<w:comment w:id="0" {MUSTER}>' + p("Is it?") + p("Ask the client.") + "</w:comment>"
                    '<w:comment w:id="1" w:author="B. Beispiel">' + p("Yes.") + "</w:comment>",
                ),
            )
        },
    ),
    "text_boxes": WordFile(
        p(
            "Before",
            "<w:r><mc:AlternateContent>"
            f'<mc:Choice Requires="wps"><w:drawing>{SHAPE}</w:drawing></mc:Choice>'
            f"<mc:Fallback>{OLD_SHAPE}</mc:Fallback></mc:AlternateContent></w:r>",
            " and after",
        )
        + p("Next", f"<w:r>{OLD_SHAPE.replace('In the box', 'Old box')}</w:r>"),
    ),
    "watermark": WordFile(
        p("Body") + section(header("h1")),
        related={
            "h1": (
                "header",
                "header1.xml",
                part("hdr", p('<w:r><w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict></w:r>')),
            )
        },
    ),
    "content_controls": WordFile(
        control(p("Block control") + control(p("inside another")))
        + p("Name: ", control(run("Werft AG")), " and ", control(run("\u2612")), " yes")
        + table(
            control(row("a", control("<w:p/>") + p("b"))) + f"<w:tr>{control('<w:tc>' + p('c') + '</w:tc>')}</w:tr>"
        )
    ),
    "hyperlinks": WordFile(
        p(
            "See ",
            '<w:hyperlink r:id="x">' + run("the ") + gone("old ") + ins("new ") + run("terms") + "</w:hyperlink>",
            ".",
        ),
    ),
    "fields": WordFile(
        p(char("begin"), code(' TOC \\o "1-2" '), char("separate"), "1 Supply", "<w:r><w:tab/></w:r>", "2")
        + p("2 Price", "<w:r><w:tab/></w:r>", "3")
        + p(char("end"))
        + p(
            "As in clause ", shown_field(" REF _x \\r ", "5.1"), ", page ", '<w:fldSimple w:instr="PAGE">' + run("7")
        ).replace("</w:p>", "</w:fldSimple></w:p>")
        + p(
            char("begin"),
            code(" IF "),
            shown_field(" MERGEFIELD n ", "hidden"),
            code(' = "1" "one" "many" '),
            char("separate"),
            "many",
            char("end"),
            " parts",
            char("begin"),
            code(' XE "index entry" '),
            char("end"),
        )
        + p(char("begin", CHECK), code(" FORMCHECKBOX "), char("end"), " accepted ", char("begin", UNCHECKED)).replace(
            "</w:p>", f"{code(' FORMCHECKBOX ')}{char('end')}{run(' refused')}</w:p>"
        )
        + p("Seat: ", char("begin", CHOICE), code(" FORMDROPDOWN "), char("end")),
    ),
    "unbalanced_field": WordFile(p(char("begin"), code(" PAGE "), "Everything after is text.") + p("And this.")),
    "symbols": WordFile(
        p('<w:r><w:sym w:font="Symbol" w:char="F0B7"/></w:r>', " item")
        + p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', " ticked")
        + p('<w:r><w:sym w:font="Arial" w:char="00A7"/></w:r>', " 5 HGB")
        + p("<m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath>", " = c")
    ),
    "numbering_starts_at_3": WordFile(
        p("Recitals") + p("Term", num=(1, 0)) + p("between the clauses") + p("Price", num=(1, 0)),
        numbering=abstract(0, level(0, "decimal", "%1.", start=3)) + num(1, 0),
    ),
    "numbering_levels": WordFile(
        p("Supply", num=(1, 0))
        + p("Lots", num=(1, 1))
        + p("monthly", num=(1, 2))
        + p("weekly", num=(1, 2))
        + p("in winter", num=(1, 3))
        + p("Inspection", num=(1, 1))
        + p("at once", num=(1, 2))
        + p("Price", num=(1, 0))
        + p("Rates", num=(1, 1)),
        numbering=CLAUSES + num(1, 0),
    ),
    "numbering_legal": WordFile(
        p("Definitions", num=(1, 0))
        + p("Terms", num=(1, 1))
        + p("Rules", num=(1, 1))
        + p("Sale", num=(1, 0))
        + p("Goods", num=(1, 1)),
        numbering=abstract(
            0,
            level(0, "upperRoman", "ARTICLE %1"),
            level(1, "decimalZero", "Section %1.%2", more="<w:isLgl/>"),
        )
        + num(1, 0),
    ),
    "numbering_german": WordFile(
        p("Laufzeit", num=(1, 0)) + p("Der Vertrag beginnt am 1. Mai.", num=(1, 1)) + p("Haftung", num=(1, 0)),
        numbering=abstract(0, level(0, "decimal", "§ %1", start=3), level(1, "decimal", "(%2)")) + num(1, 0),
    ),
    "numbering_styles": WordFile(
        p("Supply", style="Heading1")
        + p("Lots", style="Heading2")
        + p("Own heading based on the second", style="Clause")
        + p("Without number", style="Heading1", num=(0, 0))
        + p("Price", style="Heading1")
        + p("Plain"),
        styles=style("Normal", more='w:default="1"')
        + style("Heading1", num_pr(1), based_on="Normal")
        + style("Heading2", num_pr(1, 1), based_on="Normal")
        + style("Clause", based_on="Heading2"),
        numbering=abstract(
            0,
            level(0, "decimal", "%1.", more='<w:pStyle w:val="Heading1"/>'),
            level(1, "decimal", "%1.%2", more='<w:pStyle w:val="Heading2"/>'),
        )
        + num(1, 0),
    ),
    "numbering_list_style": WordFile(
        p("Under a list style", num=(2, 0)) + p("again", num=(2, 0)),
        styles=style("Outline", num_pr(1), kind="numbering"),
        numbering=abstract(0, '<w:styleLink w:val="Outline"/>', level(0, "upperLetter", "%1)"))
        + abstract(1, '<w:numStyleLink w:val="Outline"/>')
        + num(1, 0)
        + num(2, 1),
    ),
    "numbering_overrides": WordFile(
        p("one", num=(1, 0))
        + p("two", num=(1, 0))
        + p("starts anew", num=(2, 0))
        + p("goes on", num=(2, 0))
        + p("the same list under another number", num=(3, 0))
        + p("another form", num=(4, 0)),
        numbering=abstract(0, level(0, "decimal", "%1."))
        + num(1, 0)
        + num(2, 0, start_override(0, 1))
        + num(3, 0)
        + num(4, 0, f'<w:lvlOverride w:ilvl="0">{level(0, "lowerLetter", "%1)")}</w:lvlOverride>'),
    ),
    "numbering_restart": WordFile(
        p("A", num=(1, 0))
        + p("first", num=(1, 1))
        + p("inner", num=(1, 2))
        + p("B", num=(1, 0))
        + p("never anew", num=(1, 1))
        + p("anew below the first level only", num=(1, 2))
        + p("goes on", num=(1, 1))
        + p("inner goes on", num=(1, 2)),
        numbering=abstract(
            0,
            level(0, "upperLetter", "%1."),
            level(1, "decimal", "%2.", more='<w:lvlRestart w:val="0"/>'),
            level(2, "lowerLetter", "%3)", more='<w:lvlRestart w:val="1"/>'),
        )
        + num(1, 0),
    ),
    "numbering_formats": WordFile(
        "".join(p(f"item {key}", num=(key, 0)) for key in range(1, 11)) + p("no suffix", num=(11, 0)) + p(num=(12, 0)),
        numbering="".join(
            abstract(key, level(0, form, text, start=start, more=more))
            for key, (form, text, start, more) in enumerate(
                [
                    ("decimalZero", "%1", 7, ""),
                    ("ordinal", "%1", 22, ""),
                    ("lowerRoman", "%1.", 49, ""),
                    ("upperRoman", "%1.", 1994, ""),
                    ("upperLetter", "%1", 28, ""),
                    ("bullet", "\uf0b7", 1, ""),
                    ("bullet", "–", 1, ""),
                    ("none", "Recital", 1, ""),
                    ("none", "", 1, ""),
                    ("chineseCounting", "%1.", 4, ""),
                    ("decimal", "(%1)", 1, '<w:suff w:val="nothing"/>'),
                    ("decimal", "%1.", 6, ""),
                ],
                start=1,
            )
        )
        + "".join(num(key, key) for key in range(1, 13)),
    ),
    "numbering_skipped_level": WordFile(
        p("begins at the second level", num=(1, 1)) + p("first", num=(1, 0)) + p("second", num=(1, 1)),
        numbering=CLAUSES + num(1, 0),
    ),
    "numbering_in_table": WordFile(
        table(row(p(num=(1, 0)), "Crane"), row(p(num=(1, 0)), "Gearbox")), numbering=CLAUSES + num(1, 0)
    ),
    "style_separator": WordFile(
        p("Term.", num=(1, 0), mark="<w:vanish/><w:specVanish/>") + p("It lasts a year.") + p("Price", num=(1, 0)),
        numbering=CLAUSES + num(1, 0),
    ),
    "tracked_words": WordFile(
        p("The ", gone("buyer"), ins("purchaser", BEISPIEL), " pays within ", gone("thirty "), "days.")
        + p("Unchanged.")
        + p(ins("Interest is due."), mark=INSERTED)
        + p(gone("No interest is due."), mark=DELETED)
        + p("End."),
    ),
    "tracked_by_two": WordFile(p("Liability is ", ins(run("not ") + gone("at all ", BEISPIEL)), "limited.")),
    "tracked_marks": WordFile(
        p("One ", mark=DELETED) + p("line.") + p("Two", mark=INSERTED) + p(" lines.") + p("Last."),
    ),
    "tracked_move": WordFile(
        p("A. Definitions")
        + '<w:moveFromRangeStart w:id="8" w:name="move1"/>'
        + p(moved("moveFrom", "Notices are in writing."), mark=f'<w:moveFrom w:id="6" {BEISPIEL}/>')
        + '<w:moveFromRangeEnd w:id="8"/>'
        + p("B. Law")
        + p(moved("moveTo", "Notices are in writing."), mark=f'<w:moveTo w:id="7" {BEISPIEL}/>')
        + p("C. End"),
    ),
    "tracked_numbers": WordFile(
        p("Supply", num=(1, 0))
        + p(gone("Exclusivity"), num=(1, 0), mark=DELETED)
        + p("Price", num=(1, 0))
        + p(ins("Audit"), num=(1, 0), mark=INSERTED)
        + p("Notices", num=(1, 0)),
        numbering=CLAUSES + num(1, 0),
    ),
    "tracked_list_formatting": WordFile(
        p("Supply", num=(1, 0))
        + p(
            "Price", more='<w:pPrChange w:id="1" w:author="A. Muster"><w:pPr>' + num_pr(1, 0) + "</w:pPr></w:pPrChange>"
        )
        + p("Notices", num=(1, 0)),
        numbering=CLAUSES + num(1, 0),
    ),
    "tracked_rows": WordFile(
        table(
            row("Part", "EUR"),
            row(p(gone("Bearing"), mark=DELETED), p(gone("1,180"), mark=DELETED), properties=DELETED),
            row(p(ins("Gearbox"), mark=INSERTED), p(ins("48,250"), mark=INSERTED), properties=INSERTED),
            row("Hook", p(gone("90"), ins("95", BEISPIEL))),
        )
        + p("End"),
    ),
    "tracked_everywhere": WordFile(
        p("Body", note_mark("footnote", 1), gone(note_mark("footnote", 2)), ".") + section(header("h1")),
        related={
            "h1": ("header", "header1.xml", part("hdr", p("Draft of ", gone("1 May"), ins("2 May")))),
            "n1": (
                "footnotes",
                "footnotes.xml",
                part(
                    "footnotes",
                    note("footnote", 1, p("Kept ", ins("and longer"), ".")) + note("footnote", 2, p("Gone note.")),
                ),
            ),
        },
    ),
    "tracked_letters": WordFile(p("Mu", ins("\u0308ller"), gone("ller"), " und Co.")),
    "strict": WordFile(p("Strict ", ins("names"))),
    "bare_ampersand": WordFile(p("Roe & Partner, R&D; &#167; 5 &amp; more")),
    "control_character": WordFile(p("be\x0bfore and aft\x02er")),
    "missing_parts": WordFile(
        p("Numbered", num=(1, 0)) + section(header("h1")),
        related={
            "h1": ("header", "header1.xml", ""),
            "nn": ("numbering", "numbering.xml", part("numbering", "<w:broken")),
        },
    ),
    "embedded_text": WordFile(p("Before") + '<w:altChunk r:id="a1"/>' + p("After")),
    "empty": WordFile(p() + p(" ")),
    "truncated_part": WordFile("<w:p><w:r><w:t>Cut of"),
}


def build() -> dict[str, bytes]:
    """Every file by its name."""
    files = {f"{name}.docx": case.data() for name, case in CASES.items()}
    strict = {name: text.replace(WORD, STRICT) for name, text in CASES["strict"].parts().items()}
    files["strict.docx"] = stored_zip(strict)
    nameless = WordFile(p("Found by its usual name")).parts()
    del nameless["_rels/.rels"]
    files["no_relationships.docx"] = stored_zip(nameless)
    other_letters = WordFile(p("Body") + section(header("h1"))).parts() | {
        "word/_rels/document.xml.rels": relationships(("h1", "header", "Parts\\Header1.xml")),
        "word/parts/header1.xml": part("hdr", p("Found all the same")),
    }
    files["other_letters.docx"] = stored_zip(other_letters)
    lost = WordFile(p("Price", num=(1, 0)) + section(header("h1")), numbering=CLAUSES + num(1, 0)).parts()
    del lost["word/_rels/document.xml.rels"]
    files["lost_relationships.docx"] = stored_zip(lost)
    files["lost_notes.docx"] = WordFile(p("See", note_mark("footnote", 7))).data()
    files["encrypted.docx"] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    files["cut_off.docx"] = WordFile(p("A paper")).data()[:300]
    return files


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file_name, content in build().items():
        (FOLDER / file_name).write_bytes(content)
