"""The control words of RTF that bear on its text (RTF specification 1.9.1)."""

# Words and symbols that stand for characters.
SYMBOLS = {
    "par": "\n",
    "sect": "\n",
    "page": "\n",
    "column": "\n",
    "line": "\n",
    "row": "\n",
    "nestrow": "\n",
    "tab": "\t",
    "emdash": "—",
    "endash": "–",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "~": "\u00a0",
    "-": "\u00ad",
    "_": "\u2011",
    "{": "{",
    "}": "}",
    "\\": "\\",
    "\n": "\n",
    "\r": "\n",
}

# Destinations that hold text of the paper: the story they go to ("" for the one they stand in), and what stands around
# them there.
STORIES = {
    "header": ("header", "", "\n"),
    "headerl": ("header", "", "\n"),
    "headerr": ("header", "", "\n"),
    "headerf": ("header", "", "\n"),
    "footer": ("footer", "", "\n"),
    "footerl": ("footer", "", "\n"),
    "footerr": ("footer", "", "\n"),
    "footerf": ("footer", "", "\n"),
    "footnote": ("", " [", "]"),
    "annotation": ("", " [Comment: ", "]"),
    "shptxt": ("", "\n", "\n"),
    "dptxbxtext": ("", "\n", "\n"),
    "title": ("title", "", ""),
    # Known destinations behind \*, whose groups hold shown text.
    "shpinst": ("", "", ""),
    "do": ("", "", ""),
    "listtext": ("", "", ""),
    "pntext": ("", "", ""),
}
ANNOTATION_AUTHOR = "atnauthor"

# Destinations whose text is no text of the paper.
SKIPPED = frozenset(
    {
        *("fonttbl", "colortbl", "stylesheet", "listtable", "listoverridetable", "rsidtbl", "revtbl", "filetbl"),
        *("info", "author", "operator", "subject", "keywords", "comment", "doccomm", "company", "manager", "category"),
        *("creatim", "revtim", "printim", "buptim", "hlinkbase", "userprops", "generator", "xmlnstbl", "themedata"),
        *(
            "colorschememapping",
            "datastore",
            "latentstyles",
            "template",
            "docvar",
            "mailmerge",
            "pgptbl",
            "protusertbl",
        ),
        *("pict", "nonshppict", "object", "objdata", "objclass", "objname", "result", "picprop", "sp", "sn", "sv"),
        *("fldinst", "formfield", "ffname", "datafield", "bkmkstart", "bkmkend", "xe", "tc", "nonesttables"),
        *("ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "ftncn", "aftncn", "atnid", "atndate", "atnref", "atntime"),
        *("atnicn", "atnparent", "atrfstart", "atrfend", "pn", "pntxta", "pntxtb", "background", "blipuid"),
    }
)

# Character sets of fonts (\fcharsetN) by code page.
CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "cp936",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
