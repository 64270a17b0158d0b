"""The page of a recorded default run: how large it is, and what its first screen answers."""

from __future__ import annotations

import csv
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import opened, resize
from strata.model.truth import load_run
from strata.report import page as report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
RUN = ROOT / "results/nvidia-h200/nvidia-h200-20261123T162625Z-f6fa469"
DESK, PHONE = (1280, 900), (400, 800)
LARGEST = 4_000_000
"""Bytes."""
TOP = 100
"""Pixels of the map that a phone shows at the least; it is wider and taller than that window."""

SEEN = """(() => {
  const inside = one => { const r = one.getBoundingClientRect();
    return r.width > 0 && 0 <= r.top && r.bottom <= innerHeight && 0 <= r.left && r.right <= innerWidth; };
  return [...document.querySelectorAll('#r1-summary .numbers > div, #r1-summary svg text')]
    .filter(inside).map(one => one.textContent);
})()"""  # noqa: E501
"""The texts of numbers and of the map that are on the screen as it opens."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the run, written once, by the first process of the tests that needs it."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    out = root / "page-recorded"
    with (root / "page-recorded.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            report.write([load_run(RUN)], out)
    return out


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page in a browser."""
    with opened(browser, folder / "report.html", *DESK) as page:
        yield page


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    """The lines of a data file of the report."""
    with (folder / f"data/{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def answers(folder: Path) -> dict[str, list[str]]:
    """What must be read to answer five questions, by the data files of the report."""
    shown = {(one["level"], one["number"]): one["shown"] for one in lines(folder, "hierarchy_map")}
    halves = [shown[level, "cycles"].partition("\u00a0")[0] for level in ("l2_near", "l2_far")]
    share = float(shown["dram", "share"].partition("\u00a0")[0])
    best = max(
        (one for one in lines(folder, "bandwidth_vs_warps")
         if (one["level"], one["fields"], one["valid"]) == ("dram", "all", "true")),
        key=lambda one: float(one["value"]),
    )  # fmt: skip
    return {
        "How large are the caches?": [shown[level, "size"] for level in ("l1", "l2")],
        "How long does a load take?": [shown[one, "time"] for one in ("l1", "l2", "dram")],
        "What does DRAM deliver?": [shown["dram", "bandwidth"], f"{share:.0f}\u00a0%"],
        "How far apart are the halves of L2?": halves,
        "Which layout is best?": [best["layout"]],
    }


@pytest.mark.slow
def test_the_page_is_small(folder: Path) -> None:
    assert (folder / "report.html").stat().st_size < LARGEST


@pytest.mark.browser
def test_its_first_screen_answers_five_questions(page: Page, folder: Path) -> None:
    for wide, high in (DESK, PHONE):
        resize(page, wide, high)
        seen = re.sub(r"\s+", " ", " | ".join(page.evaluate(SEEN)))
        for question, words in answers(folder).items():
            assert all(word.replace("\u00a0", " ") in seen for word in words), (wide, question)
        numbers = page.evaluate(
            "[...document.querySelectorAll('#r1-summary .numbers > div')]"
            ".map(one => one.getBoundingClientRect().bottom)"
        )
        assert len(numbers) == 10
        assert max(numbers) <= high
        top, bottom = page.evaluate(
            "(r => [r.top, r.bottom])"
            "(document.querySelector('#r1-figure-hierarchy_map svg').getBoundingClientRect())"
        )
        assert bottom <= high if wide > high else top <= high - TOP
    resize(page, *DESK)
    rows = page.evaluate("document.getElementById('r1-rows').getBoundingClientRect().top + scrollY")
    assert DESK[1] < rows <= 12 * DESK[1]
