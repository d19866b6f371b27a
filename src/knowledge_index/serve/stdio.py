"""Serves one caller over this process's standard input and output."""

import asyncio
from contextlib import closing

from knowledge_index.serve.calling import CallRunner, new_runner
from knowledge_index.serve.mcp_server import build_server
from knowledge_index.serve.tools import Caller, Toolbox


def serve_stdio(toolbox: Toolbox, caller: Caller) -> None:
    """Answer ``caller`` until the input ends; nothing else may write to standard output meanwhile."""
    with closing(new_runner()) as runner:
        asyncio.run(_serve(toolbox, caller, runner))


async def _serve(toolbox: Toolbox, caller: Caller, runner: CallRunner) -> None:
    from mcp.server.stdio import stdio_server

    server = build_server(toolbox, runner, lambda _request: caller)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
