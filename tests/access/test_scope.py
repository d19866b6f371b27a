import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge_index.access import acl_class_of, compile_scope, is_visible
from knowledge_index.catalog import Catalog, CatalogSession, open_catalog
from knowledge_index.catalog.records import ObjectState, ObservedObject
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal, PrincipalKind

AT = datetime(2026, 1, 1, tzinfo=UTC).isoformat()

# Few principals, so that callers and grants meet often; each in spellings that are one after canonicalising.
SPELLINGS = {
    "user:müller": ("user:müller", "USER:Mu\u0308ller", " user: M\u00dcLLER "),
    "group:weiß": ("group:weiß", "Group:WEISS", "group:weiss"),
    "group:corporate ma": ("group:corporate ma", "group:Corporate MA", "GROUP: corporate ma"),
    "role:weiß": ("role:weiß", "role:WEISS", "ROLE:Weiß"),
    "user:weiß": ("user:weiß", "user:Weiß ", "User:weiss"),
}
# A grant as a source states it, with the name of the principal that is meant.
StatedGrant = tuple[str, str, str]

stated_grants = st.sampled_from(sorted(SPELLINGS)).flatmap(
    lambda meant: st.tuples(st.just(meant), st.sampled_from(SPELLINGS[meant]), st.sampled_from(["allow", "deny"]))
)
stated_acls = st.lists(stated_grants, max_size=5)
callers = st.frozensets(st.sampled_from(sorted(SPELLINGS)), min_size=1)


def reference_is_visible(acl: Iterable[StatedGrant], caller: frozenset[str]) -> bool:
    """Set arithmetic over what was meant: the caller is among the allowed and not among the denied."""
    stated = list(acl)
    allowed = {meant for meant, _, access in stated if access == "allow"}
    denied = {meant for meant, _, access in stated if access == "deny"}
    return bool(allowed & caller) and not (denied & caller)


def grants_of(acl: Iterable[StatedGrant]) -> list[Grant]:
    return [Grant(Principal.parse(spelling), Access(access)) for _, spelling, access in acl]


def principals_of(caller: frozenset[str]) -> frozenset[Principal]:
    return frozenset(Principal.parse(name) for name in caller)


class RollBackError(Exception):
    """Ends a transaction."""


@contextmanager
def rolled_back(catalog: Catalog) -> Iterator[CatalogSession]:
    """A transaction that leaves no trace, so that one catalog serves many examples."""
    with suppress(RollBackError), catalog.transaction() as session:
        yield session
        raise RollBackError


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path_factory.mktemp("access") / "catalog.sqlite")
    with catalog.transaction() as session:
        session.sources.add("dms", "local_fs", "/nowhere", None)
    yield catalog
    catalog.close()


def add_object(session: CatalogSession, path: str, acl_class_id: str) -> int:
    source_id = session.sources.all()[0].id
    session.objects.add(source_id, ObservedObject(path, path, path, "0" * 64, 1, 1, 1, acl_class_id), AT)
    return next(each.id for each in session.objects.current(source_id) if each.path == path)


@given(stated_acls, callers)
def test_visibility_is_set_arithmetic_over_what_was_meant(acl: list[StatedGrant], caller: frozenset[str]) -> None:
    assert is_visible(acl_class_of(grants_of(acl)), principals_of(caller)) == reference_is_visible(acl, caller)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.lists(stated_acls, max_size=6), callers)
def test_a_scope_holds_exactly_the_classes_that_the_caller_may_see(
    catalog: Catalog, acls: list[list[StatedGrant]], caller: frozenset[str]
) -> None:
    expected = {acl_class_of(grants_of(acl)).id for acl in acls if reference_is_visible(acl, caller)}
    with rolled_back(catalog) as session:
        for number, acl in enumerate(acls):
            acl_class = acl_class_of(grants_of(acl))
            session.acl_classes.put(acl_class)
            add_object(session, f"{number}.txt", acl_class.id)
        scope = compile_scope(session, principals_of(caller))
        assert scope.acl_class_ids == expected
        assert scope.principals == principals_of(caller)


