import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.errors import PermissionMapError
from knowledge_index.domain.principals import (
    Principal,
    PrincipalKind,
    canonical_name,
    format_principals,
    parse_principals,
)

MUELLER_COMPOSED = "M\u00fcller"
MUELLER_DECOMPOSED = "Mu\u0308ller"

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
# What can be written inside --as: printable, and no comma.
speakable = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters=","), min_size=1)


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("user:jdoe", PrincipalKind.USER, "jdoe"),
        ("group:Corporate-MA", PrincipalKind.GROUP, "corporate-ma"),
        ("role:partner", PrincipalKind.ROLE, "partner"),
        ("  User : JDoe  ", PrincipalKind.USER, "jdoe"),
        ("group:Corporate MA", PrincipalKind.GROUP, "corporate ma"),
        (f"user:{MUELLER_COMPOSED}", PrincipalKind.USER, "m\u00fcller"),
        (f"user:{MUELLER_DECOMPOSED}", PrincipalKind.USER, "m\u00fcller"),
        ("user:STRASSE", PrincipalKind.USER, "strasse"),
        ("user:Stra\u00dfe", PrincipalKind.USER, "strasse"),
        ("user:domain:jdoe", PrincipalKind.USER, "domain:jdoe"),
    ],
)
def test_a_principal_is_read_canonically(text: str, kind: PrincipalKind, name: str) -> None:
    assert Principal.parse(text) == Principal(kind, name)


@pytest.mark.parametrize(
    "text", ["", "jdoe", "user:", "user:   ", ":jdoe", "team:jdoe", "users:jdoe", "*", "all", "user", "group;x"]
)
def test_what_is_no_principal_is_refused_by_name(text: str) -> None:
    with pytest.raises(PermissionMapError) as refusal:
        Principal.parse(text)
    assert f"'{text}'" in str(refusal.value)
    assert "group:NAME" in str(refusal.value)


@pytest.mark.parametrize(
    "name", ["jd\u200boe", "jd\u00adoe", "j\x00doe", "j\ndoe", "\ufeffjdoe", "jdoe\ud800", "a\u00a0b"]
)
def test_a_name_with_an_invisible_character_is_refused(name: str) -> None:
    # A denial of such a name would look right and match nobody.
    with pytest.raises(PermissionMapError, match="invisible"):
        Principal.parse(f"user:{name}")


def test_a_name_with_a_comma_is_refused_since_no_caller_could_be_it() -> None:
    with pytest.raises(PermissionMapError, match="comma"):
        Principal.parse("group:Smith, Partners")


@given(names)
def test_canonical_names_are_stable(name: str) -> None:
    once = canonical_name(name)
    assert canonical_name(once) == once
    assert unicodedata.is_normalized("NFC", once)


@given(names)
def test_spellings_of_one_name_are_one(name: str) -> None:
    expected = canonical_name(name)
    for form in ("NFC", "NFD"):
        assert canonical_name(f"\t {unicodedata.normalize(form, name)} \n") == expected


def test_every_single_character_has_one_canonical_form_whatever_its_case() -> None:
    for code in [*range(0xD800), *range(0xE000, 0x30000)]:
        character = chr(code)
        expected = canonical_name(f"x{character}x")
        assert canonical_name(f"X{unicodedata.normalize('NFD', character)}X") == expected
        assert canonical_name(f"x{character.casefold()}x") == expected


@given(st.lists(st.tuples(st.sampled_from(PrincipalKind), speakable), min_size=1, max_size=5))
def test_formatting_and_parsing_are_inverse(spoken: list[tuple[PrincipalKind, str]]) -> None:
    principals = frozenset(Principal.parse(f"{kind}:{name}") for kind, name in spoken)
    text = format_principals(principals)
    assert parse_principals(text) == principals
    assert format_principals(sorted(principals, reverse=True)) == text


def test_a_list_of_principals_ignores_empty_entries_and_repetition() -> None:
    assert parse_principals(" user:a ,, GROUP:B,group:b,") == {
        Principal(PrincipalKind.USER, "a"),
        Principal(PrincipalKind.GROUP, "b"),
    }


@pytest.mark.parametrize("text", ["", " ", ",", " , "])
def test_an_empty_list_of_principals_is_refused(text: str) -> None:
    with pytest.raises(PermissionMapError, match="no principal given"):
        parse_principals(text)


def test_one_malformed_entry_refuses_the_whole_list() -> None:
    with pytest.raises(PermissionMapError, match="'bob'"):
        parse_principals("user:a,bob")
