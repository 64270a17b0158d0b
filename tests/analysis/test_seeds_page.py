"""The page of the seed documents: its cells are those of rows, and every point has a sweep."""

import re
from pathlib import Path
from typing import Any

import pytest
from test_docs import ROOT, tool

from builders import case, count, counts, load2, measurement

page = tool("seeds_page")
H200 = {"slug": "nvidia-h200", "name": "NVIDIA H200", "uuid": "GPU-1", "sm_count": 132}
PLACE = {"problem": "gravit", "systems": 1, "layout": "soaoas"}


def gravit(rate: float, **place: Any) -> dict[str, Any]:
    rows = [measurement("interactions_per_second", [rate] * 6, unit="1/s", method="events")]
    params = PLACE | place
    return case(rows, suite="nbody", benchmark="gravit_tile", params=params)


def test_the_page_is_what_its_runs_give() -> None:
    assert page.main(["--check"]) == 0


def test_every_point_names_a_benchmark_of_its_sweep() -> None:
    for point in page.points():
        if not point["sweep"]:
            assert point["remark"], point
            continue
        sweep = (ROOT / f"sweeps/{point['sweep']}.yaml").read_text(encoding="utf-8")
        assert re.search(rf"benchmark: {point['benchmark']}$", sweep, re.MULTILINE), point


def test_a_cell_has_the_one_row_the_range_or_the_ratio(tmp_path: Path) -> None:
    lines = [gravit(1e12, bodies=40000, unroll=1), gravit(1.5e12, bodies=40000, unroll=128)]
    run = load2(tmp_path, lines, device=H200)
    rows = page.load([Path(run.folder)])
    point = dict.fromkeys(("method", "per"), "") | {
        "benchmark": "gravit_tile", "params": "unroll=1", "quantity": "interactions_per_second",
    }  # fmt: skip
    assert page.cell(point, rows, "H200") == "1e+12 1/s"
    assert page.cell(point, rows, "H100") == page.NO_ROW
    every = point | {"params": "bodies=40000"}
    assert page.cell(every, rows, "H200") == "1e+12 to 1.5e+12 1/s (2 cases)"
    ratio = point | {"params": "unroll=128", "per": "gravit_tile:unroll=1"}
    assert page.cell(ratio, rows, "H200") == "1.5 times"
    assert page.cell(ratio | {"per": "serial:"}, rows, "H200") == page.NO_ROW


def test_shares_of_a_setup_a_tile_and_an_interaction_come_from_two_sizes(tmp_path: Path) -> None:
    setup, tile = 20.0, 60.0
    lines = []
    for bodies in (256, 512):
        line = gravit(1e12, bodies=bodies, unroll=128)
        pairs = bodies * bodies
        executed = (setup + tile * bodies / 128 + 14 * bodies) * bodies / 32
        counted = {"executed_instructions": executed, "fp32_add": 3 * pairs, "fp32_mul": 3 * pairs,
                   "fp32_fma": 6 * pairs, "xu_thread_instructions": pairs,
                   "shared_load_requests": pairs / 32}  # fmt: skip
        rows = [count(name, value, unit="instruction", method=f"{name}.sum")
                for name, value in counted.items()]  # fmt: skip
        lines += [line, counts(line, rows)]
    run = load2(tmp_path, lines, device=H200)
    (text,) = page.shares([Path(run.folder)])
    assert text == "H200 soaoas unroll 128: S 20.0 (21%), B 60.0 (64%), P 14.00 (15%)"


def test_a_folder_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert page.main(["/no/such/run"]) == 2
    assert "no such folder" in capsys.readouterr().err
