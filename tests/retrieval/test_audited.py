"""Searches and shows of people: in the log before they are answered, under the groups and walls of the moment."""

import ast
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import knowledge_index
from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.break_glass import open_wall
from knowledge_index.access.groups_file import load_groups_file, replace_groups
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.config import AppConfig
from knowledge_index.domain.errors import AuditLogError, NotVisibleError
from knowledge_index.domain.grants import Scope
from knowledge_index.domain.principals import Principal, parse_principals
from knowledge_index.domain.search import SearchFilters, SearchHit
from knowledge_index.retrieval import search_as, show_as
from small_firm import BARRED, CORPORATE, REAL_ESTATE, SUPPLY_FINAL, SmallFirm

QUERY = "price of a gearbox"
SOURCES = Path(knowledge_index.__file__).parent


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def indexed(firm: SmallFirm) -> SmallFirm:
    firm.sync_and_run()
    return firm


@pytest.fixture
def recorder(indexed: SmallFirm, clock: Clock) -> AccessRecorder:
    return AccessRecorder(AuditLog(indexed.home.audit_file), b"key", False, "tester", clock)


def search(firm: SmallFirm, recorder: AccessRecorder, caller: str, query: str = QUERY) -> tuple[SearchHit, ...]:
    with firm.retrieval() as service:
        timed = replace(service, clock=recorder.clock)
        settings = AppConfig().retrieval
        return search_as(timed, recorder, parse_principals(caller), query, settings, SearchFilters(), 5).hits


def set_groups(firm: SmallFirm, folder: Path, text: str) -> None:
    file = folder / "groups.json"
    file.write_text(text, encoding="utf-8")
    with firm.catalog() as catalog, catalog.transaction() as session:
        replace_groups(session, load_groups_file(file))


def test_a_search_and_a_show_are_in_the_log_with_what_they_returned(
    indexed: SmallFirm, recorder: AccessRecorder
) -> None:
    hits = search(indexed, recorder, CORPORATE)
    with indexed.catalog() as catalog:
        show_as(catalog, recorder, parse_principals(CORPORATE), hits[0].hit_id)
        with pytest.raises(NotVisibleError):
            show_as(catalog, recorder, parse_principals(REAL_ESTATE), hits[0].hit_id)
    searched, shown, refused = [each.event for each in recorder.log.entries()]
    assert (searched.action, searched.who) == (AuditAction.SEARCH, CORPORATE)
    assert searched.returned == tuple(hit.hit_id for hit in hits) != ()
    assert (shown.action, shown.returned, shown.scope) == (AuditAction.SHOW, (hits[0].hit_id,), searched.scope)
    assert (refused.returned, refused.who) == ((), REAL_ESTATE)
    assert b"gearbox" not in recorder.log.file.read_bytes()


def test_what_cannot_be_recorded_is_not_answered(indexed: SmallFirm, recorder: AccessRecorder) -> None:
    hit = search(indexed, recorder, CORPORATE)[0]
    recorder.log.file.unlink()
    recorder.log.file.mkdir()
    with pytest.raises(AuditLogError):
        search(indexed, recorder, CORPORATE)
    with indexed.catalog() as catalog:
        for hit_id in (hit.hit_id, "no such hit"):
            with pytest.raises(AuditLogError):
                show_as(catalog, recorder, parse_principals(CORPORATE), hit_id)


def test_groups_that_were_taken_away_end_with_the_next_query(
    indexed: SmallFirm, recorder: AccessRecorder, tmp_path: Path
) -> None:
    set_groups(indexed, tmp_path, f'{{"user:anna": ["group:team"], "group:team": ["{CORPORATE}"]}}')
    hit = search(indexed, recorder, "user:anna")[0]
    set_groups(indexed, tmp_path, f'{{"user:anna": ["{REAL_ESTATE}"], "group:team": ["{CORPORATE}"]}}')
    now_found = search(indexed, recorder, "user:anna")
    assert now_found == search(indexed, recorder, REAL_ESTATE) != ()
    with indexed.catalog() as catalog, pytest.raises(NotVisibleError):
        show_as(catalog, recorder, parse_principals("user:anna"), hit.hit_id)


def test_groups_that_are_taken_away_while_a_search_runs_end_with_it(
    indexed: SmallFirm, recorder: AccessRecorder, tmp_path: Path
) -> None:
    set_groups(indexed, tmp_path, f'{{"user:anna": ["{CORPORATE}"]}}')

    class Revoking:
        """Takes the group away between the ranking and the last look at the catalog."""

        def __init__(self, vectors: object) -> None:
            self.vectors = vectors

        def search(self, vector: object, scope: Scope, filters: SearchFilters, limit: int) -> object:
            found = self.vectors.search(vector, scope, filters, limit)  # type: ignore[attr-defined]
            set_groups(indexed, tmp_path, "{}")
            return found

    with indexed.retrieval() as service:
        revoking = replace(service, vectors=Revoking(service.vectors))  # type: ignore[arg-type]
        anna = parse_principals("user:anna")
        found = search_as(revoking, recorder, anna, QUERY, AppConfig().retrieval, SearchFilters(), 5)
    assert found.hits == ()


def test_a_wall_opened_by_break_glass_is_searched_until_its_time_is_over(
    indexed: SmallFirm, recorder: AccessRecorder, clock: Clock
) -> None:
    caller = f"{BARRED},{CORPORATE}"
    assert BARRED.startswith("user:")
    assert SUPPLY_FINAL not in {hit.path for hit in search(indexed, recorder, caller)}
    with indexed.catalog() as catalog:
        opened = open_wall(
            catalog,
            recorder,
            Principal.parse(BARRED),
            source=None,
            path=SUPPLY_FINAL,
            reason="court order",
            minutes=10,
            with_others=True,
        )
    assert SUPPLY_FINAL in {hit.path for hit in search(indexed, recorder, BARRED)}
    clock.now += timedelta(minutes=10)
    assert search(indexed, recorder, BARRED) == ()
    events = [each.event for each in recorder.log.entries()]
    told = [(each.action, each.openings, dict(each.details).get("event")) for each in events]
    assert told == [
        (AuditAction.SEARCH, (), None),
        (AuditAction.BREAK_GLASS, (), "opened"),
        (AuditAction.SEARCH, (opened.opening.id,), None),
        (AuditAction.BREAK_GLASS, (), "expired"),
        (AuditAction.SEARCH, (), None),
    ]


def test_nothing_that_answers_people_goes_round_the_log() -> None:
    """The unrecorded ways are known to retrieval/ itself and to the benchmark alone."""
    users = {
        file.relative_to(SOURCES).parts[0]
        for file in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr == "search" and _is_service(node.value))
        or (isinstance(node, ast.alias) and node.name in ("show_hit", "show_in_scope"))
    }
    assert users <= {"retrieval", "benchmark"}


def _is_service(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "service" in name
