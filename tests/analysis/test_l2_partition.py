"""The figure of the halves of L2: marks, hollow marks, caption."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders import case, count, counts, load2, measurement
from charts import caption_of, data_of
from plots import hollow_of, plot_named, plotted, points_of
from strata.run import Run

FIGURE = plot_named("l2_partition")
SMS = 12


def split(folder: Path, more: Sequence[dict[str, Any]] = (), **noise: str) -> Run:
    """A run that found two sides; every third SM is on the smaller one."""
    near = [290.0 + sm for sm in range(SMS)]
    crossing = [190.0 + sm % 3 for sm in range(SMS)]
    far = [value + cost for value, cost in zip(near, crossing, strict=True)]
    samples = {
        "near_cycles": near,
        "far_cycles": far,
        "crossing_cycles": crossing,
        "near_share": [0.25 if sm % 3 == 0 else 0.75 for sm in range(SMS)],
    }
    rows = [
        measurement(name, taken, unit="1" if name == "near_share" else "cycle",
                    noise=noise.get(name, "passed"))
        for name, taken in samples.items()
    ]  # fmt: skip
    line = case([*rows, *more], benchmark="l2_partition")
    fabric = count("fabric_sectors_per_access", 0.5)
    fabric["noise"]["verdict"] = noise.get("fabric", "passed")
    return load2(folder, [line, counts(line, [fabric])], device__sm_count=SMS)


def words_of(run: Run) -> str:
    return caption_of(FIGURE, run).replace("\u00a0", " ")


def test_every_sm_is_a_point_near_and_far_and_of_a_side(tmp_path: Path) -> None:
    run = split(tmp_path)
    with plotted(FIGURE, run) as figure:
        each, sides = figure.axes
        near, far = (points_of(each.lines[place]) for place in (0, 3))
        assert near == [(sm, 290 + sm) for sm in range(SMS)]
        assert [y - x for (_, x), (_, y) in zip(near, far, strict=True)] == [190, 191, 192] * 4
        assert [y for _, y in points_of(sides.lines[0])] == [25, 75, 75] * 4
        assert each.texts[-1].get_text() == "crossing: 191.0\u00a0cycles"
    words = words_of(run)
    assert "Crossing costs 191.0 cycles (median), 190.0 to 192.0 by SM." in words
    assert "4 SMs are on the side with 25.00 % of the lines near them, 8 on the other." in words
    assert "Counted between the halves: 0.50 sectors per exchange" in words
    assert "A load" not in words
    assert [line["crossing_cycles"] for line in data_of(FIGURE, run)[:2]] == ["190.0", "191.0"]


def test_what_is_invalid_is_hollow_named_and_compared_with_nothing(tmp_path: Path) -> None:
    run = split(tmp_path, far_cycles="failed", fabric="failed")
    with plotted(FIGURE, run) as figure:
        each, sides = figure.axes
        assert [y for _, y in hollow_of(each)] == [*FIGURE.data(run).far_cycles]
        assert not hollow_of(sides)
        assert not each.texts
    words = words_of(run)
    assert "Invalid, drawn hollow (1): far_cycles (noise: half-width 0.1 %)." in words
    assert "Crossing costs" not in words
    assert "Counted between" not in words


def test_sides_of_an_invalid_row_are_hollow_and_not_counted(tmp_path: Path) -> None:
    run = split(tmp_path, near_share="failed")
    with plotted(FIGURE, run) as figure:
        assert [len(hollow_of(ax)) for ax in figure.axes] == [0, SMS]
    assert "near_share" in words_of(run)
    assert "SMs are on the side" not in words_of(run)


@pytest.mark.parametrize("noise", ["passed", "failed"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [("load", "copy in the other half takes 284.0 cycles near and 470.0 far"),
     ("dram", "by memory takes 284.0 cycles behind the SM's own side of L2 and 470.0 behind the")],
)  # fmt: skip
def test_the_caption_tells_loads_if_both_are_valid(
    tmp_path: Path, kind: str, words: str, noise: str
) -> None:
    loads = [
        measurement(f"near_{kind}_cycles", [284.0] * SMS),
        measurement(f"far_{kind}_cycles", [470.0] * SMS, noise=noise),
    ]
    told = words_of(split(tmp_path, loads))
    assert (words in told) == ("A load" in told) == (noise == "passed")
    assert told.count("A load ") <= 1
