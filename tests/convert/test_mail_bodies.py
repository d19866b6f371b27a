"""Bodies in HTML, as mails bring them: no words are lost, whatever the markup is."""

import pytest

from knowledge_index.convert.mail_parts import body_of_html


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<div>" * 300 + "Die Frist endet am Montag." + "</div>" * 300, "Die Frist endet am Montag."),
        ("<p>one\x00 word\x01</p>", "one word"),
        ("<?xml version='1.0' encoding='utf-16'?><html><body>Hallo &amp; Welt</body></html>", "Hallo & Welt"),
        ("<style>p{}</style>" + "<i>" * 300 + "a &lt; b", "a < b"),
        ("<!-- a comment alone -->", ""),
        ("", ""),
    ],
)
def test_no_words_of_a_body_are_lost(markup: str, words: str) -> None:
    assert " ".join(body_of_html(markup).split()) == words
