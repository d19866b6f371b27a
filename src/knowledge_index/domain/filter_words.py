"""Filters as people and programs write them."""

from collections.abc import Collection
from datetime import date
from enum import StrEnum
from typing import TypeVar

from knowledge_index.domain.document_dates import parsed_day
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.errors import UsageError
from knowledge_index.domain.languages import Language
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus

_Member = TypeVar("_Member", bound=StrEnum)


def parsed_filters(
    *,
    matters: Collection[str] = (),
    document_types: Collection[str] = (),
    version_statuses: Collection[str] = (),
    languages: Collection[str] = (),
    date_from: str | None = None,
    date_to: str | None = None,
    path_prefix: str | None = None,
    as_of: str | None = None,
) -> SearchFilters:
    """The filters that these words ask for; days as :func:`parsed_day` takes them.

    Raises:
        UsageError: a word is none of those known, which the message lists, or a day is no date.
    """
    return SearchFilters(
        matter_refs=frozenset(matters),
        document_types=_members("type", DocumentType, document_types),
        version_statuses=_members("version status", VersionStatus, version_statuses),
        languages=_members("language", Language, languages),
        date_from=_day("from", date_from),
        date_to=_day("to", date_to),
        path_prefix=path_prefix or "",
        as_of=_day("as of", as_of),
    )


def _members(what: str, members: type[_Member], words: Collection[str]) -> frozenset[_Member]:
    found = set()
    for word in words:
        try:
            found.add(members(word.strip().lower()))
        except ValueError:
            known = ", ".join(sorted(members))
            raise UsageError(f"there is no {what} {word!r}; the known ones are {known}") from None
    return frozenset(found)


def _day(what: str, text: str | None) -> date | None:
    return None if text is None else parsed_day(text, what)
