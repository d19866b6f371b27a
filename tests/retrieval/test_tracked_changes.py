"""Deleted wording and other states: found and shown within the caller's scope, never as what a text says now."""

from pathlib import Path

import pytest

from knowledge_index.access import compile_scope
from knowledge_index.domain.documents import ChangeKind, TextState
from knowledge_index.domain.errors import NotVisibleError, UsageError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from knowledge_index.retrieval import DeletedWording, search_deleted, show_changes, show_state
from ooxml_paper import redline
from small_firm import CORPORATE, PARTNER, REAL_ESTATE, SmallFirm

OPEN = "Mandate/M-1 Supply/Draft/supply-redline-v2.docx"
WALLED = "Mandate/M-2 Lease/Draft/lease-redline-v2.docx"


@pytest.fixture(scope="module")
def redlines(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("redlines") / "firm")
    firm.write(OPEN, redline("gearbox penalty clause", "gearbox delivery clause"), CORPORATE, PARTNER)
    firm.write(WALLED, redline("penalty for late payment of rent", "interest on rent"), REAL_ESTATE, PARTNER)
    firm.sync_and_run()
    return firm


def deleted(firm: SmallFirm, query: str, caller: str, limit: int = 10) -> tuple[DeletedWording, ...]:
    with firm.catalog() as catalog:
        with catalog.transaction() as session:
            scope = compile_scope(session, parse_principals(caller))
        return search_deleted(catalog, query, scope, SearchFilters(), limit)


def hit_of(firm: SmallFirm, query: str, caller: str) -> str:
    return next(each.hit_id for each in firm.search(query, caller))


def test_deleted_wording_is_found_with_who_deleted_it_and_when(redlines: SmallFirm) -> None:
    (found,) = deleted(redlines, "Penalties of the gearbox", CORPORATE)
    assert (found.path, found.text, found.kind) == (OPEN, "gearbox penalty clause", ChangeKind.DELETION)
    assert (found.author, found.date, found.share) == ("A. Muster", "2026-03-02T09:15:00Z", 1.0)


def test_deleted_wording_of_others_is_neither_found_nor_felt(redlines: SmallFirm) -> None:
    assert {each.path for each in deleted(redlines, "penalty rent", PARTNER)} == {OPEN, WALLED}
    assert [(each.path, each.share) for each in deleted(redlines, "penalty rent", CORPORATE)] == [(OPEN, 0.5)]
    assert deleted(redlines, "penalty", "user:nobody") == ()


def test_the_better_match_comes_first(redlines: SmallFirm) -> None:
    assert [each.path for each in deleted(redlines, "late penalty payment", PARTNER)] == [WALLED, OPEN]
    assert [each.path for each in deleted(redlines, "gearbox penalty", PARTNER, limit=1)] == [OPEN]


def test_deleted_wording_is_no_current_text_and_current_text_is_not_deleted(redlines: SmallFirm) -> None:
    assert all("penalty" not in hit.passage for hit in redlines.search("gearbox penalty clause", CORPORATE))
    assert deleted(redlines, "delivery", CORPORATE) == ()


@pytest.mark.parametrize(("query", "limit"), [("", 5), (" , ", 5), ("penalty", 0)])
def test_a_query_without_words_or_a_limit_of_none_is_refused(redlines: SmallFirm, query: str, limit: int) -> None:
    with pytest.raises(UsageError):
        deleted(redlines, query, PARTNER, limit)


def test_a_taken_away_grant_hides_deleted_wording_at_once(tmp_path: Path) -> None:
    firm = SmallFirm.in_folder(tmp_path / "firm")
    firm.write(OPEN, redline("old words", "new words"), CORPORATE)
    firm.sync_and_run()
    assert deleted(firm, "old", CORPORATE)
    firm.grant(OPEN, PARTNER)
    firm.sync()
    assert deleted(firm, "old", CORPORATE) == ()


def test_each_state_is_shown_around_the_hit_and_whole(redlines: SmallFirm) -> None:
    hit = hit_of(redlines, "gearbox delivery clause", CORPORATE)
    caller = parse_principals(CORPORATE)
    with redlines.catalog() as catalog:
        texts = {
            state: show_state(catalog, hit, caller, state, whole=whole).text
            for state, whole in ((TextState.CURRENT, True), (TextState.ORIGINAL, True), (TextState.MARKED, False))
        }
    assert "The gearbox delivery clause stands." in texts[TextState.CURRENT]
    assert "The gearbox penalty clause stands." in texts[TextState.ORIGINAL]
    assert "The [-gearbox penalty clause-][+gearbox delivery clause+] stands." in texts[TextState.MARKED]


def test_the_part_around_a_hit_ends_at_the_nearest_lines_that_did_not_change(redlines: SmallFirm) -> None:
    from knowledge_index.retrieval.states import _around

    current = "\n".join(["1. One", "2. New", "3. Three", "4. Four", "5. Five"])
    original = "\n".join(["1. One", "2. Three", "3. Old four", "4. Five"])
    start = current.index("4. Four")
    assert _around(current, original, start, start + 7) == "2. Three\n3. Old four\n4. Five"
    assert _around(current, original, 0, 3) == "1. One\n2. Three"


def test_changes_are_listed_for_whoever_may_see_the_paper(redlines: SmallFirm) -> None:
    hit = hit_of(redlines, "gearbox delivery clause", CORPORATE)
    with redlines.catalog() as catalog:
        shown = show_changes(catalog, hit, parse_principals(CORPORATE))
        assert [(each.kind, each.text) for each in shown.changes] == [
            (ChangeKind.DELETION, "gearbox penalty clause"),
            (ChangeKind.INSERTION, "gearbox delivery clause"),
        ]
        with pytest.raises(NotVisibleError):
            show_changes(catalog, hit, parse_principals(REAL_ESTATE))
        with pytest.raises(NotVisibleError):
            show_state(catalog, hit, parse_principals(REAL_ESTATE), TextState.MARKED, whole=True)
