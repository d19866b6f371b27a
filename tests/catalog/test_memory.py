import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event

from knowledge_index.catalog import Catalog, open_catalog
from knowledge_index.catalog.memory import Memory

STEPS = (
    *("a reads", "a raises", "a raises and fails", "a raises and reads", "a reads, raises and reads"),
    *("a reads and fails behind a write", "a reads around b's write", "b raises", "b reads", "b raises and fails"),
)


class _Failure(Exception):
    pass


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.sqlite"


def epoch(catalog: Catalog) -> int:
    with catalog.transaction() as session:
        return session.meta.policy_epoch()


def raise_epoch(catalog: Catalog) -> None:
    with catalog.transaction() as session:
        session.meta.raise_policy_epoch()


@contextmanager
def statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


def take(step: str, a: Catalog, b: Catalog, held: int) -> int:
    """Do the step, hold what it reads against ``held``, and return what the file holds after it."""
    who = b if step.startswith("b") else a
    if step.endswith("reads around b's write"):
        with a.transaction() as session:
            assert session.meta.policy_epoch() == held
            raise_epoch(b)
            assert session.meta.policy_epoch() == held
        return held + 1
    if step.endswith(" reads") and "raises" not in step:
        assert epoch(who) == held
        return held
    raised = held
    with suppress(_Failure), who.transaction() as session:
        if "reads, raises" in step or "reads and fails" in step:
            assert session.meta.policy_epoch() == held
        session.meta.raise_policy_epoch()
        if step.endswith("reads") or "reads and fails" in step:
            assert session.meta.policy_epoch() == held + 1
        if "fails" in step:
            raise _Failure
        raised = held + 1
    return raised


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=12))
def test_what_is_remembered_is_what_the_transaction_sees(
    steps: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whoever writes, whether it is committed or rolled back, before, within or after the reading transaction."""
    file = tmp_path_factory.mktemp("memory") / "catalog.sqlite"
    a, b = open_catalog(file), open_catalog(file)
    held = 0
    for step in steps:
        held = take(step, a, b, held)
    assert (epoch(a), epoch(b)) == (held, held)
    a.close()
    b.close()


def test_what_is_known_is_not_read_again(file: Path) -> None:
    catalog = open_catalog(file)
    assert epoch(catalog) == 0
    with statements() as seen:
        assert epoch(catalog) == 0
    assert seen == ["BEGIN"]


def test_a_transaction_that_writes_first_reads_nothing_before(file: Path) -> None:
    """Else another writer's commit in between would make SQLite refuse the write."""
    a, b = open_catalog(file), open_catalog(file)
    epoch(a)
    with a.transaction() as session:
        raise_epoch(b)
        session.meta.raise_policy_epoch()
    assert epoch(a) == 2


def test_a_kind_that_grows_too_large_begins_anew() -> None:
    memory = Memory(sqlite3.connect(":memory:"))
    memory.begin()
    first = memory.facts("numbers", most=2)
    first.update({1: "one", 2: "two", 3: "three"})
    assert memory.facts("numbers", most=2) == {}
    assert first[3] == "three"


def test_the_kind_that_was_not_asked_for_longest_is_forgotten() -> None:
    memory = Memory(sqlite3.connect(":memory:"))
    memory.begin()
    memory.facts("old")["a fact"] = 1
    memory.facts("used")["a fact"] = 1
    for number in range(1000):
        memory.facts(number)["a fact"] = number
        assert memory.facts("used") == {"a fact": 1}
    assert memory.facts("old") == {}
