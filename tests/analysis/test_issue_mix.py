"""The figure of instructions of other units among multiply-adds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders import case, load, measurement
from strata import figures
from strata.figures import issue_mix
from strata.run import Row


def mix(partner: str, size: int, cycles: float, *, valid: bool = True) -> dict[str, Any]:
    alone = 1.02 * size
    rows = [
        measurement("group_cycles", [alone + cycles], unit="cycle"),
        measurement("group_cycles", [alone + cycles], unit="cycle", method="event_slope"),
    ]
    if partner != "none":
        cost = measurement(
            "partner_cycles", [cycles, 1.02 * cycles, cycles], method="less_multiply_adds"
        )
        rows.append(cost | {"provenance": "modelled"})
    return case(
        rows,
        benchmark="issue_mix",
        params={"partner": partner, "multiply_adds": size},
        gates=[("timer", "passed" if valid else "failed", "two timers")],
    )


SOME = [
    mix("shuffle", 12, 2.7),
    mix("rsqrt", 12, 4),
    mix("rsqrt", 4, 4.5),
    mix("none", 12, 0),
    mix("integer_add", 48, 1.1, valid=False),
]


def rows(folder: Path, lines: list[dict[str, Any]]) -> tuple[Row, ...]:
    return load(folder, lines).rows


def test_partners_stand_in_the_order_of_the_legend_and_by_size(tmp_path: Path) -> None:
    items = issue_mix.prepare(rows(tmp_path, SOME))
    assert [(one.partner, one.size) for one in items] == [
        ("rsqrt", 4),
        ("rsqrt", 12),
        ("shuffle", 12),
        ("integer_add", 48),
    ]
    assert items[1].group is not None
    assert items[1].group.value == pytest.approx(16.24)


def test_invalid_costs_are_hollow_and_named(tmp_path: Path) -> None:
    items = issue_mix.prepare(rows(tmp_path, SOME))
    with figures.style():
        (panel,) = figures.render(issue_mix.FIGURE, items).axes
    (hollow,) = [line for line in panel.lines if line.get_label() == "_invalid"]
    assert list(np.atleast_1d(hollow.get_ydata())) == pytest.approx([1.1])
    words = issue_mix.caption(items)
    assert "Invalid, drawn hollow (1): issue_mix/cuda/multiply_adds=48" in words
    assert "The most is 4.5 cycles: reciprocal square root among 4 multiply-adds." in words


def test_cells_fit_their_columns_and_nothing_gives_nothing(tmp_path: Path) -> None:
    assert not issue_mix.prepare([])
    for item in issue_mix.prepare(rows(tmp_path, SOME)):
        assert len(issue_mix.FIGURE.cells(item)) == len(issue_mix.FIGURE.columns)
        assert issue_mix.FIGURE.cells(item)[-1] == issue_mix.FIGURE.source(item).case
