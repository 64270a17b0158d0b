"""Pages in a headless Chromium, driven by Playwright.

It drives the system's browser, so no other is downloaded. The browser resolves no name.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
AUDIT = Path(__file__).with_name("page_audit.js").read_text(encoding="utf-8")
MILLISECONDS = 300_000.0
"""Longest wait for the browser: only against hangs, because the machine may be busy."""


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


def missing() -> str:
    """What browser tests lack here, with its fix; blank for nothing."""
    if executable() is None:
        return (
            "no Chromium here; install it: apt-get install -y chromium, "
            "or STRATA_CHROMIUM=<a Chromium or Chrome>"
        )
    return "" if find_spec("playwright") else "no Playwright here; install it: tools/setup.sh all"


@contextmanager
def running() -> Iterator["Browser"]:
    """A browser with a profile of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        offline = ["--host-resolver-rules=MAP * ~NOTFOUND"]
        browser = playwright.chromium.launch(
            executable_path=executable(), args=offline, timeout=MILLISECONDS
        )
        yield browser
        browser.close()


def open_page(
    browser: "Browser", address: str, width: int = 1024, height: int = 900
) -> tuple["Page", list[str], list[str]]:
    """A page with the functions of page_audit.js; then its requests and its errors, which grow."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(MILLISECONDS)
    requests, errors = list[str](), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(f"{error}"))
    page.goto(address)
    page.evaluate(AUDIT)
    return page, requests, errors


@contextmanager
def opened(
    browser: "Browser", file: Path, width: int = 1024, height: int = 900
) -> Iterator["Page"]:
    """A page that must request no other file and print nothing to its console."""
    page, requests, errors = open_page(browser, file.as_uri(), width, height)
    yield page
    assert errors == []
    requests = [one for one in requests if not one.startswith("data:")]
    assert {one.partition("#")[0] for one in requests} == {file.as_uri()}
    page.close()


def resize(page: "Page", width: int, height: int) -> None:
    """Sets the size of the window in CSS pixels."""
    page.set_viewport_size({"width": width, "height": height})


def dark_or_light(page: "Page", *, dark: bool) -> None:
    """Shows the page on a screen in one of the two colour schemes."""
    page.emulate_media(media="screen", color_scheme="dark" if dark else "light")
