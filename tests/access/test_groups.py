import json
from pathlib import Path

import pytest
from access_world import World
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.access import caller_notes, expand
from knowledge_index.access.groups_file import load_groups_file
from knowledge_index.domain.errors import PermissionMapError
from knowledge_index.domain.principals import Principal, canonical_name

ANNA = Principal.parse("user:anna")


def write(folder: Path, text: str) -> Path:
    file = folder / "groups.json"
    file.write_text(text, encoding="utf-8")
    return file


def acting(world: World, *stated: str) -> dict[str, list[str]]:
    found = expand(world.session, frozenset(map(Principal.parse, stated)))
    return {str(each): [str(link) for link in found[each].chain] for each in found}


@given(st.text(st.characters(codec="utf-8"), max_size=6))
def test_one_canonicaliser_for_all_kinds_of_principal(name: str) -> None:
    canonical = canonical_name(name)
    if canonical and canonical.isprintable() and "," not in canonical:
        for kind in ("user", "group", "role"):
            assert Principal.parse(f"{kind}:{name}").name == canonical
            assert Principal.parse(str(Principal.parse(f"{kind}:{name}"))) == Principal.parse(f"{kind}:{name}")


def test_a_file_is_read_in_canonical_form(tmp_path: Path) -> None:
    file = write(tmp_path, json.dumps({"USER:Anna ": ["Group:Weiß", "role:Partner"], "group:WEISS": []}))
    declared = {str(each.principal): sorted(map(str, each.member_of)) for each in load_groups_file(file).declarations}
    assert declared == {"user:anna": ["group:weiss", "role:partner"], "group:weiss": []}


@pytest.mark.parametrize("key", ["group:A", "GROUP: a", "group:a"])
def test_two_declarations_of_one_principal_agree_or_are_refused(tmp_path: Path, key: str) -> None:
    same = write(tmp_path, f'{{"group:a": ["group:x", "group:y"], "{key}": ["group:Y", "group:x"]}}')
    assert [str(each.principal) for each in load_groups_file(same).declarations] == ["group:a"]
    with pytest.raises(PermissionMapError, match="declared twice"):
        load_groups_file(write(tmp_path, f'{{"group:a": ["group:x"], "{key}": ["group:x", "group:y"]}}'))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"anna": []}',
        '{"user:anna": "group:a"}',
        '{"user:anna": {"group:a": []}}',
        '{"user:anna": ["group:"]}',
        '{"user:anna": [1]}',
        '{"user:anna": ["user:bela"]}',
        '{"role:partner": ["group:a"]}',
        '{"user:anna": ["group:a,group:b"]}',
        "[" * 100_000,
    ],
)
def test_a_malformed_file_is_refused_whole(tmp_path: Path, text: str) -> None:
    with pytest.raises(PermissionMapError, match="nothing of the file was applied"):
        load_groups_file(write(tmp_path, text))


def test_a_user_acts_under_all_groups_of_her_groups(world: World) -> None:
    chain = [f"group:g{number}" for number in range(30)]
    groups = {"user:anna": [chain[0]]} | {each: [chain[number + 1]] for number, each in enumerate(chain[:-1])}
    world.set_groups(groups | {chain[-1]: ["role:partner"]})
    found = acting(world, "user:anna")
    assert set(found) == {"user:anna", *chain, "role:partner"}
    assert found["role:partner"] == ["user:anna", *chain, "role:partner"]


def test_a_cycle_ends(world: World) -> None:
    world.set_groups({"user:anna": ["group:a"], "group:a": ["group:b"], "group:b": ["group:a", "group:b"]})
    assert set(acting(world, "user:anna")) == {"user:anna", "group:a", "group:b"}
    assert set(acting(world, "group:b")) == {"group:a", "group:b"}


def test_an_unknown_user_acts_for_herself_alone(world: World) -> None:
    world.set_groups({"user:bela": ["group:a"]})
    assert set(acting(world, "user:anna")) == {"user:anna"}


def test_each_replacement_is_whole_and_raises_the_epoch(world: World) -> None:
    first = world.set_groups({"user:anna": ["group:a"], "user:bela": ["group:b"]})
    second = world.set_groups({"user:bela": ["group:c"]})
    assert second == first + 1
    assert (set(acting(world, "user:anna")), set(acting(world, "user:bela"))) == (
        {"user:anna"},
        {"user:bela", "group:c"},
    )


def test_a_move_between_groups_holds_from_the_next_scope_on(world: World) -> None:
    world.grant("a.txt", [("group:deal", "allow")])
    world.set_groups({"user:anna": ["group:deal"]})
    before = world.scope("user:anna")
    assert world.visible("user:anna") == {"a.txt"}
    world.set_groups({"user:anna": []})
    assert world.visible("user:anna") == set()
    assert world.scope("user:anna").digest != before.digest


def test_a_denial_of_an_outer_group_wins_over_a_grant_to_the_user_herself(world: World) -> None:
    world.set_groups({"user:anna": ["group:team", "role:administrator"], "group:team": ["group:barred"]})
    for allowed in ("user:anna", "group:team", "role:administrator", "group:barred"):
        world.grant("a.txt", [(allowed, "allow"), ("group:barred", "deny")])
        assert world.visible("user:anna") == set()
    world.grant("a.txt", [("user:anna", "allow"), ("role:administrator", "deny")])
    assert world.visible("user:anna") == set()


@pytest.mark.parametrize(
    ("stated", "notes"),
    [
        (["user:anna"], []),
        (["user:anna", "group:a"], []),
        (["user:nobody"], ["user:nobody is in no groups file and acts for herself alone"]),
        (["group:a"], ["acting as a group, not as a person"]),
        (["role:partner"], ["acting as a role, not as a person"]),
        (["role:partner", "group:a"], ["acting as a group and a role, not as a person"]),
        (["user:anna", "group:c"], ["group:c: stated by the call, not known from the groups file"]),
    ],
)
def test_what_is_no_person_with_her_own_groups_is_labelled(world: World, stated: list[str], notes: list[str]) -> None:
    world.set_groups({"user:anna": ["group:b"], "group:b": ["group:a"]})
    assert list(caller_notes(world.session, frozenset(map(Principal.parse, stated)))) == notes


def test_more_members_than_a_statement_takes(world: World) -> None:
    groups = [f"group:g{number}" for number in range(1201)]
    world.set_groups({"user:anna": groups} | {each: [f"{each}-outer"] for each in groups})
    assert len(acting(world, "user:anna")) == 1 + 2 * 1201
    declared = {ANNA, *map(Principal.parse, groups)}
    assert world.session.principals.known({*declared, Principal.parse("group:other")}) == declared
