"""The seed's roofline: kernels at their additions, roofs of arithmetic and of DRAM, the paper's."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from builders import case, load2, measurement
from charts import caption_of, data_of
from plots import check_texts_of, plot_named, plotted, points_of, texts_of
from strata import reference
from strata.figures.vandenbraak_roofline import PUBLISHED
from strata.run import Run
from test_published_figures import ADDITIONS

FIGURE = plot_named("vandenbraak_roofline")
MIB = 2**20
BYTES = 3 * 128 * MIB
"""Of three matrices."""
Line = dict[str, Any]


def timed(quantity: str, value: float, unit: str, noise: str = "passed") -> Line:
    samples = [0.99 * value, value, 1.01 * value]
    return measurement(quantity, samples, unit=unit, method="event_slope", noise=noise)


def additions(invalid: tuple[int, str, int] | None = None, backend: str = "cuda") -> list[Line]:
    return [
        case(
            [timed("useful_bandwidth", BYTES / seconds, "B/s",
                   "failed" if (element, order, group) == invalid else "passed")],
            benchmark="short_words", backend=backend,
            params={"element": element, "order": order, "group": group, "access": "together"},
        )
        for (element, order, group), seconds in ADDITIONS.items()
    ]  # fmt: skip


def roofs() -> list[Line]:
    cost = [measurement("operation_cycles", [4.0]), timed("operation_rate", 8e12, "1/s")]
    read = {"level": "dram", "operation": "read", "width": 16}
    near = {"level": "dram", "pattern": "strided", "stride": 1, "width": 8}
    sector = measurement("sector", [32.0], unit="B", method="change_point")
    return [
        case(cost, benchmark="instruction_cost",
             params={"operation": "iadd3", "ilp": 4, "warps_per_sm": 32}),
        case([timed("bandwidth", 3.8e12, "B/s")], benchmark="bandwidth", params=read),
        case([timed("bandwidth", 4e12, "B/s")], benchmark="bandwidth",
             params=read | {"operation": "copy"}),
        case([timed("useful_bandwidth", 3.9e12, "B/s")], benchmark="stride_gather", params=near),
        case([timed("useful_bandwidth", 4e12, "B/s")], benchmark="stride_gather",
             params=near | {"width": 4}),
        case([sector], benchmark="cache_geometry", params={"property": "l1_sector"}),
    ]  # fmt: skip


def items(run: Run) -> dict[Any, Any]:
    return {one.name: one for one in FIGURE.data(run).itertuples()}


def marks(run: Run, *, published: bool = False) -> list[str]:
    """The fillings of the marks."""
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        found = [one for one in figure.axes[0].lines if one.get_marker() != "None"]
        return [
            f"{one.get_markerfacecolor()}"
            for one in found
            if points_of(one) and (one.get_color() == PUBLISHED) == published
        ]


def test_kernels_stand_at_their_additions(tmp_path: Path) -> None:
    found = items(load2(tmp_path, additions()))
    one = found["32 bits, coalesced"]
    assert one.additions_per_byte == pytest.approx(1 / 12)
    assert one.additions_per_second == pytest.approx(32 * MIB / 120e-6)
    assert one.published_additions_per_second == pytest.approx(512 * 512 / 0.067e-3)
    assert found["8 bits, coalesced, grouped"].additions_per_second == pytest.approx(
        128 * MIB / 120e-6
    )
    published = found["8 bits, uncoalesced, grouped"].published_additions_per_second
    assert pd.isna(published)  # not printed


def test_the_published_ratios_are_those_of_the_paper(tmp_path: Path) -> None:
    found = items(load2(tmp_path, additions()))
    rates = {
        name: one.published_additions_per_second
        for name, one in found.items()
        if one.published_additions_per_second
    }
    assert rates["32 bits, coalesced"] / rates["32 bits, uncoalesced"] == pytest.approx(31, 0.02)
    grouped = rates["8 bits, coalesced, grouped"]
    assert grouped / rates["8 bits, uncoalesced, ungrouped"] == pytest.approx(43, 0.02)
    assert grouped / rates["8 bits, coalesced, ungrouped"] == pytest.approx(26, 0.02)


def test_roofs_are_arithmetic_and_what_is_left_of_dram(tmp_path: Path) -> None:
    run = load2(tmp_path, [*additions(), *roofs()])
    found = {name: one.additions_per_second for name, one in items(run).items() if one.is_roof}
    assert found == {
        "integer additions": 8e12,
        "DRAM": 3.9e12,  # of words in a row or in groups, read alone
        "DRAM, 4 B of each sector": 3.9e12 / 8,
        "DRAM, 1 B of each sector": 3.9e12 / 32,
    }
    for kernel in items(run).values():
        if not kernel.is_roof:
            assert kernel.additions_per_second <= found["DRAM"] * kernel.additions_per_byte
    assert [line["is_roof"] for line in data_of(FIGURE, run)] == ["false"] * 6 + ["true"] * 4


def test_without_roofs_the_kernels_are_drawn_alone(tmp_path: Path) -> None:
    run = load2(tmp_path, additions())
    assert len(marks(run)) == 6
    assert len(marks(run, published=True)) == 5
    assert "Lines:" not in FIGURE.caption(FIGURE.data(run))


def test_an_invalid_kernel_is_hollow_and_owned_up_to(tmp_path: Path) -> None:
    run = load2(tmp_path, additions(invalid=(4, "coalesced", 4)))
    assert marks(run).count("none") == 1
    with plotted(FIGURE, run) as figure:
        assert sum("(invalid)" in text.get_text() for text in texts_of(figure)) == 1
    assert "Invalid, drawn hollow (1): 32 bits, coalesced." in caption_of(FIGURE, run)


def test_a_cpu_and_roofs_alone_show_nothing(tmp_path: Path) -> None:
    host = load2(tmp_path, additions(backend="host"), backend="host")
    assert not FIGURE.has(host)
    assert not FIGURE.has(load2(tmp_path / "b", roofs()))


def test_the_paper_is_in_the_bibliography(tmp_path: Path) -> None:
    caption = caption_of(FIGURE, load2(tmp_path, additions()))
    found = {int(one) for one in re.findall(r"\[(\d+)\]", caption)}
    assert found
    assert found <= {one.number for one in reference.bibliography()}
