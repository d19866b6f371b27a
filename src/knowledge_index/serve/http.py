"""Serves many callers over HTTP, each told by a bearer token."""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from knowledge_index.access.tokens import verify_token
from knowledge_index.catalog import Catalog
from knowledge_index.domain.errors import ConfigurationError, PreconditionError, UsageError
from knowledge_index.domain.principals import Principal
from knowledge_index.serve.calling import CallRunner, new_runner
from knowledge_index.serve.mcp_server import build_server
from knowledge_index.serve.tools import Caller, Toolbox

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

PATH = "/mcp"
MAX_REQUEST_BYTES = 64 * 1024
_MAX_SESSIONS = 1000
_MAX_CONNECTIONS = 2000
_SESSION_IDLE_S = 30 * 60.0
_GRACE_S = 5
# Longer than clients keep an idle connection: whoever closes first must not be the one that does not know of a request.
_KEEP_ALIVE_S = 75
_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^\s:\[\]/]+)):(?P<port>\d{1,5})")
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/*]+)(?::\d{1,5})?")


@dataclass(frozen=True)
class Address:
    """Where to listen; ``port`` 0 lets the system choose one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine reach it."""
        return self.host == "localhost" or (self._ip is not None and self._ip.is_loopback)

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for all addresses of this machine."""
        return self._ip is not None and self._ip.is_unspecified

    @property
    def written_host(self) -> str:
        """The host as a URL has it."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def _ip(self) -> "ipaddress.IPv4Address | ipaddress.IPv6Address | None":
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def parse_address(text: str, *, allow_remote: bool) -> Address:
    """Read ``HOST:PORT``; an IPv6 address stands in brackets.

    Raises:
        UsageError: it has another form, or other machines could reach it and ``allow_remote`` is false.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise UsageError(f"--http {text}: write HOST:PORT, for example 127.0.0.1:8765 or [::1]:8765")
    address = Address(match["six"] or match["host"], int(match["port"]))
    if not address.is_loopback and not allow_remote:
        raise UsageError(
            f"--http {text}: other machines could reach this address; use 127.0.0.1, or say --allow-remote if that is "
            "meant and TLS is ended in front of it"
        )
    return address


def serve_http(
    toolbox: Toolbox,
    address: Address,
    audience: str,
    host_names: Sequence[str],
    clock: Callable[[], datetime],
    on_listening: Callable[[str], None],
) -> None:
    """Answer callers at ``address`` until the process is told to end; ``on_listening`` is given the URL.

    A request needs a token of ``audience``, a Host that is the address or one of ``host_names``, and no Origin but one
    of these hosts.

    Raises:
        UsageError: a host name is malformed, or the address is a wildcard and none was given.
        PreconditionError: the address cannot be listened at.
    """
    malformed = [each for each in host_names if not _HOST.fullmatch(each)]
    if malformed:
        raise UsageError(f"--host-name {malformed[0]}: write a name as clients call it, with its port if there is one")
    if address.is_wildcard and not host_names:
        raise UsageError(
            f"{address.host} stands for every address of this machine; say by which names clients call it: "
            "--host-name ki.example:8765"
        )
    with closing(_listening(address)) as listener, closing(new_runner()) as runner:
        asyncio.run(_serve(toolbox, address, audience, host_names, clock, on_listening, listener, runner))


@dataclass(frozen=True)
class TokenVerifier:
    """Tells the protocol's library whose a token is; what is refused is refused without a reason."""

    catalog: Catalog
    audience: str
    clock: Callable[[], datetime]

    async def verify_token(self, token: str) -> "AccessToken | None":
        """Who a bearer token stands for, as of now, or None; a session is bound to the token that opened it."""
        from mcp.server.auth.provider import AccessToken

        record = await asyncio.to_thread(verify_token, self.catalog, token, self.audience, self.clock())
        if record is None:
            return None
        # The token itself goes no further than this.
        return AccessToken(token="", client_id=record.id, scopes=[], subject=str(record.principal))


def caller_of_request(request: Any) -> Caller:
    """The caller whose token this very request had; never what its session or its arguments say.

    Raises:
        ConfigurationError: no token was checked, which no request that was let in can be.
    """
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser

    user = None if request is None else request.scope.get("user")
    if not isinstance(user, AuthenticatedUser) or not user.access_token.subject:
        raise ConfigurationError("a request came in without a checked token")
    principal = Principal.parse(user.access_token.subject)
    return Caller(frozenset({principal}), (("door", "mcp http"), ("token", user.access_token.client_id)))


async def _serve(
    toolbox: Toolbox,
    address: Address,
    audience: str,
    host_names: Sequence[str],
    clock: Callable[[], datetime],
    on_listening: Callable[[str], None],
    listener: socket.socket,
    runner: CallRunner,
) -> None:
    import uvicorn
    from mcp.server.auth.settings import AuthSettings
    from mcp.server.transport_security import TransportSecuritySettings

    port = listener.getsockname()[1]
    url = f"http://{address.written_host}:{port}"
    own = _LOOPBACK_NAMES if address.is_loopback else (address.written_host,)
    hosts = [*(f"{name}:{port}" for name in own), *host_names]
    app = build_server(toolbox, runner, caller_of_request).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_REQUEST_BYTES,
        session_idle_timeout=_SESSION_IDLE_S,
        max_sessions=_MAX_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=hosts,
            allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
        ),
        # The library asks for an issuer; tokens are issued on the command line, so nothing is published of it.
        auth=AuthSettings.model_validate({"issuer_url": url, "resource_server_url": None}),
        token_verifier=TokenVerifier(toolbox.service.catalog, audience, clock),
    )
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        ws="none",
    )
    on_listening(url + PATH)
    await uvicorn.Server(config).serve(sockets=[listener])


def _listening(address: Address) -> socket.socket:
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((address.host, address.port), family=family, backlog=256)
    except OSError as error:
        raise PreconditionError(
            f"{address.written_host}:{address.port}: cannot be listened at: {error.strerror or error}; choose another "
            "port or address"
        ) from error
