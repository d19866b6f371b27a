"""The clause types that are known: the shipped files and those of the firm.

TOML, since Python reads it itself and the firm's ``config.toml`` has the same form. A file is a list of ``[[clause]]``
tables. Of each type:

- ``id``, ``name_en``, ``name_de``;
- ``aliases_en``, ``aliases_de``: what the type is called, clear enough to recognise it anywhere; the two names count as
  aliases too, where ``weak_…`` does not list them;
- ``weak_en``, ``weak_de``: words that name it only where the query asks for little else ("term", "Haftung");
- ``asked_en``, ``asked_de``: how people ask for it without naming it, read only in questions;
- ``wordings_en``, ``wordings_de``: how such a clause sounds.

In aliases and the like ``...`` stands for up to ten other words, ``wort*`` for all words that begin so and ``*wort``
for all that end so.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from knowledge_index.config.home import Home
from knowledge_index.config.settings import RetrievalSettings
from knowledge_index.domain.errors import ConfigurationError
from knowledge_index.retrieval.clauses.phrases import GAP, Phrase

# What an embedding model reads with care, and as long as the windows that passages are cut into.
_MAX_WORDING_CHARS = 500
_SHIPPED_FOLDER = "data"


@dataclass(frozen=True)
class LanguageForms:
    """What one language calls a clause type, how it is asked for, and how it sounds."""

    aliases: tuple[str, ...]
    weak_aliases: tuple[str, ...]
    asked_as: tuple[str, ...]
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class ClauseType:
    """One kind of clause; ``source`` is the file that defines it."""

    id: str
    name_en: str
    name_de: str
    english: LanguageForms
    german: LanguageForms
    source: str


@dataclass(frozen=True)
class ClauseLibrary:
    """All clause types, sorted by id."""

    types: tuple[ClauseType, ...]


_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Wording = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_MAX_WORDING_CHARS)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*$")]
    name_en: _Text
    name_de: _Text
    aliases_en: list[_Text] = []
    aliases_de: list[_Text] = []
    weak_en: list[_Text] = []
    weak_de: list[_Text] = []
    asked_en: list[_Text] = []
    asked_de: list[_Text] = []
    wordings_en: list[_Wording] = []
    wordings_de: list[_Wording] = []


def load_clause_library(extra_files: Sequence[Path] = ()) -> ClauseLibrary:
    """The shipped clause types and those of ``extra_files``; a type of a later file replaces one of the same id.

    Raises:
        ConfigurationError: a file cannot be read, a type is malformed, or two types have an alias in common. The
            message names file, type and field.
    """
    own: dict[str, ClauseType] = {}
    for file in extra_files:
        try:
            content = file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"{file}: cannot be read as a clause file: {error}; correct retrieval.clause_files"
            ) from error
        own.update((each.id, each) for each in _read(str(file), content))
    shipped = [each for each in _shipped() if each.id not in own]
    if own:
        _refuse_shared_aliases([*shipped, *own.values()])
    return ClauseLibrary(tuple(sorted((*shipped, *own.values()), key=lambda each: each.id)))


def open_clause_library(home: Home, settings: RetrievalSettings) -> ClauseLibrary:
    """The library of an installation; errors as :func:`load_clause_library`."""
    return load_clause_library(tuple(home.folder / each for each in settings.clause_files))


def alias_phrases(clause: ClauseType) -> Iterator[tuple[str, str]]:
    """Each alias of a type with the field of its file that it stands in; names that are weak are left out."""
    weak = {each.casefold() for each in (*clause.english.weak_aliases, *clause.german.weak_aliases)}
    for name, forms, suffix in ((clause.name_en, clause.english, "en"), (clause.name_de, clause.german, "de")):
        for alias in dict.fromkeys((name, *forms.aliases)):
            if alias.casefold() not in weak:
                yield f"name_{suffix}" if alias == name else f"aliases_{suffix}", alias


@lru_cache(maxsize=1)
def _shipped() -> tuple[ClauseType, ...]:
    folder = resources.files(__package__) / _SHIPPED_FOLDER
    files = sorted((each for each in folder.iterdir() if each.name.endswith(".toml")), key=lambda each: each.name)
    return tuple(clause for file in files for clause in _read(file.name, file.read_text(encoding="utf-8")))


def _read(source: str, content: str) -> list[ClauseType]:
    try:
        table = tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{source}: cannot be read as TOML: {error}") from error
    entries = table.pop("clause", [])
    if table:
        raise ConfigurationError(
            f"{source}: '{next(iter(table))}' is unknown; a clause file has [[clause]] tables only"
        )
    if not isinstance(entries, list) or not entries:
        raise ConfigurationError(f"{source}: has no [[clause]] table")
    found: dict[str, ClauseType] = {}
    for number, raw in enumerate(entries, start=1):
        named = raw.get("id") if isinstance(raw, dict) else None
        where = f"{source}: clause type '{named}'" if named else f"{source}: clause type no. {number}"
        try:
            clause = _clause_type(source, _Entry.model_validate(raw))
        except ValidationError as error:
            detail = error.errors()[0]
            field = ".".join(str(part) for part in detail["loc"]) or "the table"
            raise ConfigurationError(f"{where}: {field}: {detail['msg']}") from error
        _check(where, clause)
        if clause.id in found:
            raise ConfigurationError(f"{where}: id: stands there twice")
        found[clause.id] = clause
    return list(found.values())


def _clause_type(source: str, entry: _Entry) -> ClauseType:
    def forms(aliases: list[str], weak: list[str], asked: list[str], wordings: list[str]) -> LanguageForms:
        return LanguageForms(tuple(aliases), tuple(weak), tuple(asked), tuple(wordings))

    return ClauseType(
        id=entry.id,
        name_en=entry.name_en,
        name_de=entry.name_de,
        english=forms(entry.aliases_en, entry.weak_en, entry.asked_en, entry.wordings_en),
        german=forms(entry.aliases_de, entry.weak_de, entry.asked_de, entry.wordings_de),
        source=source,
    )


def _check(where: str, clause: ClauseType) -> None:
    if not (clause.english.wordings or clause.german.wordings):
        raise ConfigurationError(f"{where}: wordings_en: neither this nor wordings_de has a model wording")
    for suffix, forms in (("en", clause.english), ("de", clause.german)):
        for field, phrases in (
            ("aliases", forms.aliases),
            ("weak", forms.weak_aliases),
            ("asked", forms.asked_as),
        ):
            for phrase in phrases:
                words = phrase.replace(GAP, " ")
                if not re.search(r"\w", words) or re.search(r"\*\w*\*|(?<!\w)\*(?!\w)|\w\*\w", words):
                    raise ConfigurationError(
                        f"{where}: {field}_{suffix}: '{phrase}' has no word, or a * that is not at one end of a word"
                    )


def _refuse_shared_aliases(types: Iterable[ClauseType]) -> None:
    """The types in the order in which a name is theirs: what comes later is to blame."""
    owners: dict[Phrase, ClauseType] = {}
    for clause in types:
        for field, alias in alias_phrases(clause):
            owner = owners.setdefault(Phrase.of(alias), clause)
            if owner is not clause:
                raise ConfigurationError(
                    f"{clause.source}: clause type '{clause.id}': {field}: '{alias}' is an alias of '{owner.id}' "
                    f"({owner.source}) too; one name can mean one type only"
                )
