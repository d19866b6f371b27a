import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.convert.dehyphenation import WordsOf


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("die Haf-\ntung gilt", "die Haftung\ngilt"),
        ("Unter-\nAuftragnehmer.", "Unter-Auftragnehmer.\n"),
        ("a long-\nterm lease, a long-term lease", "a long-term\nlease, a long-term lease"),
        ("third-\nparty. The third party, and the third party.", "third-party.\nThe third party, and the third party."),
        (
            "co-\noperate; they cooperate, co and operate, co operate",
            "cooperate;\nthey cooperate, co and operate, co operate",
        ),
        ("Jahre 2024-\n2026", "Jahre 2024-2026"),
        ("- Punkt\n-\nEnde", "- Punkt\n-\nEnde"),
        ("nothing to join", "nothing to join"),
    ],
)
def test_cut_words(text: str, expected: str) -> None:
    assert WordsOf([text]).joined(text) == expected


@given(st.text(alphabet="ab-\n ü9", max_size=60))
def test_white_space_and_hyphens_aside_nothing_changes(text: str) -> None:
    def bare(text: str) -> str:
        return "".join(text.replace("-", "").split())

    assert bare(WordsOf([text]).joined(text)) == bare(text)
