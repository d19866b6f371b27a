"""Whether two files are versions of one paper: a function of these two alone, and precision before recall."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from knowledge_index.domain.versions import PairEvidence, document_key_of, version_name_of
from knowledge_index.pipeline.similarity import Shingles, overlap_of, shingles_of, words_of

# Another rule makes stored pairs out of date.
PAIRING_VERSION = "1"

# Chosen on real contracts: their drafts and executed copies overlap by 0.64 or more, other papers by 0.3 or less; what
# was made from one template overlaps like versions do, and is told apart by names.
_SAME_NAME_JACCARD = 0.5
_NO_NAME_JACCARD = 0.6
_OTHER_NAME_JACCARD = 0.8
_DATED_JACCARD = 0.8
# Page numbers and headers of a PDF, and what was still open in the file that it was made from.
_SAME_BUT_FOR_LAYOUT_JACCARD = 0.9
_SAME_BUT_FOR_MARKS_JACCARD = 0.98
# Two short letters share their phrases.
_FEWEST_SHINGLES = 40
_OPENING_WORDS = 250
_WORD = re.compile(r"\w+")
_NAME_PARTS = re.compile(r"[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+(?![a-zäöüß])|\d+")
_TEXT_SUFFIXES = frozenset({".docx", ".doc", ".docm", ".odt", ".rtf", ".pdf", ".txt", ".md", ".html", ".htm"})
_WORD_SUFFIXES = frozenset({".docx", ".doc", ".docm", ".odt", ".rtf"})
# Capitalised like names, and different from version to version: what a page, a date or a version mark says.
_NO_NAMES = frozenset(
    {
        *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
        *("december", "januar", "februar", "märz", "mai", "juni", "juli", "oktober", "dezember", "page", "seite"),
        *("draft", "entwurf", "redline", "final", "executed", "copy", "kopie", "version", "fassung", "stand", "dated"),
        *("ausfertigung", "endfassung", "execution", "signed", "comments", "confidential", "vertraulich", "exhibit"),
    }
)
# "[*]" is no open place but words withheld when a contract was published.
_PLACEHOLDER = re.compile(r"\[[^\]\n*]{0,60}\]|_{3,}|●|\.{4,}|\bxxx+\b", re.IGNORECASE)
# Names that a scanner, a mail program or a hurried person gives: they tell nothing of the paper.
_SAYING_NOTHING = frozenset(
    {
        *("doc", "docs", "document", "dokument", "file", "datei", "paper", "scan", "scanned", "img", "image", "bild"),
        *("untitled", "unbenannt", "new", "neu", "neues", "temp", "tmp", "print", "druck", "pdf", "docx", "docusign"),
        *("adobe", "sign", "page", "seite", "version", "fassung", "copy", "kopie", "final", "draft", "entwurf", "of"),
    }
)


@dataclass(frozen=True)
class VersionCandidate:
    """What is compared of one object: its path, its text, and the text with tracked changes rejected, if it has any."""

    path: str
    text: str
    original_text: str | None

    @cached_property
    def words(self) -> list[str]:
        """All words, casefolded."""
        return words_of(self.text)

    @cached_property
    def shingles(self) -> Shingles:
        """Of the text as it stands."""
        return shingles_of(self.words)

    @cached_property
    def original_shingles(self) -> Shingles | None:
        """Of the text with changes rejected."""
        return None if self.original_text is None else shingles_of(words_of(self.original_text))

    @cached_property
    def _word_counts(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def _words_as_written(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def _opening(self) -> str:
        words = [match.end() for match, _ in zip(_WORD.finditer(self.text), range(_OPENING_WORDS), strict=False)]
        return self.text[: words[-1]] if words else ""

    @cached_property
    def has_open_places(self) -> bool:
        """Whether the opening has places to be filled in: a form, of which many papers are made."""
        return _PLACEHOLDER.search(self._opening) is not None

    def own_names(self, other: "VersionCandidate") -> set[str]:
        """Names in the opening of this text that stand nowhere in the other: capitalised words, never in lower case."""
        words = {
            word for word in _WORD.findall(self._opening) if len(word) > 2 and word[0].isupper() and word.isalpha()
        }
        missing = {
            word for word in words if word.casefold() not in _NO_NAMES and word.casefold() not in other._word_counts
        }
        return {word.casefold() for word in missing if word.casefold() not in self._words_as_written}

    def own_numbers(self, other: "VersionCandidate") -> set[str]:
        """Numbers in the opening of this text that stand nowhere in the other."""
        return {word for word in _WORD.findall(self._opening) if word[0].isdigit() and word not in other._word_counts}

    def is_name_of_a_party(self, name: str) -> bool:
        """Whether a name comes back: a party is named in the opening and again where it signs."""
        return self._word_counts[name] > 1


def name_key_of(path: str) -> str:
    """The key that versions share whose names alone tell their paper; any other path has one of its own.

    Folder and family stem, and whether it is a written paper, a table or a mail: a mail that is named like the paper
    which it brings is no version of it.
    """
    name = version_name_of(path)
    if not name.names_its_paper or not _telling_words(name.family_stem):
        return f"{PurePosixPath(path).parent}//{PurePosixPath(path).name}"
    suffix = PurePosixPath(path).suffix.lower()
    kind = "" if suffix in _TEXT_SUFFIXES else suffix
    return f"{document_key_of(path)}{kind}"


def evidence_between(first: VersionCandidate, second: VersionCandidate) -> list[tuple[bool, PairEvidence, float]]:
    """What makes two objects of one paper folder versions of one paper; nothing where they are not, or names disagree.

    Each piece is (whether it goes from ``first`` to ``second``, what it is, the overlap it rests on).
    """
    if not (is_written_paper(first.path) and is_written_paper(second.path)):
        return []
    if min(len(first.shingles), len(second.shingles)) < _FEWEST_SHINGLES:
        return []
    bound_by_name = name_key_of(first.path) == name_key_of(second.path)
    jaccard = overlap_of(first.shingles, second.shingles).jaccard
    if not bound_by_name and not _may_be_one_paper(first, second, jaccard):
        return []
    if jaccard < _SAME_NAME_JACCARD:
        return []
    same = first.words == second.words
    found = [(True, PairEvidence.SAME_WORDING if same else PairEvidence.SIMILAR, jaccard)]
    for forward, later, earlier in ((True, first, second), (False, second, first)):
        if later.original_shingles is not None:
            original = overlap_of(later.original_shingles, earlier.shingles).jaccard
            if original >= _SAME_BUT_FOR_MARKS_JACCARD:
                found.append((forward, PairEvidence.REDLINE_OF, original))
        accepts = earlier.original_shingles is not None and later.original_shingles is None
        if accepts and jaccard >= _SAME_BUT_FOR_MARKS_JACCARD:
            found.append((forward, PairEvidence.ACCEPTED_FROM, jaccard))
        if _is_pdf(later) and _is_word(earlier) and jaccard >= _SAME_BUT_FOR_LAYOUT_JACCARD:
            found.append((forward, PairEvidence.PDF_OF, jaccard))
    return found


def _may_be_one_paper(first: VersionCandidate, second: VersionCandidate, jaccard: float) -> bool:
    one, other = version_name_of(first.path), version_name_of(second.path)
    if one.family_stem == other.family_stem:
        wanted = _SAME_NAME_JACCARD
    else:
        telling, other_telling = _telling_words(one.stem), _telling_words(other.stem)
        if telling and other_telling and telling != other_telling:
            if not (telling < other_telling or other_telling < telling):
                return False
            wanted = _OTHER_NAME_JACCARD
        else:
            wanted = _NO_NAME_JACCARD
    is_dated = one.is_dated or other.is_dated
    if jaccard < (max(wanted, _DATED_JACCARD) if is_dated else wanted):
        return False
    if is_dated and first.own_numbers(second) and second.own_numbers(first):
        return False
    return not _names_disagree(first, second)


def _names_disagree(first: VersionCandidate, second: VersionCandidate) -> bool:
    """Whether each is about somebody who has no part in the other, or one about somebody where the other is a form."""
    names_own, other_names_own = _names_its_own(first, second), _names_its_own(second, first)
    return (
        (names_own and other_names_own)
        or (names_own and second.has_open_places)
        or (other_names_own and first.has_open_places)
    )


def _names_its_own(each: VersionCandidate, other: VersionCandidate) -> bool:
    names = each.own_names(other)
    return len(names) > 1 or any(each.is_name_of_a_party(name) for name in names)


def _telling_words(stem: str) -> frozenset[str]:
    """The parts of a file name that may tell its paper from another: words and numbers, without what tells nothing."""
    telling: set[str] = set()
    for token in re.findall(r"[^\W_]+", stem):
        if not _is_hash(token):
            telling |= {part.casefold() for part in _NAME_PARTS.findall(token)} - _SAYING_NOTHING
    return frozenset(telling) if any(part.isalpha() for part in telling) else frozenset()


def _is_hash(token: str) -> bool:
    """Whether a part of a name was made by a machine: ``9f8a7c6b5d`` is, ``lease12`` and ``2024`` are not."""
    runs = len(re.findall(r"\d+|\D+", token))
    is_mixed = runs > 1
    return is_mixed and (runs > 4 or (len(token) > 7 and not set(token.casefold()) - set("0123456789abcdef")))


def is_written_paper(path: str) -> bool:
    """Whether the content of such a file is compared: tables and mails resemble each other without being versions."""
    return PurePosixPath(path).suffix.lower() in _TEXT_SUFFIXES


def _is_pdf(each: VersionCandidate) -> bool:
    return PurePosixPath(each.path).suffix.lower() == ".pdf"


def _is_word(each: VersionCandidate) -> bool:
    return PurePosixPath(each.path).suffix.lower() in _WORD_SUFFIXES
