"""Figures 10 and 11 of Siegel et al. 2009, redone: marks, published marks, captions."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, count, load2, measurement
from charts import caption_of, data_of
from plots import bars_of, hollow_of, lines_of, plot_named, plotted, points_of
from strata.ladder import seeds as ladder_seeds
from strata.model import plain

TIMES, GAINS = plot_named("siegel_10"), plot_named("siegel_11")


def read(layout: str, cycles: float, noise: str = "passed") -> dict[str, Any]:
    """A read of one warp alone at DRAM."""
    return case(
        [measurement("warp_read_cycles", [cycles] * 7, noise=noise)],
        params={
            "block_size": 32, "cores": "all", "fields": "all", "layout": layout,
            "residency": "dram", "warps_per_sm": 1,
        },
    )  # fmt: skip


def test_speed_is_over_aos_and_theirs_beside_it(tmp_path: Path) -> None:
    layouts = {"aosoa32": 90, "soaoas": 100, "aos": 300, "soa": 200}
    run = load2(tmp_path, [read(layout, cycles) for layout, cycles in layouts.items()])
    with plotted(GAINS, run) as figure:
        found = {line.get_label(): [x for x, _ in points_of(line)] for line in lines_of(figure)}
    assert found["one warp alone"] == [1.5, 3]
    assert found["8800 GTX, CUDA 1.0"] == [1.1, 1.5]
    assert found["8800 GTX, CUDA 2.2"] == [1.3]
    assert "soaoas here: DRAM one warp alone 3.00×." in caption_of(GAINS, run)
    with plotted(TIMES, run) as figure:
        assert [bar.get_width() for bar in bars_of(figure)] == [300, 200, 100]
    lines = [(line["layout"], line["section"]) for line in data_of(TIMES, run)]
    assert lines == [("aos", "II-A"), ("soa", "II-B"), ("soaoas", "II-D")], "the paper's layouts"
    assert not GAINS.has(load2(tmp_path / "b", [read("soa", 200)])), "without aos"


@pytest.mark.parametrize("layout", ["soa", "soaoas"])
def test_invalid_reads_are_hollow(layout: str, tmp_path: Path) -> None:
    run = load2(tmp_path, [read("aos", 300), read(layout, 200, noise="failed")])
    with plotted(GAINS, run) as figure:
        assert [x for x, _ in hollow_of(figure.axes[0])] == [1.5]
    words = caption_of(GAINS, run)
    assert f"Invalid, drawn hollow (1): DRAM {layout}, one warp alone." in words
    assert "soaoas here" not in words
    with plotted(TIMES, run) as figure:
        dashed = [bar for bar in bars_of(figure) if bar.get_linestyle() == "--"]
        assert [bar.get_width() for bar in dashed] == [200]
    assert f"Invalid, drawn hollow (1): DRAM {layout}." in caption_of(TIMES, run)


def test_why_a_layout_gains_nothing_is_explained_by_sectors(tmp_path: Path) -> None:
    lines = [read("aos", 861), read("soaoas", 897)]
    assert not ladder_seeds.sentences(load2(tmp_path / "a", lines).rows)
    for line, sectors, hits in zip(lines, (196, 32), (6 / 7, 0), strict=True):
        line["schema_version"] = 2
        line["measurements"] += [
            count("sectors_per_read", sectors, unit="sector", method="cupti_net"),
            count("l1_hit_share", hits, unit="1", method="cupti_net"),
        ]
    (sentence,) = ladder_seeds.sentences(load2(tmp_path / "b", lines).rows)
    assert plain(sentence) == (
        "Siegel et al. 2009, Figure 11: soaoas was 1.5 (CUDA 1.0) and 1.3 (CUDA 2.2) times as fast "
        "as aos on an 8800 GTX; here, at DRAM, 0.96× for one warp alone: of the 196 sectors that a "
        "warp requests in aos, L1 lets 28 through, of the 32 in soaoas 32."
    )
