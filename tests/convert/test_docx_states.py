"""The three states of a tracked document, over documents that nobody wrote."""

import re

from hypothesis import given
from hypothesis import strategies as st
from ooxml_files import docx

from knowledge_index.convert import converter_for
from knowledge_index.convert.normalise import normal_form
from knowledge_index.domain.documents import ChangeKind, ConvertedDocument
from knowledge_index.domain.errors import ConversionError

GONE = {"current": ("del", "moveFrom"), "original": ("ins", "moveTo")}
TAGS = st.sampled_from(["", "", "", "ins", "del", "moveFrom", "moveTo"])
WORDS = st.text(alphabet="ab \u0308u\u00a0\u00ad", min_size=1, max_size=5)
PARAGRAPHS = st.lists(st.tuples(st.lists(st.tuples(WORDS, TAGS), max_size=4), TAGS), min_size=1, max_size=6)
Paragraphs = list[tuple[list[tuple[str, str]], str]]


def piece(words: str, tag: str) -> str:
    name = "delText" if tag == "del" else "t"
    run = f'<w:r><w:{name} xml:space="preserve">{words}</w:{name}></w:r>'
    return f'<w:{tag} w:author="A. Muster">{run}</w:{tag}>' if tag else run


def body(paragraphs: Paragraphs) -> str:
    return "".join(
        f"<w:p><w:pPr><w:rPr>{f'<w:{mark}/>' if mark else ''}</w:rPr></w:pPr>"
        + "".join(piece(words, tag) for words, tag in pieces)
        + "</w:p>"
        for pieces, mark in paragraphs
    )


def expected(paragraphs: Paragraphs, state: str) -> str:
    gone = GONE[state]
    text = "".join(
        "".join(words for words, tag in pieces if tag not in gone) + ("" if mark in gone else "\n")
        for pieces, mark in paragraphs
    )
    return normal_form(re.sub(r"\n{3,}", "\n\n", normal_form(text)))


def convert(paragraphs: Paragraphs) -> ConvertedDocument | None:
    try:
        return converter_for("a.docx").convert(docx(body([*paragraphs, ([("End", "")], "")])))
    except ConversionError:
        return None


@given(PARAGRAPHS)
def test_accepting_and_rejecting_keep_and_drop_what_they_have_to(paragraphs: Paragraphs) -> None:
    document = convert(paragraphs)
    whole: Paragraphs = [*paragraphs, ([("End", "")], "")]
    assert document is not None
    assert document.text == expected(whole, "current")
    is_changed = any(mark or any(tag for _, tag in pieces) for pieces, mark in paragraphs)
    assert document.original_text == (expected(whole, "original") if is_changed else None)


@given(PARAGRAPHS)
def test_a_record_points_at_its_words(paragraphs: Paragraphs) -> None:
    document = convert(paragraphs)
    assert document is not None
    starts = [change.start_char for change in document.changes]
    assert starts == sorted(starts)
    for change in document.changes:
        stands = change.kind in (ChangeKind.INSERTION, ChangeKind.MOVED_TO)
        assert document.text[change.start_char : change.end_char] == (change.text if stands else "")
        assert change.text


@given(PARAGRAPHS)
def test_the_marked_text_holds_both_other_states(paragraphs: Paragraphs) -> None:
    document = convert(paragraphs)
    assert document is not None
    if document.marked_text is None:
        return

    def without(gone: str, kept: str) -> str:
        text = re.sub(rf"\[([{gone}])(?:(?!\1\]).)*?¶\1\]\n|\[([{gone}])(?:(?!\2\]).)*?\2\]", "", document.marked_text)
        text = re.sub(rf"\[[{kept}]|[{kept}]\]", "", text).replace("¶", "")
        return "".join(normal_form(text).split())

    assert without("-<", "+>") == "".join(document.text.split())
    assert without("+>", "-<") == "".join((document.original_text or "").split())


@given(st.text(max_size=40))
def test_whatever_words_are_deleted_reading_does_not_fail(words: str) -> None:
    safe = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[<>&]", "", words)
    document = convert([([(safe, "ins"), (safe, "del"), (safe, "")], "ins")])
    assert document is not None
    assert document.text == normal_form(document.text)
