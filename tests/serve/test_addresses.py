"""Where the door may be opened."""

import socket
from types import SimpleNamespace
from typing import Any

import pytest

from knowledge_index.domain.errors import ConfigurationError, PreconditionError, UsageError
from knowledge_index.serve.http import Address, caller_of_request, parse_address, serve_http


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8765", Address("127.0.0.1", 8765)),
        ("127.8.0.3:1", Address("127.8.0.3", 1)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:80", Address("::1", 80)),
    ],
)
def test_loopback_is_let(text: str, address: Address) -> None:
    assert parse_address(text, allow_remote=False) == address


@pytest.mark.parametrize("text", ["0.0.0.0:80", "[::]:80", "192.168.1.5:80", "ki.example:80", "[::ffff:10.0.0.1]:80"])
def test_another_address_has_to_be_meant(text: str) -> None:
    with pytest.raises(UsageError, match="--allow-remote"):
        parse_address(text, allow_remote=False)
    assert not parse_address(text, allow_remote=True).is_loopback


@pytest.mark.parametrize(
    "text", ["", "8765", "127.0.0.1", "127.0.0.1:", ":80", "a:b", "::1:80", "h:99999", "h/x:80", "h:8 0"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        parse_address(text, allow_remote=True)


def _serve(address: Address, *host_names: str) -> None:
    unused: Any = None
    serve_http(unused, address, "audience", host_names, unused, unused)


def test_a_wildcard_needs_the_names_that_clients_use() -> None:
    with pytest.raises(UsageError, match="--host-name"):
        _serve(Address("0.0.0.0", 0))
    with pytest.raises(UsageError, match="--host-name"):
        _serve(Address("127.0.0.1", 0), "*:80")


def test_a_port_in_use_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PreconditionError, match="cannot be listened"):
        _serve(Address("127.0.0.1", taken.getsockname()[1]))


def test_no_request_without_a_checked_token_has_a_caller() -> None:
    for request in (None, SimpleNamespace(scope={}), SimpleNamespace(scope={"user": object()})):
        with pytest.raises(ConfigurationError):
            caller_of_request(request)
