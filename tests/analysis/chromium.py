"""A headless Chromium that tests drive: the DevTools protocol over a pipe, with nothing but Python.

The browser of the system serves, so nothing has to be fetched that has to fit it. It resolves no
name and has no profile; requests of a page are distinguished from those of the browser.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MISSING = (
    "no Chromium here; install it: apt-get install -y chromium, "
    "or STRATA_CHROMIUM=<a Chromium or Chrome>"
)

SECONDS = 300.0
"""The longest that any answer may take: only against hangs, for the machine may be busy."""


@cache
def executable() -> str | None:
    """The browser that STRATA_CHROMIUM names, or the first of `NAMES` on the PATH that runs.

    Ubuntu has one that only prints how to get it. tools/common.sh looks for the same.
    """
    named = os.environ.get("STRATA_CHROMIUM")
    for program in filter(None, map(shutil.which, (named, *NAMES) if named else NAMES)):
        if subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0:
            return program
    return None


class Chromium:
    """A running browser: commands out, answers and events in, over two pipes."""

    def __init__(self, program: str, profile: Path) -> None:
        # The browser reads commands from its descriptor 3 and writes to 4; ours stay clear of them.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (*os.pipe(), *os.pipe())]
        theirs_in, self._out, self._in, theirs_out = ends
        arguments = [
            program,
            "--headless",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "--no-sandbox",  # it refuses to start as root with one, and opens our own files only
            "--disable-dev-shm-usage",  # small in containers
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
        ]
        silent = os.open(os.devnull, os.O_RDWR)
        self._process = os.posix_spawn(
            program,
            arguments,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, silent, 1),
                (os.POSIX_SPAWN_DUP2, silent, 2),
                (os.POSIX_SPAWN_DUP2, theirs_in, 3),
                (os.POSIX_SPAWN_DUP2, theirs_out, 4),
            ],
            setpgroup=0,
        )
        for end in (silent, theirs_in, theirs_out):
            os.close(end)
        self._last = 0
        self._left = b""
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer; events that come before it are kept."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._out, rest) :]
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self._read(deadline, method)
            if answer.get("id") == self._last:
                break
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def wait(self, method: str, session: str) -> None:
        """Waits for an event of a page; it may have come already."""
        deadline = time.monotonic() + SECONDS
        seen = 0
        while True:
            for event in self.events[seen:]:
                if (event.get("method"), event.get("sessionId")) == (method, session):
                    return
            seen = len(self.events)
            self.events.append(self._read(deadline, method))

    def _read(self, deadline: float, wanted: str) -> dict[str, Any]:
        pieces = [self._left]
        while b"\0" not in pieces[-1]:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self._in, 1 << 20) if ready else None
            if not piece:
                why = "ended" if piece == b"" else f"is silent for {SECONDS:.0f} s"
                raise RuntimeError(f"the browser {why} while {wanted} was awaited")
            pieces.append(piece)
        line, _, self._left = b"".join(pieces).partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Ends the browser and all of its processes."""
        with suppress(RuntimeError, OSError):
            self.call("Browser.close")
        os.close(self._out)
        deadline = time.monotonic() + 5
        ended = 0
        while not ended and time.monotonic() < deadline:
            ended, _ = os.waitpid(self._process, os.WNOHANG)
            time.sleep(0.02)
        if not ended:
            os.killpg(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        os.close(self._in)


class Page:
    """One page of a browser: its requests, its complaints, the result of its script."""

    def __init__(self, browser: Chromium, address: str, *, width: int, height: int) -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._target, self._session = target, str(attached["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Page.navigate", url=address)
        browser.wait("Page.loadEventFired", self._session)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the protocol to this page."""
        return self._browser.call(method, self._session, **params)

    def events(self, method: str) -> list[Mapping[str, Any]]:
        """The parameters of all events of one kind, in their order."""
        return [
            event["params"]
            for event in self._browser.events
            if (event.get("method"), event.get("sessionId")) == (method, self._session)
        ]

    def run(self, script: str) -> Any:
        """The value of an expression, or of the promise that it gives."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            told = details.get("exception", {}).get("description", details["text"])
            raise RuntimeError(f"the page's script failed: {told}")
        return answer["result"].get("value")

    def resize(self, width: int, height: int) -> None:
        """The size of the window in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, kind: str = "screen", *, dark: bool = False) -> None:
        """Paper or screen, by day or by night."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key, down and up, to whatever has the focus."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **extra,
            )

    def click(self, x: float, y: float) -> None:
        """The left button at a point of the window, in CSS pixels."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, *, whole: bool = False) -> bytes:
        """The window, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])

    def troubles(self) -> list[str]:
        """Whatever reached the console, and every script that failed."""
        found = [
            f"console: {[value.get('value', value.get('description')) for value in e['args']]}"
            for e in self.events("Runtime.consoleAPICalled")
        ]
        found += [
            f"exception: {e['exceptionDetails']['text']}"
            for e in self.events("Runtime.exceptionThrown")
        ]
        return found + [f"log: {e['entry']['text']}" for e in self.events("Log.entryAdded")]

    def requests(self) -> list[str]:
        """Every address that the page requested, itself first, without data inside the page."""
        sent = [str(e["request"]["url"]) for e in self.events("Network.requestWillBeSent")]
        return [address for address in sent if not address.startswith("data:")]

    def close(self) -> None:
        """Closes the page; its events are kept."""
        self._browser.call("Target.closeTarget", targetId=self._target)


@contextmanager
def running() -> Iterator[Chromium]:
    """A browser with a profile that goes away with it. Raises RuntimeError where there is none."""
    program = executable()
    if program is None:
        raise RuntimeError(MISSING)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        try:
            yield browser
        finally:
            browser.close()
