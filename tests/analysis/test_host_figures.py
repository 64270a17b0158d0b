"""Figures of a CPU's instructions, arithmetic and translations: in a CPU's words."""

from pathlib import Path
from typing import Any

from builders import case, load, measurement
from strata import figures
from strata.figures import ceilings, instruction_cost, tlb


def chain(operation: str, ilp: int, cycles: float) -> dict[str, Any]:
    return case(
        [
            measurement("operation_cycles", [9.0], unit="tsc_cycle", method="tsc_slope"),
            measurement(
                "operation_core_cycles", [cycles], unit="cycle", method="over_dependent_adds"
            ),
        ],
        benchmark="instruction_cost",
        backend="host",
        params={"operation": operation, "ilp": ilp, "warps_per_sm": 1},
    )


def test_costs_are_cycles_of_the_core_and_have_no_g80_beside_them(tmp_path: Path) -> None:
    lines = [chain("rcp_ieee", 1, 11.0), chain("rcp_ieee", 4, 3.1), chain("rcp_ieee", 10, 3.0)]
    items = instruction_cost.prepare(load(tmp_path, lines, backend="host").rows)
    (cost,) = items
    assert (cost.latency and cost.latency.value, cost.full and cost.full.value) == (11.0, 3.0)
    assert cost.words == "divide, fp32"
    with figures.style():
        canvas = figures.render(instruction_cost.FIGURE, items)
    texts = [text.get_text() for legend in canvas.legends for text in legend.get_texts()]
    assert texts == ["measured"]
    assert "warp" not in instruction_cost.caption(items)
    assert instruction_cost.cells(cost)[3] == 1 / 3.0


def test_ceilings_of_a_cpu_have_no_limit(tmp_path: Path) -> None:
    line = case(
        [
            measurement("flops_per_second", [4e11], unit="FLOP/s", method="monotonic_slope"),
            measurement(
                "flops_per_second_of_one_core", [2e11], unit="FLOP/s", method="monotonic_slope"
            ),
        ],
        benchmark="ceilings",
        backend="host",
        params={"arithmetic": "fp32", "form": "steady", "warps_per_sm": "32"},
    )
    items = ceilings.prepare(load(tmp_path, [line], backend="host").rows)
    (one,) = items
    assert (one.measured.value, one.limit, one.others) == (4e11, None, ())
    with figures.style():
        canvas = figures.render(ceilings.FIGURE, items)
    texts = [text.get_text() for legend in canvas.legends for text in legend.get_texts()]
    assert texts == ["all cores"]
    assert "every core" in ceilings.caption(items)


def test_translations_of_a_cpu_are_named_by_their_pages(tmp_path: Path) -> None:
    lines = [
        case(
            [measurement("load_cycles", [4.0], unit="tsc_cycle", method="tsc_slope")],
            benchmark="tlb",
            backend="host",
            params={"allocation": pages, "stride": 4096, "footprint": 65536},
        )
        for pages in ("small_pages", "huge_pages")
    ]
    items = tlb.prepare(load(tmp_path, lines, backend="host").rows)
    assert [point.curve.split(",")[0] for point in items] == [
        "pages of 2\u00a0MiB",
        "pages of 4\u00a0KiB",
    ]
    assert "same lines" in tlb.caption(items)
