from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from agents_firm import http_server, over_stdio, walled_firm
from anyio.from_thread import start_blocking_portal
from mcp import Client

from small_firm import CORPORATE, SmallFirm, write_estate


@dataclass
class Session:
    """A client's session, called without awaiting."""

    portal: Any
    client: Client

    def call(self, tool: str, **arguments: object) -> Any:
        return self.portal.call(self.client.call_tool, tool, arguments)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    """A small firm of this module's own, whose groups and files it may change."""
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("agents") / "firm")
    write_estate(firm)
    firm.sync_and_run()
    return firm


@pytest.fixture(scope="module")
def stdio(small: SmallFirm) -> Iterator[Session]:
    """A session of the corporate group over a process's standard streams."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(over_stdio(small, CORPORATE, "legacy")) as client,
    ):
        yield Session(portal, client)


@pytest.fixture(scope="session")
def walled(tmp_path_factory: pytest.TempPathFactory) -> SmallFirm:
    """A firm of sixteen people, each with a paper behind a wall."""
    return walled_firm(tmp_path_factory.mktemp("walls") / "firm", 16)


@pytest.fixture(scope="session")
def url(walled: SmallFirm) -> Iterator[str]:
    """The server of the walled firm over HTTP."""
    with http_server(walled) as address:
        yield address
