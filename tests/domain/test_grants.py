from dataclasses import FrozenInstanceError

import pytest

from knowledge_index.domain.grants import Access, Grant, Scope
from knowledge_index.domain.principals import Principal, PrincipalKind

BOB = Principal(PrincipalKind.USER, "bob")


def test_access_is_allow_or_deny_and_nothing_else() -> None:
    assert {str(each) for each in Access} == {"allow", "deny"}
    for stated in ("ALLOW", "read", "", "true"):
        with pytest.raises(ValueError, match="not a valid Access"):
            Access(stated)


def test_grants_sort_by_principal_then_access() -> None:
    alice = Principal(PrincipalKind.USER, "alice")
    team = Principal(PrincipalKind.GROUP, "team")
    ordered = [
        Grant(team, Access.DENY),
        Grant(alice, Access.ALLOW),
        Grant(BOB, Access.ALLOW),
        Grant(BOB, Access.DENY),
    ]
    assert sorted(frozenset(ordered)) == ordered


def test_a_scope_cannot_be_widened_or_left_out() -> None:
    scope = Scope(frozenset({BOB}), frozenset(), 0)
    with pytest.raises(FrozenInstanceError):
        scope.acl_class_ids = frozenset({"x"})  # type: ignore[misc]
    with pytest.raises(TypeError):
        Scope(frozenset({BOB}))  # type: ignore[call-arg]


def test_a_scopes_digest_is_the_sha256_of_its_lines_and_changes_with_each_part() -> None:
    alice = Principal.parse("user:alice")
    # printf '7\nuser:alice\nuser:bob\naa\nbb' | sha256sum
    scope = Scope(frozenset({BOB, alice}), frozenset({"bb", "aa"}), 7)
    assert scope.digest == "b9f25162c1c14629f0bda60d0ddd6b2b35da7b82c5bd949c92912ed6d692815a"
    others = [
        Scope(frozenset({BOB, alice}), frozenset({"bb", "aa"}), 8),
        Scope(frozenset({BOB}), frozenset({"bb", "aa"}), 7),
        Scope(frozenset({BOB, alice}), frozenset({"aa"}), 7),
        Scope(frozenset({BOB, alice}), frozenset(), 7),
    ]
    assert len({scope.digest, *(other.digest for other in others)}) == 5
