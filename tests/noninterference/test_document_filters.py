"""Filters by what documents are, over all legs: set arithmetic over what was written says what comes back."""

import random
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_worlds import MATTERS, WORDS, nothing_flushed, text_of_a_paper

from knowledge_index.access import compile_scope
from knowledge_index.catalog.passage_records import RowKind
from knowledge_index.config import RetrievalSettings
from knowledge_index.domain.document_types import DocumentType
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from knowledge_index.domain.versions import VersionStatus
from small_firm import SmallFirm

PRINCIPALS = ("user:a", "user:b", "group:c")
TYPE_WORDS = {"Memo": DocumentType.MEMORANDUM, "Vertrag": DocumentType.AGREEMENT, "Letter": DocumentType.LETTER}
STATUSES = {"draft": VersionStatus.DRAFT, "final": VersionStatus.FINAL, "executed": VersionStatus.EXECUTED}
DAYS = [date(2026, month, 15) for month in (1, 2, 3, 4)]
# Distinct words, so that no two papers are versions of one by name.
NAMES = ("Anker", "Boje", "Deich", "Ebbe", "Fluter", "Gatt", "Hafen", "Insel", "Jolle", "Kai", "Lotse", "Mole")


@dataclass(frozen=True)
class Written:
    """One version of one paper."""

    path: str
    paper: str
    document_type: DocumentType
    status: VersionStatus
    day: date
    grants: tuple[str, ...]


@dataclass(frozen=True)
class Estate:
    firm: SmallFirm
    papers: tuple[Written, ...]


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Estate:
    """Papers in up to three versions, of which some are copies of another to the letter, each with its own grants."""
    draw = random.Random(20260401)
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("filters") / "firm")
    papers = []
    with nothing_flushed():
        for name in NAMES:
            matter, type_word = draw.choice(MATTERS), draw.choice(sorted(TYPE_WORDS))
            text = text_of_a_paper(draw)
            for status in draw.sample(sorted(STATUSES), draw.randint(1, 3)):
                day = draw.choice(DAYS)
                path = f"{matter}/{type_word} {name}_{status}_{day.isoformat()}.txt"
                grants = tuple(draw.sample(PRINCIPALS, draw.randint(1, 3)))
                firm.write(path, text if draw.random() < 0.6 else text_of_a_paper(draw), *grants)
                papers.append(Written(path, name, TYPE_WORDS[type_word], STATUSES[status], day, grants))
        firm.sync_and_run()
    return Estate(firm, tuple(papers))


def fitting(papers: Collection[Written], caller: Collection[str], filters: SearchFilters) -> set[str]:
    seen = [each for each in papers if set(each.grants) & set(caller)]
    kept = [each for each in seen if not filters.version_statuses or each.status in filters.version_statuses]
    if filters.as_of is not None:
        known = [each for each in kept if each.day <= filters.as_of]
        binding = list(STATUSES.values())
        latest = {each.paper: each for each in sorted(known, key=lambda each: binding.index(each.status))}
        kept = list(latest.values())
    return {
        each.path
        for each in kept
        if (not filters.document_types or each.document_type in filters.document_types)
        and (filters.date_from is None or each.day >= filters.date_from)
        and (filters.date_to is None or each.day <= filters.date_to)
        and each.path.startswith(filters.path_prefix)
        and (not filters.matter_refs or each.path.split()[0] in filters.matter_refs)
    }


days = st.none() | st.sampled_from([*DAYS, date(2026, 2, 16), date(2025, 12, 31)])
filters_strategy = st.builds(
    lambda types, statuses, start, days_long, prefix, as_of, matters: SearchFilters(
        matter_refs=frozenset(matters),
        document_types=frozenset(types),
        version_statuses=frozenset(statuses),
        date_from=start,
        date_to=None if start is None or days_long is None else date.fromordinal(start.toordinal() + days_long),
        path_prefix=prefix,
        as_of=as_of,
    ),
    st.sets(st.sampled_from(list(TYPE_WORDS.values())), max_size=2),
    st.sets(st.sampled_from(list(STATUSES.values())), max_size=2),
    days,
    st.none() | st.integers(0, 60),
    st.sampled_from(["", "", *MATTERS, f"{MATTERS[0]}/Memo", "nowhere"]),
    days,
    st.sets(st.sampled_from([each.split()[0] for each in MATTERS]), max_size=1),
)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    filters=filters_strategy,
    caller=st.sets(st.sampled_from(PRINCIPALS), min_size=1),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    weights=st.sampled_from([(1, 0.5, 1, 0.3), (1, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 1), (0, 0, 1, 1)]),
    pool=st.sampled_from([1, 1000]),
    collapsed=st.booleans(),
)
def test_every_leg_finds_what_fits_and_nothing_else(
    estate: Estate, filters: SearchFilters, caller, words, weights, pool, collapsed
) -> None:
    lexical, semantic, identifier, document = weights
    retrieval = RetrievalSettings(
        weight_lexical=lexical,
        weight_semantic=semantic,
        weight_identifier=identifier,
        weight_document=document,
        candidate_pool=pool,
        collapse_per_document=collapsed,
    )
    with estate.firm.retrieval() as service:
        with service.catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(",".join(sorted(caller))))
        paths = {each.path for each in service.search(" ".join(words), scope, retrieval, filters, 1000).hits}
    expected = fitting(estate.papers, caller, filters)
    assert paths <= expected
    if semantic and pool == 1000 and not collapsed:
        # Every vector is near to some degree.
        assert paths == expected
    elif semantic:
        assert bool(paths) == bool(expected)


@pytest.mark.parametrize("rank", [500, pytest.param(5000, marks=pytest.mark.slow)])
def test_what_fits_is_found_below_thousands_that_do_not(tmp_path: Path, rank: int) -> None:
    firm = SmallFirm.in_folder(tmp_path / "firm")
    # Each long enough to be a passage of its own.
    nearer = [
        f"{number}. Gearbox\n" + f"The gearbox of crane {number} is a gearbox. " * 12 for number in range(1, rank + 1)
    ]
    with nothing_flushed():
        firm.write("m/Report.txt", "\n".join(nearer), "user:a")
        firm.write("m/Letter.txt", " ".join(["One gearbox among many other words of another kind."] * 20), "user:a")
        firm.sync_and_run()
    retrieval = {"candidate_pool": 10, "weight_identifier": 0.0, "weight_document": 0.0, "mentioned_first": False}
    with firm.retrieval() as service:
        with service.catalog.transaction() as session:
            scope = compile_scope(session, parse_principals("user:a"))
            assert len(session.passages.row_keys(RowKind.PASSAGE)) > rank
        for weights in ({"weight_semantic": 0.0}, {"weight_lexical": 0.0}):
            alone = RetrievalSettings.model_validate({**retrieval, **weights})
            unfiltered = service.search("gearbox", scope, alone, SearchFilters(), 10).hits
            assert {each.path for each in unfiltered} == {"m/Report.txt"}
            letters = SearchFilters(document_types=frozenset({DocumentType.LETTER}))
            assert [each.path for each in service.search("gearbox", scope, alone, letters, 10).hits] == ["m/Letter.txt"]
