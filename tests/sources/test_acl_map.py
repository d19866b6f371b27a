import json
import re
from pathlib import Path

import pytest

from knowledge_index.domain.errors import PermissionMapError
from knowledge_index.domain.grants import Access, Grant
from knowledge_index.domain.principals import Principal, PrincipalKind
from knowledge_index.sources.acl_map import load_acl_map

ENTRY = {"principal": "group:a", "access": "allow"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "acl-by-path.json"


def test_a_map_is_read_with_canonical_principals_and_nfc_paths(file: Path) -> None:
    stated = {
        "Mandate/U\u0308bernahme/a.docx": [
            {"principal": "Group: Corporate-MA", "access": "allow"},
            {"principal": "user:Mu\u0308ller", "access": "deny"},
        ],
        "Mandate/b.docx": [],
    }
    file.write_text(json.dumps(stated), encoding="utf-8")
    assert load_acl_map(file) == {
        "Mandate/\u00dcbernahme/a.docx": (
            Grant(Principal(PrincipalKind.GROUP, "corporate-ma"), Access.ALLOW),
            Grant(Principal(PrincipalKind.USER, "m\u00fcller"), Access.DENY),
        ),
        "Mandate/b.docx": (),
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_map_may_begin_with_a_byte_order_mark(file: Path, encoding: str) -> None:
    file.write_bytes(json.dumps({"ä.txt": [ENTRY]}, ensure_ascii=False).encode(encoding))
    assert list(load_acl_map(file)) == ["ä.txt"]


def test_an_empty_map_grants_nothing(file: Path) -> None:
    file.write_text("{}", encoding="utf-8")
    assert load_acl_map(file) == {}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "no valid ACL map"),
        ("{", "no valid ACL map"),
        ('{"a": []} x', "no valid ACL map"),
        ("[]", "the file"),
        ("null", "the file"),
        ('"a"', "the file"),
        ('{"a": {}}', "a"),
        ('{"a": "group:a"}', "a"),
        ('{"a": null}', "a"),
        ('{"a": ["group:a"]}', "a > 0"),
        ('{"a": [{"principal": "group:a"}]}', "a > 0 > access"),
        ('{"a": [{"access": "allow"}]}', "a > 0 > principal"),
        ('{"a": [{"principal": "group:a", "access": "read"}]}', "a > 0 > access"),
        ('{"a": [{"principal": "group:a", "access": "ALLOW"}]}', "a > 0 > access"),
        ('{"a": [{"principal": "group:a", "access": true}]}', "a > 0 > access"),
        ('{"a": [{"principal": "group:a", "access": "allow", "until": "2027"}]}', "a > 0 > until"),
        ('{"a": [{"principal": "everyone", "access": "allow"}]}', "a > 0 > principal"),
        ('{"a": [{"principal": "group:", "access": "allow"}]}', "a > 0 > principal"),
        ('{"a": [{"principal": 7, "access": "allow"}]}', "a > 0 > principal"),
        ('{"a": [{"principal": "user:\\ud800", "access": "deny"}]}', "a > 0 > principal"),
        ('{"b": [{"principal": "group:a", "access": "allow"}], "a": [{"principal": "x"}]}', "a > 0"),
    ],
)
def test_one_malformed_entry_refuses_the_whole_map(file: Path, content: str, named: str) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PermissionMapError, match="nothing of the map was applied") as error:
        load_acl_map(file)
    assert str(error.value).startswith(f"{file}: ")
    assert named in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        # The later of two equal keys would win silently, and with it the denial would be lost.
        '{"a": [{"principal": "group:a", "access": "deny"}], "a": []}',
        '{"a": [{"principal": "group:a", "access": "deny", "access": "allow"}]}',
    ],
)
def test_a_key_that_stands_twice_is_refused(file: Path, content: str) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PermissionMapError, match="listed twice"):
        load_acl_map(file)


def test_a_path_that_stands_in_two_unicode_forms_is_refused(file: Path) -> None:
    file.write_text(json.dumps({"\u00fc.txt": [], "u\u0308.txt": [ENTRY]}), encoding="utf-8")
    with pytest.raises(PermissionMapError, match="two Unicode forms"):
        load_acl_map(file)


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    file.write_bytes(b'{"\xff\xfe\xfd": []}')
    with pytest.raises(PermissionMapError, match="nothing of the map was applied"):
        load_acl_map(file)


def test_a_map_nested_beyond_measure_is_refused(file: Path) -> None:
    file.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(PermissionMapError, match="nothing of the map was applied"):
        load_acl_map(file)


def test_a_map_that_cannot_be_read_is_refused(file: Path) -> None:
    with pytest.raises(PermissionMapError, match=re.escape(str(file))):
        load_acl_map(file)
    file.mkdir()
    with pytest.raises(PermissionMapError, match="cannot be read"):
        load_acl_map(file)
