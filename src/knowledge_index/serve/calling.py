"""Runs calls in threads: bounded in time, and in how many a caller may have under way."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from knowledge_index.domain.errors import KnowledgeIndexError

CALL_TIMEOUT_S = 30.0
CALLS_PER_CALLER = 8
# More would not be faster: a search is bound by its processor time and by the one audit log.
_THREADS = 4
Answer = TypeVar("Answer")


class CallRefusedError(KnowledgeIndexError):
    """A call was given up or not begun; the message is for the caller."""


class CallRunner:
    """Runs blocking calls for the event loop.

    A thread cannot be stopped: a call that was given up or cancelled goes on to its end, its answer is thrown away,
    and until then it counts among its caller's, so that nobody fills all threads by giving up. One that had not begun
    never does.
    """

    def __init__(self, *, timeout_s: float, threads: int, calls_per_caller: int) -> None:
        self._timeout_s = timeout_s
        self._calls_per_caller = calls_per_caller
        self._under_way: Counter[Hashable] = Counter()
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="call")

    async def run(self, caller: Hashable, work: Callable[[], Answer]) -> Answer:
        """What ``work`` returns or raises.

        Raises:
            CallRefusedError: the caller has too many calls under way, or the call took too long.
        """
        with self._lock:
            if self._under_way[caller] >= self._calls_per_caller:
                raise CallRefusedError(
                    f"{self._calls_per_caller} calls of this caller are under way; wait until one has ended"
                )
            self._under_way[caller] += 1
        future = self._executor.submit(work)
        future.add_done_callback(lambda done: self._ended(caller, done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._timeout_s)
        except TimeoutError:
            if future.done() and not future.cancelled():
                # It is the work's own.
                raise
            raise CallRefusedError(
                f"the call took longer than {self._timeout_s:g} seconds and was given up; ask for less"
            ) from None

    def close(self) -> None:
        """Drop the calls that have not begun."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _ended(self, caller: Hashable, _future: "Future[Answer]") -> None:
        with self._lock:
            self._under_way[caller] -= 1
            if not self._under_way[caller]:
                del self._under_way[caller]


def new_runner() -> CallRunner:
    """The runner of a server."""
    return CallRunner(timeout_s=CALL_TIMEOUT_S, threads=_THREADS, calls_per_caller=CALLS_PER_CALLER)
