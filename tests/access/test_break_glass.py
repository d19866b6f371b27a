import pytest
from access_world import World

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.audit_chain import AuditAction
from knowledge_index.access.break_glass import MAX_MINUTES, Opened, open_wall, record_expired, revoke_opening
from knowledge_index.access.explain import Explanation, Verdict, explain_access
from knowledge_index.domain.errors import AuditLogError, UsageError
from knowledge_index.domain.principals import Principal


@pytest.fixture
def walled(world: World) -> World:
    """Two files of one matter behind a denial of anna, one of another matter, one that nobody was granted."""
    for path in ("m1/a.txt", "m1/b.txt"):
        world.grant(path, [("group:firm", "allow"), ("user:anna", "deny")])
    world.grant("m2/c.txt", [("group:firm", "allow"), ("group:team", "deny")])
    world.grant("m3/d.txt", [])
    world.set_groups({"user:anna": ["group:firm", "group:team"], "user:bela": ["group:firm"], "group:team": []})
    return world


def open_for(world: World, principal: str = "user:anna", **changes: object) -> Opened:
    asked: dict[str, object] = {"source": None, "path": "m1", "reason": "court order", "minutes": 30}
    given = {**asked, "with_others": False, **changes}
    return open_wall(world.catalog, world.recorder, Principal.parse(principal), **given)  # type: ignore[arg-type]


def events(world: World) -> list[str]:
    return [dict(each.details)["event"] for each in world.log.events]


def explained(world: World, path: str, *stated: str) -> Explanation:
    (only,) = explain_access(world.session, path, None, frozenset(map(Principal.parse, stated)), world.now())
    return only


def test_one_wall_is_opened_for_one_person_over_a_denial(walled: World) -> None:
    before = walled.scope("user:anna")
    opened = open_for(walled)
    assert (opened.object_count, len(opened.opening.acl_class_ids)) == (2, 1)
    assert walled.visible("user:anna") == {"m1/a.txt", "m1/b.txt"}
    scope = walled.scope("user:anna")
    assert (scope.opening_ids, scope.policy_epoch) == ({opened.opening.id}, before.policy_epoch + 1)
    assert walled.visible("user:bela") == {"m1/a.txt", "m1/b.txt", "m2/c.txt"}
    assert walled.visible("user:other") == set()
    assert walled.visible("group:team") == set()


def test_it_is_over_to_the_minute_and_its_end_is_recorded_once(walled: World) -> None:
    open_for(walled)
    walled.minute = 29
    record_expired(walled.catalog, walled.recorder)
    assert (walled.visible("user:anna"), events(walled)) == ({"m1/a.txt", "m1/b.txt"}, ["opened"])
    walled.minute = 30
    assert walled.visible("user:anna") == set()
    before = walled.session.meta.policy_epoch()
    record_expired(walled.catalog, walled.recorder)
    record_expired(walled.catalog, walled.recorder)
    assert events(walled) == ["opened", "expired"]
    assert walled.session.meta.policy_epoch() == before + 1


def test_a_clock_that_was_set_back_opens_nothing(walled: World) -> None:
    open_for(walled)
    walled.minute = -1
    assert walled.visible("user:anna") == set()


def test_without_a_moment_no_wall_is_open(walled: World) -> None:
    from knowledge_index.access import compile_scope

    open_for(walled)
    assert compile_scope(walled.session, frozenset({Principal.parse("user:anna")})).acl_class_ids == frozenset()


def test_it_can_be_revoked_once(walled: World) -> None:
    number = open_for(walled).opening.id
    revoke_opening(walled.catalog, walled.recorder, number)
    assert walled.visible("user:anna") == set()
    walled.minute = 31
    record_expired(walled.catalog, walled.recorder)
    assert events(walled) == ["opened", "revoked"]
    for missing in (number, 999):
        with pytest.raises(UsageError, match="break-glass list"):
            revoke_opening(walled.catalog, walled.recorder, missing)


def test_the_log_has_the_reason_the_person_and_the_time(walled: World) -> None:
    open_for(walled, path="m2/c.txt", reason="  Rückfrage des Gerichts ")
    (event,) = walled.log.events
    assert event.action is AuditAction.BREAK_GLASS
    details = dict(event.details)
    assert {name: details[name] for name in ("principal", "source", "path", "reason", "opened_at", "expires_at")} == {
        "principal": "user:anna",
        "source": "dms",
        "path": "m2/c.txt",
        "reason": "Rückfrage des Gerichts",
        "opened_at": "2026-03-02T09:00:00.000000+00:00",
        "expires_at": "2026-03-02T09:30:00.000000+00:00",
    }


