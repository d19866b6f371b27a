"""When a watched source is synced: after quiet, never too late, and by the clock."""

from knowledge_index.pipeline.watching import DueSources, WatchSettings


def due_at_start(*names: str) -> DueSources:
    due = DueSources(WatchSettings(debounce_s=2, full_scan_every_s=900))
    assert due.taken(names, 0) == (list(names), [])
    return due


def test_a_change_waits_for_quiet() -> None:
    due = due_at_start("a", "b")
    due.changed("a", 10)
    assert due.taken(["a", "b"], 11.9) == ([], [])
    due.changed("a", 11.9)
    assert due.taken(["a", "b"], 13.8) == ([], [])
    assert due.taken(["a", "b"], 13.9) == ([], ["a"])
    assert due.taken(["a", "b"], 20) == ([], [])


def test_one_who_saves_all_the_time_is_synced_after_ten_quiet_times() -> None:
    due = due_at_start("a")
    taken = []
    for second in range(100, 141):
        due.changed("a", second)
        if due.taken(["a"], second) == ([], ["a"]):
            taken.append(second)
    assert taken == [120]


def test_the_clock_brings_a_full_scan_which_covers_the_changes() -> None:
    due = due_at_start("a", "b")
    due.changed("a", 899.5)
    assert due.taken(["a", "b"], 899.9) == ([], [])
    assert due.taken(["a", "b"], 900) == (["a", "b"], [])
    assert due.taken(["a", "b"], 910) == ([], [])
    # A source that was added meanwhile is due at once.
    assert due.taken(["a", "b", "c"], 911) == (["c"], [])
