"""What kind of paper a document is, as its name and its opening words tell."""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath

from knowledge_index.domain.languages import folded_german


class DocumentType(StrEnum):
    """Kinds of paper that a law firm files; ``unknown`` where neither name nor opening says one."""

    EMAIL = "email"
    LETTER = "letter"
    MEMORANDUM = "memorandum"
    OPINION = "opinion"
    MINUTES = "minutes"
    RESOLUTION = "resolution"
    POWER_OF_ATTORNEY = "power-of-attorney"
    PLEADING = "pleading"
    DECISION = "decision"
    NOTICE = "notice"
    INVOICE = "invoice"
    ANNEX = "annex"
    AMENDMENT = "amendment"
    TERM_SHEET = "term-sheet"
    GENERAL_TERMS = "general-terms"
    ARTICLES = "articles"
    AGREEMENT = "agreement"
    GUIDELINE = "guideline"
    CHECKLIST = "checklist"
    REPORT = "report"
    UNKNOWN = "unknown"


TYPE_RULES_VERSION = "1"

# Words and groups of words, in lower case, without umlauts. A leading "-" stands for any beginning: German
# writes compounds together. What stands further up decides, since a paper about an agreement names it: "memo on the
# supply agreement" is a memorandum. Groups that only look like a type stand in the type that they are.
_VOCABULARY: tuple[tuple[DocumentType, str], ...] = (
    (
        DocumentType.TERM_SHEET,
        "term sheet, termsheet, heads of terms, letter of intent, loi, memorandum of understanding",
    ),
    (DocumentType.TERM_SHEET, "mou, absichtserklarung, eckpunktepapier, eckpunkte"),
    (DocumentType.AGREEMENT, "letter agreement, opinion agreement, deed of settlement, order form, briefvertrag"),
    (DocumentType.AMENDMENT, "side letter, sideletter"),
    (DocumentType.EMAIL, "email, e mail"),
    (DocumentType.LETTER, "cover letter, letter, anschreiben, schreiben, -schreiben"),
    (DocumentType.OPINION, "legal opinion, opinion, rechtsgutachten, gutachten, -gutachten, stellungnahme"),
    (DocumentType.MEMORANDUM, "memorandum, memo, file note, aktenvermerk, vermerk, aktennotiz, gesprachsnotiz"),
    (DocumentType.MINUTES, "minutes, protokoll, -protokoll, niederschrift"),
    (DocumentType.CHECKLIST, "checklist, check list, checkliste, -checkliste"),
    (DocumentType.GUIDELINE, "playbook, policy, guideline, guidelines, guidance, handbook, richtlinie, leitfaden"),
    (DocumentType.GUIDELINE, "-richtlinie, -leitfaden, merkblatt, handbuch"),
    (DocumentType.INVOICE, "invoice, fee note, rechnung, honorarrechnung, kostennote, gutschrift"),
    (DocumentType.REPORT, "report, due diligence report, bericht, -bericht"),
    (DocumentType.POWER_OF_ATTORNEY, "power of attorney, poa, proxy, vollmacht, -vollmacht"),
    (DocumentType.RESOLUTION, "resolution, resolutions, -beschluss, gesellschafterbeschluss, umlaufbeschluss"),
    (
        DocumentType.PLEADING,
        "statement of claim, statement of defence, statement of defense, complaint, pleading, motion",
    ),
    (
        DocumentType.PLEADING,
        "answer to complaint, reply brief, brief in support, skeleton argument, klage, klageschrift",
    ),
    (DocumentType.PLEADING, "klageerwiderung, klageantrag, schriftsatz, -schriftsatz, replik, duplik, -begrundung"),
    (
        DocumentType.PLEADING,
        "widerklage, klageerweiterung, antragsschrift, berufung, revision zum bgh, streitverkundung",
    ),
    (DocumentType.DECISION, "judgment, judgement, court order, arbitral award, final award, partial award, injunction"),
    (DocumentType.DECISION, "urteil, -urteil, beschluss, schiedsspruch, bescheid, -bescheid, einstweilige verfugung"),
    (
        DocumentType.NOTICE,
        "notice, termination notice, notice of termination, kundigung, -kundigung, mahnung, abmahnung",
    ),
    (DocumentType.NOTICE, "rucktrittserklarung, widerruf, fristsetzung"),
    (DocumentType.ANNEX, "annex, annexes, appendix, exhibit, schedule, attachment, anlage, anlagen, anhang"),
    (DocumentType.AMENDMENT, "amendment, amendments, addendum, supplemental agreement, amendment agreement, nachtrag"),
    (DocumentType.AMENDMENT, "-nachtrag, anderungsvereinbarung, anderungsvertrag, zusatzvereinbarung"),
    (DocumentType.AMENDMENT, "erganzungsvereinbarung"),
    (DocumentType.GENERAL_TERMS, "general terms, general terms and conditions, terms and conditions, terms of service"),
    (DocumentType.GENERAL_TERMS, "terms of use, agb, allgemeine geschaftsbedingungen, -bedingungen"),
    (DocumentType.ARTICLES, "articles of association, articles of incorporation, bylaws, by laws, satzung"),
    (DocumentType.ARTICLES, "gesellschaftsvertrag"),
    (
        DocumentType.AGREEMENT,
        "agreement, agreements, contract, lease, licence, license, deed, indenture, nda, msa, sla",
    ),
    (
        DocumentType.AGREEMENT,
        "spa, dpa, vertrag, -vertrag, vertrage, -vertrage, vereinbarung, -vereinbarung, -vergleich",
    ),
    (DocumentType.AGREEMENT, "vergleich, abrede, -abrede"),
)
_WORD = re.compile(r"[^\W\d_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
_SHORTEST_COMPOUND_BEGINNING = 2
_OPENING_CHARS = 600
_TITLE_LINES = 6
_TITLE_CHARS = 90
# "This Supply Agreement (the "Agreement") is made on …", "schließen die Parteien folgenden Mietvertrag:".
_SAYS_WHAT_IT_IS = re.compile(
    r"\b(?:this|dieser|diese|dieses|folgende[rns]?|nachstehende[rns]?)\s+"
    r"(?P<name>(?:[^\W\d_]+[\s-]+){0,5}?[^\W\d_]+)"
    r"\s*(?:\(|,|:|;|\.|\b(?:is|are|dated|made|entered|sets|by|between|wird|ist|regelt|zwischen|geschlossen)\b)",
    re.IGNORECASE,
)


def type_of_name(path: str) -> DocumentType:
    """The type that a file's name says; version marks, dates and numbers in it do not matter."""
    stem = unicodedata.normalize("NFC", PurePosixPath(path).stem)
    found = _type_of_words(tuple(_words(stem)))
    if found is DocumentType.UNKNOWN:
        # "SupplyAgreement" is two words, "LoI" and "ÄnderungsVereinbarung" are one.
        found = _type_of_words(tuple(_words(_CASE_CHANGE.sub(" ", stem))))
    return found


def type_of_opening(text: str) -> DocumentType:
    """The type that the title of a text says, or else its first sentence of itself ("This Agreement is made …").

    A title is a short line among the first six that have words; the first that says a type decides.
    """
    opening = text[:_OPENING_CHARS]
    lines = [line.strip() for line in opening.splitlines()]
    for line in [each for each in lines if _WORD.search(each)][:_TITLE_LINES]:
        is_title = len(line) <= _TITLE_CHARS and not line.endswith((".", ",", ";"))
        if is_title and (found := _type_of_words(tuple(_words(line)))) is not DocumentType.UNKNOWN:
            return found
    for sentence in _SAYS_WHAT_IT_IS.finditer(opening):
        found = _type_of_words(tuple(_words(sentence["name"])))
        if found is not DocumentType.UNKNOWN:
            return found
    return DocumentType.UNKNOWN


def document_type_of(path: str, opening_type: DocumentType, *, is_mail: bool) -> DocumentType:
    """A mail is a mail, whatever its subject; else the name decides, and where it is silent the opening."""
    if is_mail:
        return DocumentType.EMAIL
    named = type_of_name(path)
    return opening_type if named is DocumentType.UNKNOWN else named


def _type_of_words(words: tuple[str, ...]) -> DocumentType:
    for document_type, is_ending, phrase in _phrases():
        if is_ending:
            longer = len(phrase[0]) + _SHORTEST_COMPOUND_BEGINNING
            if any(each.endswith(phrase[0]) and len(each) >= longer for each in words):
                return document_type
        elif any(words[start : start + len(phrase)] == phrase for start in range(len(words) - len(phrase) + 1)):
            return document_type
    return DocumentType.UNKNOWN


@lru_cache(maxsize=1)
def _phrases() -> tuple[tuple[DocumentType, bool, tuple[str, ...]], ...]:
    """Each type's phrases in the order of the vocabulary, and whether one is the ending of a compound."""
    return tuple(
        (document_type, phrase.startswith("-"), tuple(_words(phrase)))
        for document_type, phrases in _VOCABULARY
        for phrase in phrases.split(", ")
    )


def _words(text: str) -> Iterator[str]:
    return (folded_german(each) for each in _WORD.findall(text))
