"""Gold as JSON Lines: one query a line."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from knowledge_index.benchmark.gold_types import GoldGroup, GoldKind, GoldQuery
from knowledge_index.benchmark.manifest import first_fault, json_lines
from knowledge_index.domain.errors import InputError, PermissionMapError
from knowledge_index.domain.principals import Principal

_Text = Annotated[str, StringConstraints(pattern=r"\S")]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Group(_Record):
    paths: Annotated[tuple[_Text, ...], Field(min_length=1)]
    grade: Annotated[int, Field(ge=1)]


class _Line(_Record):
    gold_id: _Text
    kind: GoldKind
    query: _Text
    principal: _Text
    scenario_id: _Text
    matter_ref: _Text
    gold: Annotated[tuple[_Group, ...], Field(min_length=1)]


def gold_text(queries: Iterable[GoldQuery]) -> str:
    """The queries in their order, one JSON object a line."""
    return json_lines(
        {
            "gold_id": query.gold_id,
            "kind": query.kind.value,
            "query": query.query,
            "principal": str(query.principal),
            "scenario_id": query.scenario_id,
            "matter_ref": query.matter_ref,
            "gold": [{"paths": list(group.paths), "grade": group.grade} for group in query.groups],
        }
        for query in queries
    )


def parse_gold(content: bytes, file: Path) -> tuple[GoldQuery, ...]:
    """Read what :func:`gold_text` writes; ``file`` is named in errors.

    Raises:
        InputError: a line is malformed, a gold_id occurs twice, or there is no line.
    """
    queries: dict[str, GoldQuery] = {}
    for number, text in enumerate(content.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            query = _query_of(_Line.model_validate_json(text))
        except (ValidationError, PermissionMapError) as error:
            fault = first_fault(error) if isinstance(error, ValidationError) else str(error)
            raise InputError(f"{file}, line {number}, is not a line of gold: {fault}") from error
        if query.gold_id in queries:
            raise InputError(f"{file}, line {number}: the gold_id {query.gold_id} occurs twice")
        queries[query.gold_id] = query
    if not queries:
        raise InputError(f"{file} holds no gold")
    return tuple(queries.values())


def _query_of(line: _Line) -> GoldQuery:
    return GoldQuery(
        gold_id=line.gold_id,
        kind=line.kind,
        query=line.query,
        principal=Principal.parse(line.principal),
        scenario_id=line.scenario_id,
        matter_ref=line.matter_ref,
        groups=tuple(GoldGroup(group.paths, group.grade) for group in line.gold),
    )
