"""Calls are bounded in time and number, and what was given up leaves nothing behind."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from knowledge_index.serve.calling import CallRefusedError, CallRunner


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a blocked call waits for; opened at the end, or the process would not end."""
    event = threading.Event()
    yield event
    event.set()


def runner(timeout_s: float = 30, threads: int = 2, calls_per_caller: int = 8) -> CallRunner:
    return CallRunner(timeout_s=timeout_s, threads=threads, calls_per_caller=calls_per_caller)


def failing(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_a_call_returns_or_raises_what_its_work_does() -> None:
    with closing(runner()) as calls:
        assert asyncio.run(calls.run("a", lambda: 42)) == 42
        for error in (ValueError("x"), TimeoutError("its own")):
            with pytest.raises(type(error)) as raised:
                asyncio.run(calls.run("a", failing(error)))
            assert raised.value.args == error.args


def test_a_call_that_takes_too_long_is_given_up_and_counts_until_it_ends(gate: threading.Event) -> None:
    async def scene(calls: CallRunner) -> int:
        with pytest.raises(CallRefusedError, match="longer than"):
            await calls.run("a", gate.wait)
        with pytest.raises(CallRefusedError, match="under way"):
            await calls.run("a", lambda: 1)
        assert await calls.run("b", lambda: 2) == 2
        gate.set()
        for _ in range(200):
            try:
                return await calls.run("a", lambda: 3)
            except CallRefusedError:
                await asyncio.sleep(0.01)
        raise AssertionError("the call never ended")

    with closing(runner(timeout_s=0.05, calls_per_caller=1)) as calls:
        assert asyncio.run(scene(calls)) == 3


def test_a_call_cancelled_before_it_began_never_begins(gate: threading.Event) -> None:
    begun: list[str] = []

    async def scene(calls: CallRunner) -> None:
        blocking = asyncio.create_task(calls.run("a", gate.wait))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(calls.run("b", lambda: begun.append("b")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.set()
        await blocking
        # The place of the cancelled call is free again.
        await calls.run("b", lambda: begun.append("after"))

    with closing(runner(threads=1, calls_per_caller=1)) as calls:
        asyncio.run(scene(calls))
    assert begun == ["after"]
