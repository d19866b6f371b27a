"""Which language a text is in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.languages import Language, language_of

GERMAN = "Der Käufer zahlt den Kaufpreis innerhalb von zehn Tagen nach der Übergabe auf das Konto des Verkäufers."
ENGLISH = "The buyer shall pay the price within ten days of the date on which it was handed over by the seller."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, Language.GERMAN),
        (unicodedata.normalize("NFD", GERMAN), Language.GERMAN),
        ("Der Kaeufer zahlt den Preis fuer die Ware bei der Uebergabe.", Language.GERMAN),
        (ENGLISH, Language.ENGLISH),
        (f"{ENGLISH} {ENGLISH} Anlage: Der Vertrag ist nicht kündbar.", Language.ENGLISH),
        (f"{GERMAN} {GERMAN} The Seller shall sign.", Language.GERMAN),
        ("Grundstück\tÜbergabe\tHöhe\n12\t13\t14", Language.GERMAN),
        ("L'acheteur paie le prix dans les dix jours suivant la livraison des marchandises.", Language.UNKNOWN),
        ("12.400,00 48.213 2026", Language.UNKNOWN),
        ("Gearbox KG-7 48,250.00 EUR Bearing LX-12", Language.UNKNOWN),
        ("Müller", Language.UNKNOWN),
        ("", Language.UNKNOWN),
    ],
)
def test_function_words_tell_the_language(text, language):
    assert language_of(text) is language


@given(st.text(max_size=200))
def test_any_text_has_one(text):
    assert language_of(text) in set(Language)
