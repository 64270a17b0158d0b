"""The figure of instructions of other units among multiply-adds."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import check_texts_of, hollow_of, labels_of, plot_named, plotted

FIGURE = plot_named("issue_mix")


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
    mix("integer_add", 48, 9.1, valid=False),
]


def test_partners_stand_in_the_order_of_the_legend_and_by_size(tmp_path: Path) -> None:
    run = load(tmp_path, SOME)
    data = data_of(FIGURE, run)
    assert [(line["partner"], line["multiply_adds"]) for line in data] == [
        ("rsqrt", "4"),
        ("rsqrt", "12"),
        ("shuffle", "12"),
        ("integer_add", "48"),
    ]
    assert float(data[1]["group_cycles"]) == pytest.approx(16.24)
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        assert labels_of(figure) == [
            "reciprocal square root", "shuffle", "add, int32", "its slot",
        ]  # fmt: skip
        assert [*figure.axes[0].get_xticks()] == [4, 12, 48]


def test_invalid_costs_are_hollow_and_named(tmp_path: Path) -> None:
    run = load(tmp_path, SOME)
    with plotted(FIGURE, run) as figure:
        assert hollow_of(figure.axes[0]) == [(48, 9.1)]
    words = caption_of(FIGURE, run)
    assert "Invalid, drawn hollow (1): micro/issue_mix/cuda/multiply_adds=48" in words
    assert "The maximum is 4.5 cycles: reciprocal square root among 4 multiply-adds." in words
