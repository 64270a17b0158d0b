"""The figure of the halves of L2: marks, hollow marks, caption."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders import case, counts, measurement
from builders import count as counted
from builders import load2 as load_of_context
from charts import caption_of
from plots import hollow_of, plot_named, plotted
from strata.run import Run

FIGURE = plot_named("l2_partition")
SMS = 12


def split(
    *,
    far_noise: str = "passed",
    share_noise: str = "passed",
    fabric_noise: str = "passed",
    sms: int = SMS,
) -> list[dict[str, Any]]:
    """A run that found two sides; every third SM is on the smaller one."""
    near = [290.0 + place for place in range(sms)]
    crossing = [190.0 + place % 3 for place in range(sms)]
    far = [one + more for one, more in zip(near, crossing, strict=True)]
    share = [0.25 if place % 3 == 0 else 0.75 for place in range(sms)]
    how = "double_centred_split"
    line = case(
        [
            measurement("access_cycles", [380.0]),
            measurement("near_cycles", near, method=how),
            measurement("far_cycles", far, method=how, noise=far_noise),
            measurement("crossing_cycles", crossing, method=how),
            measurement("near_share", share, unit="1", method=how, noise=share_noise),
        ],
        benchmark="l2_partition",
    )
    fabric = counted("fabric_sectors_per_access", 0.5)
    fabric["noise"]["verdict"] = fabric_noise
    return [line, counts(line, [fabric])]


def load2(folder: Path, lines: Sequence[dict[str, Any]], sms: int = SMS) -> Run:
    """The run that `lines` make on a device of so many SMs."""
    return load_of_context(folder, lines, device__sm_count=sms)


def test_every_sm_is_a_point_near_and_far_and_of_a_side(tmp_path: Path) -> None:
    with plotted(FIGURE, load2(tmp_path, split())) as figure:
        each, sides = figure.axes
        near: Any
        far: Any
        near, far = (line.get_ydata() for line in each.lines if f"{line.get_label()}"[0] == "l")
        assert [*near] == [290 + place for place in range(SMS)]
        assert np.subtract(far, near).tolist() == [190 + place % 3 for place in range(SMS)]
        assert [*np.asarray(sides.lines[0].get_ydata())] == [
            25 if place % 3 == 0 else 75 for place in range(SMS)
        ]
        assert each.texts[-1].get_text() == "crossing: 191.0\u00a0cycles"


def test_what_is_invalid_is_hollow_named_and_compared_with_nothing(tmp_path: Path) -> None:
    run = load2(tmp_path, split(far_noise="failed"))
    with plotted(FIGURE, run) as figure:
        each, sides = figure.axes
        assert [y for _, y in hollow_of(each)] == [*FIGURE.data(run).far_cycles]
        assert not hollow_of(sides)
        assert not each.texts
    words = caption_of(FIGURE, run)
    assert "Invalid, drawn hollow (1): far_cycles (noise: half-width 0.1 %)." in words
    assert "Crossing costs" not in words


def test_the_caption_tells_loads_from_exchanges(tmp_path: Path) -> None:
    assert "A load" not in caption_of(FIGURE, load2(tmp_path / "before", split()))
    line, counted_line = split()
    line["measurements"] += [
        measurement(f"{side}_load_cycles", [cycles] * SMS, method="single_loads")
        for side, cycles in (("near", 284.0), ("far", 470.0))
    ]
    words = caption_of(FIGURE, load2(tmp_path / "now", [line, counted_line]))
    assert (
        "A load of a line without a copy in the other half takes 284.0 cycles near and 470.0 far"
        in words
    )


@pytest.mark.parametrize("far_noise", ["passed", "failed"])
def test_the_caption_tells_loads_from_memory_if_both_are_valid(
    tmp_path: Path, far_noise: str
) -> None:
    line, counted_line = split()
    line["measurements"] += [
        measurement("near_dram_cycles", [563.0] * SMS, method="single_loads"),
        measurement("far_dram_cycles", [750.0] * SMS, method="single_loads", noise=far_noise),
    ]
    words = caption_of(FIGURE, load2(tmp_path, [line, counted_line]))
    loads = "A load served by memory takes "
    both = f"{loads}563.0 cycles behind the SM's own side of L2 and 750.0 behind the other"
    assert (both in words) == (loads in words) == (far_noise == "passed")
    assert "A load of a line" not in words


def test_sides_of_an_invalid_row_are_hollow_and_not_counted(tmp_path: Path) -> None:
    run = load2(tmp_path, split(share_noise="failed"))
    with plotted(FIGURE, run) as figure:
        assert [len(hollow_of(ax)) for ax in figure.axes] == [0, SMS]
    words = caption_of(FIGURE, run)
    assert "near_share" in words
    assert "SMs are on the side" not in words


def test_caption_tells_cost_sides_and_the_witness(tmp_path: Path) -> None:
    words = caption_of(FIGURE, load2(tmp_path, split())).replace("\u00a0", " ")
    assert "Crossing costs 191.0 cycles (median), 190.0 to 192.0 by SM." in words
    assert "4 SMs are on the side with 25.00 % of the lines near them, 8 on the other." in words
    assert "Counted between the halves: 0.50 sectors per exchange" in words
    unsound = load2(tmp_path / "b", split(fabric_noise="failed"))
    assert "Counted between" not in caption_of(FIGURE, unsound)
