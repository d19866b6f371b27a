"""A headless Chromium, driven over the pipe of its DevTools protocol: no driver, no library, no port."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BINARY = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
_TIMEOUT_S = 60.0
_READS, _WRITES = 3, 4


class Page:
    """One tab."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.requested: list[str] = []

    def open(self, address: str) -> None:
        """Open an address, and wait until it is loaded."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Network.enable")
        self._call("Page.enable")
        self._call("Page.navigate", url=address)
        self.evaluate(
            "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
        )

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, awaited where it is a promise."""
        found = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def choose_files(self, selector: str, *files: Path) -> None:
        """Choose files in a field, as a person does."""
        root = self._call("DOM.getDocument")["root"]["nodeId"]
        node = self._call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self._call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to_browser, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            answer = self._next(deadline)
            if answer.get("method") == "Network.requestWillBeSent":
                self.requested.append(answer["params"]["request"]["url"])
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from_browser], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._from_browser, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def headless_chromium(profile: Path) -> Iterator[Page]:
    """A page of a browser that lives as long as the block; its profile goes to ``profile``."""
    assert BINARY is not None
    browser_reads, we_write = os.pipe()
    we_read, browser_writes = os.pipe()
    # Out of the way of the two numbers that the browser expects.
    high = [fcntl.fcntl(each, fcntl.F_DUPFD, 20) for each in (browser_reads, browser_writes)]

    def give() -> None:
        for given, number in zip(high, (_READS, _WRITES), strict=True):
            os.dup2(given, number, inheritable=True)

    options = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    options += ["--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
    if os.geteuid() == 0:
        # Its sandbox refuses to start for root; the page is our own.
        options.append("--no-sandbox")
    browser = subprocess.Popen(
        [BINARY, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=give,
    )
    for each in (*high, browser_reads, browser_writes):
        os.close(each)
    try:
        yield Page(we_write, we_read)
    finally:
        browser.terminate()
        browser.wait(30)
        os.close(we_write)
        os.close(we_read)
