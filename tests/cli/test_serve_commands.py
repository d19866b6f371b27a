"""ki mcp and ki tokens."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import Ki

from knowledge_index.domain.errors import PreconditionError


def test_a_token_is_printed_once_listed_and_revoked(ki: Ki, home: Path) -> None:
    made = ki("--home", home, "tokens", "create", "--for", "user:Anna", "--expires", "30d")
    token = made.out.strip()
    assert (made.code, token.count("_") >= 2) == (0, True)
    token_id = token.split("_")[1]
    (listed,) = ki("--home", home, "tokens", "list", "--json").json()
    assert (listed["id"], listed["principal"], listed["state"]) == (token_id, "user:anna", "valid")
    lasts = datetime.fromisoformat(listed["expires_at"]) - datetime.fromisoformat(listed["created_at"])
    assert lasts.days in (29, 30)
    shown = ki("--home", home, "tokens", "list")
    assert token.split("_", 2)[2] not in shown.out + str(listed)
    assert ki("--home", home, "tokens", "revoke", token_id).code == 0
    assert ki("--home", home, "tokens", "list", "--json").json()[0]["state"] == "revoked"
    assert ki("--home", home, "tokens", "revoke", token_id).code == 2


@pytest.mark.parametrize("expires", ["45m", "12h", (datetime.now(UTC) + timedelta(days=2)).date().isoformat()])
def test_ways_to_say_until_when(ki: Ki, home: Path, expires: str) -> None:
    made = ki("--home", home, "tokens", "create", "--for", "user:a", "--expires", expires, "--audience", "x", "--json")
    assert (made.json()["audience"], made.json()["revoked_at"]) == ("x", None)
    assert made.json()["token"].startswith("ki_")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--for", "user:a", "--expires", "soon"),
        ("--for", "user:a", "--expires", "0m"),
        ("--for", "user:a", "--expires", "400d"),
        ("--for", "user:a", "--expires", "²d"),
        ("--for", "group:a", "--expires", "1d"),
    ],
)
def test_no_token_is_made_of_what_is_not_meant(ki: Ki, home: Path, arguments: tuple[str, ...]) -> None:
    assert ki("--home", home, "tokens", "create", *arguments).code == 2
    assert ki("--home", home, "tokens", "list", "--json").json() == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--as user:NAME"),
        (("--as", "user:a", "--http", "127.0.0.1:1"), "not both"),
        (("--as", "user:a", "--allow-remote"), "go with --http"),
        (("--http", "0.0.0.0:8765"), "--allow-remote"),
        (("--http", "0.0.0.0:8765", "--allow-remote"), "--host-name"),
        (("--as", "anna"), "not a principal"),
    ],
)
def test_the_door_opens_only_as_it_is_meant(ki: Ki, indexed_home: Path, arguments: tuple[str, ...], told: str) -> None:
    outcome = ki("--home", indexed_home, "mcp", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err


def test_nothing_is_served_before_something_is_indexed(ki: Ki, home: Path) -> None:
    outcome = ki("--home", home, "mcp", "--as", "user:a")
    assert (outcome.code, outcome.out) == (PreconditionError.exit_code, "")
