"""Which scenarios a firm takes in, in which order, and where their documents lie."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge_index.benchmark.task_set import Scenario
from knowledge_index.domain.principals import Principal, PrincipalKind, canonical_name

_MATTERS_FOLDER = "Mandate"
_MATTER_YEAR = 2026
# Instrument and area together stay below the 255 bytes that file systems allow a name.
_MAX_TITLE_BYTES = 100
_ACRONYMS = frozenset({"api", "dpa", "ip", "it", "loi", "msa", "nda", "sha", "sla", "sow", "spa"})
_PLAIN_AREA = re.compile(r"[^\W_]+(?:[-/][^\W_]+)*")


@dataclass(frozen=True)
class PackedScenario:
    """A scenario in its place; ``paths`` are those of its documents, in their order, relative to ``mock_dms``."""

    scenario: Scenario
    matter_ref: str
    matter_title: str
    principal: Principal
    paths: tuple[str, ...]


def pack(scenarios: Sequence[Scenario], *, matters: int, docs_target: int, seed: int) -> list[PackedScenario]:
    """Take scenarios in until ``matters`` matters are full or the next scenario would pass ``docs_target`` documents.

    A matter is the scenarios of one instrument in one practice area, in the order of their ids; scenarios without
    documents are left out. The seed orders the areas and the matters of each area; matters are then taken from the
    areas in turn, so that a small firm too has several practice groups. A scenario is taken whole or not at all, and
    the first one that does not fit ends the packing.
    """
    by_matter: dict[tuple[str, str], list[Scenario]] = {}
    for scenario in sorted(scenarios, key=lambda each: each.scenario_id):
        if scenario.documents:
            by_matter.setdefault((scenario.area, scenario.instrument), []).append(scenario)
    titles = _matter_titles(by_matter)
    packed: list[PackedScenario] = []
    documents = 0
    for number, matter in enumerate(_in_turn(by_matter, seed)[:matters], start=1):
        matter_ref = f"M-{_MATTER_YEAR}-{number:04d}"
        for scenario in by_matter[matter]:
            documents += len(scenario.documents)
            if documents > docs_target:
                return packed
            folder = f"{_MATTERS_FOLDER}/{matter_ref} {titles[matter]}/{scenario.task_type}-{scenario.name}"
            packed.append(
                PackedScenario(
                    scenario=scenario,
                    matter_ref=matter_ref,
                    matter_title=titles[matter],
                    principal=practice_group_of(scenario.area),
                    paths=tuple(f"{folder}/{document.path}" for document in scenario.documents),
                )
            )
    return packed


def practice_group_of(area: str) -> Principal:
    """The group that sees a practice area's documents: ``contracts/ip`` gives ``group:contracts.ip``.

    Distinct areas give distinct groups: an area with more in its name than lower-case letters, digits, single hyphens
    and slashes loses it in the slug and gets a piece of its hash instead.
    """
    slug = ".".join(re.sub(r"[\W_]+", "-", part).strip("-") for part in canonical_name(area).split("/"))
    if area != canonical_name(area) or not _PLAIN_AREA.fullmatch(area):
        slug = f"{slug}-{hashlib.sha256(area.encode()).hexdigest()[:8]}"
    return Principal(PrincipalKind.GROUP, canonical_name(slug))


def _in_turn(matters: Iterable[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """The matters in packing order: the areas in seeded order, one matter of each in turn, those in seeded order too.

    Sorting by a hash of seed and name instead of shuffling keeps the order of the rest when a matter is added, and
    does not hang on how a version of Python shuffles.
    """
    by_area: dict[str, list[tuple[str, str]]] = {}
    for area, instrument in sorted(matters, key=lambda matter: (_seeded(seed, *matter), matter)):
        by_area.setdefault(area, []).append((area, instrument))
    turns = [
        (turn, _seeded(seed, area), matter) for area, of_area in by_area.items() for turn, matter in enumerate(of_area)
    ]
    return [matter for _, _, matter in sorted(turns)]


def _seeded(seed: int, *names: str) -> str:
    return hashlib.sha256("\0".join((str(seed), *names)).encode()).hexdigest()


def _matter_titles(matters: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A readable title for each matter, unique over all: the area joins in where two areas have one instrument."""
    ordered = sorted(matters)
    plain = [_humanised(instrument) for _, instrument in ordered]
    titles: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for (area, instrument), base in zip(ordered, plain, strict=True):
        title = base if plain.count(base) == 1 else f"{base} - {_humanised(area)}"
        unique, number = title, 2
        while canonical_name(unique) in taken:
            unique, number = f"{title} ({number})", number + 1
        taken.add(canonical_name(unique))
        titles[area, instrument] = unique
    return titles


def _humanised(name: str) -> str:
    words = re.sub(r"[-_/\s]+", " ", name).split()
    title = " ".join(word.upper() if word.casefold() in _ACRONYMS else word[:1].upper() + word[1:] for word in words)
    return title.encode()[:_MAX_TITLE_BYTES].decode(errors="ignore").strip(" .") or "Matter"
