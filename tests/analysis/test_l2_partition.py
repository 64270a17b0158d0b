"""The figure of the halves of L2: what is drawn, what is hollow, what is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from builders import case, counts, load2, measurement
from builders import count as counted
from strata import figures
from strata.figures import l2_partition
from strata.run import Row

FIGURE = l2_partition.FIGURE
SMS = 12


def split(
    *, far_noise: str = "passed", share_noise: str = "passed", sms: int = SMS
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
    return [line, counts(line, [counted("fabric_sectors_per_access", 0.5)])]


def rows_of(folder: Path, lines: list[dict[str, Any]]) -> tuple[Row, ...]:
    return load2(folder, lines).rows


def drawn(rows: tuple[Row, ...]) -> Any:
    with figures.style():
        canvas = figures.render(FIGURE, FIGURE.prepare(rows))
        canvas.draw_without_rendering()
    return canvas


def values(panel: Any, label: str) -> list[list[float]]:
    return [
        np.asarray(line.get_ydata()).tolist() for line in panel.lines if line.get_label() == label
    ]


def test_one_cache_is_no_figure(tmp_path: Path) -> None:
    whole = case([measurement("access_cycles", [270.0])], benchmark="l2_partition")
    assert not FIGURE.prepare(rows_of(tmp_path, [whole]))


def test_a_row_without_its_samples_is_no_figure(tmp_path: Path) -> None:
    run = load2(tmp_path, split())
    assert FIGURE.prepare(run.rows)
    assert not FIGURE.prepare([replace(row, taken=()) for row in run.rows])


def test_every_sm_is_a_point_near_and_far_and_of_a_side(tmp_path: Path) -> None:
    each, many, sides, nothing = drawn(rows_of(tmp_path, split())).axes
    near, far = values(each, "_valid")
    assert near == [290.0 + place for place in range(SMS)]
    assert np.subtract(far, near).tolist() == [190.0 + place % 3 for place in range(SMS)]
    assert values(sides, "_valid") == [[25.0 if place % 3 == 0 else 75.0 for place in range(SMS)]]
    assert sum(bar.get_width() for bar in many.patches) == 2 * SMS
    assert each.get_ylim() == many.get_ylim()
    assert not nothing.get_visible()
    assert [text.get_text() for text in each.texts if text.get_text()] == [
        "crossing: 191.0\u00a0cycles (median of the SMs)"
    ]


def test_what_is_invalid_is_hollow_named_and_compared_with_nothing(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, split(far_noise="failed"))
    each, *_ = drawn(rows).axes
    assert len(values(each, "_valid")) == len(values(each, "_invalid")) == 1
    (hollow,) = [line for line in each.lines if line.get_label() == "_invalid"]
    assert hollow.get_markerfacecolor() == "white"
    assert not [text for text in each.texts if text.get_text()]
    words = FIGURE.caption(FIGURE.prepare(rows))
    assert "Invalid, drawn hollow (1): far_cycles (noise: half-width 0.1 %)." in words
    assert "Crossing costs" not in words


def test_sides_of_an_invalid_row_are_hollow_and_not_counted(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, split(share_noise="failed"))
    sides = drawn(rows).axes[2]
    assert values(sides, "_valid") == []
    assert len(values(sides, "_invalid")) == 1
    words = FIGURE.caption(FIGURE.prepare(rows))
    assert "near_share" in words
    assert "SMs are on the side" not in words


def test_caption_tells_cost_sides_and_the_witness(tmp_path: Path) -> None:
    words = FIGURE.caption(FIGURE.prepare(rows_of(tmp_path, split()))).replace("\u00a0", " ")
    assert "Crossing costs 191.0 cycles in the median, 190.0 to 192.0 by SM." in words
    assert "4 SMs are on the side with 25.00 % of the lines near them, 8 on the other." in words
    assert "Counted between the halves: 0.50 sectors an exchange" in words


@pytest.mark.parametrize("sms", [4, 160])
def test_texts_lie_on_the_canvas(tmp_path: Path, sms: int) -> None:
    canvas = drawn(rows_of(tmp_path, split(sms=sms, share_noise="failed")))
    (legend,) = canvas.legends
    for extent in [legend.get_window_extent()] + [
        panel.get_tightbbox() for panel in canvas.axes if panel.get_visible()
    ]:
        assert canvas.bbox.x0 <= extent.x0 <= extent.x1 <= canvas.bbox.x1
        assert canvas.bbox.y0 <= extent.y0 <= extent.y1 <= canvas.bbox.y1


def test_data_have_a_line_for_each_sm(tmp_path: Path) -> None:
    cores = FIGURE.prepare(rows_of(tmp_path, split()))
    assert len(cores) == SMS
    for core in cores:
        assert len(FIGURE.cells(core)) == len(FIGURE.columns)
        assert FIGURE.cells(core)[-1] == FIGURE.source(core).case