def test_what_shares_the_grants_is_opened_only_when_that_is_said(walled: World) -> None:
    with pytest.raises(UsageError, match=r"m1/b\.txt") as error:
        open_for(walled, path="m1/a.txt")
    assert "--with-others" in str(error.value)
    assert walled.log.events == []
    assert open_for(walled, path="m1/a.txt", with_others=True).object_count == 2


def test_an_object_whose_grants_change_leaves_the_wall_and_a_new_one_comes_in(walled: World) -> None:
    open_for(walled)
    walled.grant("m1/a.txt", [("group:firm", "allow"), ("user:anna", "deny"), ("user:bela", "deny")])
    walled.grant("m1/new.txt", [("user:anna", "deny"), ("group:firm", "allow")])
    assert walled.visible("user:anna") == {"m1/b.txt", "m1/new.txt"}


def test_a_path_ends_at_a_folder(walled: World) -> None:
    walled.grant("m10/e.txt", [("group:firm", "allow"), ("user:anna", "deny"), ("user:zoe", "deny")])
    assert open_for(walled, path="/m1/").object_count == 2
    assert open_for(walled, source="dms", path="").object_count == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"principal": "group:team"}, "one person"),
        ({"reason": "  "}, "--reason"),
        ({"minutes": 0}, "--minutes"),
        ({"minutes": MAX_MINUTES + 1}, "--minutes"),
        ({"path": ""}, "--path"),
        ({"path": "m"}, "'m'"),
        ({"source": "other"}, "source 'other'"),
    ],
)
def test_what_is_not_well_asked_for_opens_nothing(walled: World, changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_for(walled, **changes)  # type: ignore[arg-type]
    assert walled.session.wall_openings.all() == []
    assert walled.log.events == []


def test_what_cannot_be_recorded_is_not_opened(walled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    walled.log.file.mkdir()
    monkeypatch.setattr(type(walled.log), "append", AuditLog.append)
    with pytest.raises(AuditLogError, match="cannot be written"):
        open_for(walled)


def test_it_is_explained_which_grant_decides_and_through_which_groups(walled: World) -> None:
    walled.set_groups({"user:anna": ["group:team"], "group:team": ["group:practice"], "group:practice": ["group:firm"]})
    denied = explained(walled, "m2/c.txt", "user:anna")
    assert (denied.verdict, denied.is_visible) == (Verdict.DENIED, False)
    assert [[str(each) for each in one.chain] for one in denied.deciding] == [["user:anna", "group:team"]]
    assert [[str(each) for each in one.chain] for one in denied.overruled] == [
        ["user:anna", "group:team", "group:practice", "group:firm"]
    ]
    allowed = explained(walled, "m1/a.txt", "group:practice")
    assert (allowed.verdict, allowed.is_visible) == (Verdict.ALLOWED, True)
    assert explained(walled, "m1/a.txt", "user:zoe").verdict is Verdict.NOT_NAMED
    assert explained(walled, "m3/d.txt", "user:anna").verdict is Verdict.NO_GRANTS
    assert explained(walled, "m9/none.txt", "user:anna").verdict is Verdict.UNKNOWN_PATH
    number = open_for(walled).opening.id
    opened = explained(walled, "m1/a.txt", "user:anna")
    assert (opened.verdict, opened.is_visible) == (Verdict.OPENED, True)
    assert ([each.id for each in opened.openings], opened.deciding) == ([number], ())
    assert {str(each.grant.access) for each in opened.overruled} == {"deny", "allow"}


def test_an_explanation_says_what_a_scope_does(walled: World) -> None:
    open_for(walled)
    for caller in (["user:anna"], ["user:bela"], ["group:firm"], ["group:firm", "group:team"], ["user:zoe"]):
        told = {
            path
            for path in ("m1/a.txt", "m1/b.txt", "m2/c.txt", "m3/d.txt")
            if explained(walled, path, *caller).is_visible
        }
        assert told == walled.visible(*caller)