def test_only_classes_of_current_objects_are_in_a_scope(catalog: Catalog) -> None:
    alice = Principal.parse("user:alice")
    acl_class = acl_class_of([Grant(alice, Access.ALLOW)])
    with rolled_back(catalog) as session:
        session.acl_classes.put(acl_class)
        assert compile_scope(session, frozenset({alice})).acl_class_ids == frozenset()
        object_id = add_object(session, "a.txt", acl_class.id)
        assert compile_scope(session, frozenset({alice})).acl_class_ids == {acl_class.id}
        session.objects.end([object_id], ObjectState.TOMBSTONED, AT)
        assert compile_scope(session, frozenset({alice})).acl_class_ids == frozenset()


def test_nobody_sees_an_object_without_grants(catalog: Catalog) -> None:
    nobody = acl_class_of([])
    with rolled_back(catalog) as session:
        session.acl_classes.put(nobody)
        add_object(session, "a.txt", nobody.id)
        for kind in PrincipalKind:
            for name in ("admin", "*", "root", "everyone"):
                assert compile_scope(session, frozenset({Principal(kind, name)})).acl_class_ids == frozenset()


def test_a_caller_without_principals_sees_nothing(catalog: Catalog) -> None:
    acl_class = acl_class_of([Grant(Principal.parse("user:alice"), Access.ALLOW)])
    with rolled_back(catalog) as session:
        session.acl_classes.put(acl_class)
        add_object(session, "a.txt", acl_class.id)
        assert compile_scope(session, frozenset()).acl_class_ids == frozenset()


def test_no_role_skips_a_denial() -> None:
    admin = Principal.parse("role:administrator")
    team = Principal.parse("group:team")
    acl_class = acl_class_of([Grant(team, Access.ALLOW), Grant(admin, Access.ALLOW), Grant(team, Access.DENY)])
    assert is_visible(acl_class, frozenset({admin}))
    assert not is_visible(acl_class, frozenset({admin, team}))


def test_a_scope_carries_the_policy_epoch(catalog: Catalog) -> None:
    alice = frozenset({Principal.parse("user:alice")})
    with rolled_back(catalog) as session:
        before = compile_scope(session, alice).policy_epoch
        session.meta.raise_policy_epoch()
        assert compile_scope(session, alice).policy_epoch == before + 1


@given(stated_acls, st.randoms(use_true_random=False))
def test_a_class_id_ignores_order_repetition_and_spelling(acl: list[StatedGrant], random: object) -> None:
    respelt = [
        (meant, SPELLINGS[meant][-1 - SPELLINGS[meant].index(spelling)], access) for meant, spelling, access in acl
    ]
    shuffled = [*acl, *respelt]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert acl_class_of(grants_of(shuffled)) == acl_class_of(grants_of(acl))


@given(stated_acls, stated_acls)
def test_class_ids_are_equal_exactly_for_equal_grants(one: list[StatedGrant], other: list[StatedGrant]) -> None:
    same = {(meant, access) for meant, _, access in one} == {(meant, access) for meant, _, access in other}
    assert (acl_class_of(grants_of(one)).id == acl_class_of(grants_of(other)).id) is same


def test_a_class_id_is_the_sha256_of_the_canonical_json() -> None:
    # sha256sum of: [["group:a","deny"],["user:m\u00fcller","allow"]] with the umlaut as UTF-8
    grants = grants_of([("", f"user:{unicodedata.normalize('NFD', 'Müller')}", "allow"), ("", "group:A", "deny")])
    assert acl_class_of(grants).id == "9ca262896fb6e36862659185c9b2fb63fe1dbd3b3b9433f7dbfa6f82cd904333"
    # sha256sum of: []
    assert acl_class_of([]).id == "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(stated_acls)
def test_a_class_comes_back_from_the_catalog_as_it_was(catalog: Catalog, acl: list[StatedGrant]) -> None:
    acl_class = acl_class_of(grants_of(acl))
    with rolled_back(catalog) as session:
        session.acl_classes.put(acl_class)
        session.acl_classes.put(acl_class)
        add_object(session, "a.txt", acl_class.id)
        assert session.acl_classes.in_use() == [acl_class]
        assert session.acl_classes.grants_by_path() == {("dms", "a.txt"): acl_class.grants}
