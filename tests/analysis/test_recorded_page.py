"""The page of a recorded default run: how large it is, and what its first screen answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from browsers import opened, resize
from strata.model.truth import load_run
from strata.report import page as report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RUN = Path(__file__).parents[2] / "results/nvidia-h200/nvidia-h200-20261123T162625Z-f6fa469"
DESK, PHONE = (1280, 900), (400, 800)
LARGEST = 4_000_000
"""Bytes."""

SEEN = """(() => {
  const inside = one => { const r = one.getBoundingClientRect();
    return r.width > 0 && 0 <= r.top && r.bottom <= innerHeight && r.right <= innerWidth; };
  return [...document.querySelectorAll('#r1-summary .numbers > div, #r1-summary svg text')]
    .filter(inside).map(one => one.textContent).join(' | ');
})()"""
"""The texts of numbers and of the map that are on the screen as it opens."""


def answers(folder: Path) -> dict[str, list[str]]:
    """What must be read to answer five questions, by the data files of the report."""
    levels = pd.read_csv(folder / "data/hierarchy_map.csv").set_index(["level", "number"])["shown"]
    rates = pd.read_csv(folder / "data/bandwidth_vs_warps.csv")
    rates = rates[(rates.level == "dram") & (rates.fields == "all") & rates.valid]
    share = levels["dram", "share"].partition("\u00a0")[0]
    return {
        "How large are the caches?": [levels[level, "size"] for level in ("l1", "l2")],
        "How long does a load take?": [levels[level, "time"] for level in ("l1", "l2", "dram")],
        "What does DRAM deliver?": [levels["dram", "bandwidth"], f"{share}\u00a0%"],
        "How far apart are the halves of L2?": [
            levels[half, "cycles"].partition("\u00a0")[0] for half in ("l2_near", "l2_far")
        ],
        "Which layout is best?": [rates.sort_values("value").layout.iloc[-1]],
    }


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_is_small_and_its_first_screen_answers_five_questions(
    browser: Browser, tmp_path: Path
) -> None:
    report.write([load_run(RUN)], tmp_path, ["svg"])
    assert (tmp_path / "report.html").stat().st_size < LARGEST
    with opened(browser, tmp_path / "report.html", *DESK) as page:
        for wide, high in (DESK, PHONE):
            resize(page, wide, high)
            seen = re.sub(r"\s+", " ", page.evaluate(SEEN))
            for question, words in answers(tmp_path).items():
                assert all(word.replace("\u00a0", " ") in seen for word in words), (wide, question)
            boxes = [one.bounding_box() for one in page.locator("#r1-summary .numbers > div").all()]
            assert len(boxes) == 10
            assert all(box and box["y"] + box["height"] <= high for box in boxes)
            top = page.locator("#r1-figure-hierarchy_map svg").bounding_box()
            assert top
            assert top["y"] <= high - 100 or wide == PHONE[0], "numbers fill the screen of a phone"
