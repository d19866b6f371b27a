"""What retrieval should find, derived from the packed files alone."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from knowledge_index.benchmark.criterion_values import ValueKind, fold, holds, values_in
from knowledge_index.benchmark.gold_types import GoldGroup, GoldKind, GoldQuery
from knowledge_index.benchmark.packing import PackedScenario
from knowledge_index.domain.principals import Principal
from knowledge_index.domain.versions import document_key_of

MAX_HOLDING_DOCUMENTS = 10
"""A value that more documents of its principal hold tells none of them apart."""


@dataclass(frozen=True)
class DerivedGold:
    """The queries, sorted by scenario, kind and folded query; ``value_kinds`` has one entry for each factoid."""

    queries: tuple[GoldQuery, ...]
    value_kinds: tuple[ValueKind, ...]


def derive_gold(packed: Sequence[PackedScenario], folded_texts: Mapping[str, str]) -> DerivedGold:
    """Derive the gold of a packed firm.

    ``folded_texts`` has the text of every readable document by its path, folded as :func:`criterion_values.fold` does;
    a document without an entry holds no value. A factoid's gold is every document that its principal may see and that
    holds the value, in the bundle or out of it, since that is what a search by that principal has to find. Values that
    several scenarios of one principal name become one query, under the first of those scenarios for which the value is
    discriminative.
    """
    ordered = sorted(packed, key=lambda each: each.scenario.scenario_id)
    visible: dict[Principal, list[str]] = {}
    for each in ordered:
        visible.setdefault(each.principal, []).extend(each.paths)
    queries: dict[str, GoldQuery] = {}
    value_kinds: list[ValueKind] = []
    for each in ordered:
        query = _working_set(each)
        queries[query.gold_id] = query
        criterion_ids = frozenset(criterion.id for criterion in each.scenario.criteria)
        for criterion in each.scenario.criteria:
            for text in (criterion.title, criterion.match_criteria):
                for value in values_in(text, criterion_ids):
                    folded = fold(value.text)
                    gold_id = _gold_id(GoldKind.FACTOID, str(each.principal), folded)
                    if gold_id in queries:
                        continue
                    holding = _discriminating(folded, each.paths, visible[each.principal], folded_texts)
                    if holding:
                        queries[gold_id] = _query(each, gold_id, GoldKind.FACTOID, value.text, holding)
                        value_kinds.append(value.kind)
    in_order = sorted(queries.values(), key=lambda query: (query.scenario_id, query.kind, fold(query.query)))
    return DerivedGold(tuple(in_order), tuple(value_kinds))


def _discriminating(
    folded_value: str, bundle: Sequence[str], visible: Sequence[str], folded_texts: Mapping[str, str]
) -> list[str]:
    """The visible documents that hold the value; none when the value tells none apart."""
    in_bundle = sum(holds(folded_texts.get(path, ""), folded_value) for path in bundle)
    if not 0 < in_bundle < len(bundle):
        return []
    holding: list[str] = []
    for path in visible:
        if holds(folded_texts.get(path, ""), folded_value):
            holding.append(path)
            if len(holding) > MAX_HOLDING_DOCUMENTS:
                return []
    return holding


def _working_set(packed: PackedScenario) -> GoldQuery:
    kind = GoldKind.INSTRUCTION_WORKING_SET
    gold_id = _gold_id(kind, packed.scenario.scenario_id)
    return _query(packed, gold_id, kind, packed.scenario.instructions, packed.paths)


def _query(packed: PackedScenario, gold_id: str, kind: GoldKind, query: str, paths: Iterable[str]) -> GoldQuery:
    return GoldQuery(
        gold_id=gold_id,
        kind=kind,
        query=query,
        principal=packed.principal,
        scenario_id=packed.scenario.scenario_id,
        matter_ref=packed.matter_ref,
        groups=_groups(paths),
    )


def _groups(paths: Iterable[str]) -> tuple[GoldGroup, ...]:
    """The paths by the paper they are versions of, sorted."""
    by_document: dict[str, list[str]] = {}
    for path in sorted(paths):
        by_document.setdefault(document_key_of(path), []).append(path)
    return tuple(GoldGroup(tuple(versions)) for _, versions in sorted(by_document.items()))


def _gold_id(kind: GoldKind, *parts: str) -> str:
    digest = hashlib.sha256("\0".join((kind.value, *parts)).encode()).hexdigest()[:16]
    return f"{'factoid' if kind is GoldKind.FACTOID else 'working-set'}-{digest}"
