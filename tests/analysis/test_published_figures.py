"""Own numbers beside published ones: what is compared, what is left out, how it is drawn."""

from collections import Counter
from collections.abc import Mapping
from copy import copy
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from builders import row
from charts import caption_of, data_of, run_with
from plots import labels_of, lines_of, plot_named, plotted, points_of
from strata import reference
from strata.figures._plot import Plot
from strata.figures.published import LATENCIES
from strata.model import Cited, Table, atlas, plain, tables
from strata.reference import published
from strata.reference.published import Mark
from strata.report import tables as report_tables
from strata.report.tables import papers
from strata.run import Row

FIGURES = [*map(plot_named, ("published_latency", "published_bandwidth", "published_constant"))]
LATENCY = FIGURES[0]
TABLES = [
    papers.matrix_addition, papers.instruction_costs, papers.instruction_latencies, papers.caches
]  # fmt: skip
MIB = 2**20
L2 = 40 * MIB
BYTES = 3 * 128 * MIB
"""Of three matrices."""


# --- a made-up run --------------------------------------------------------------------------------


def chase(space: str, footprint: int, cycles: float, cores: str = "one") -> list[Row]:
    """One point of the chase, and its footprint over the L2."""
    place: dict[str, Any] = {"space": space, "footprint": footprint, "cores": cores, "stride": 128}
    over: Any = {"unit": "1", "method": "driver", "provenance": "modelled"}
    return [
        row("latency_vs_footprint", "load_cycles", cycles, **place),
        row("latency_vs_footprint", "load_cycles", 9 * cycles, method="event_slope", **place),
        row("latency_vs_footprint", "footprint_over_l2", footprint / L2, **over, **place),
    ]


def latencies() -> list[Row]:
    """Every space at footprints within and beyond those of a level."""
    rows = []
    for space, staircase in {
        "shared": {1024: 23.0, 16384: 24.0, 32768: 25.0},
        "global_ca": {1024: 31.0, 16384: 32.0, 65536: 33.0},
        "global_cg": {
            1024: 270.0, 4 * MIB: 280.0, 8 * MIB: 290.0, 64 * MIB: 500.0, 160 * MIB: 680.0,
            320 * MIB: 690.0,
        },
        "constant": {512: 27.0, 1024: 28.0, 4096: 97.0, 16384: 98.0, 65536: 99.0},
    }.items():  # fmt: skip
        for footprint, cycles in staircase.items():
            rows += chase(space, footprint, cycles)
    rows += chase("global_cg", 2 * MIB, 281.0, "several")  # of all SMs, not of one
    parts = {"partitions": 2.0, "near_load_cycles": 288.0, "far_load_cycles": 488.0}
    return [*rows, *(row("l2_partition", name, value, method="m") for name, value in parts.items())]


def bandwidths() -> list[Row]:
    """Two launches of each level, and of DRAM the shares of its pins."""
    rows = []
    for launch, factor in ((1, 0.5), (2, 1.0)):
        place: dict[str, Any] = {"width": 16, "launch": launch, "method": "event_slope"}
        for level, best in {"shared": 128, "l1": 127, "l2": 36}.items():
            at = place | {"level": level, "operation": "read", "unit": "B/cycle"}
            rows.append(row("bandwidth", "bandwidth_per_sm", best * factor, **at))
        for operation, share in {"read": 0.96, "copy": 0.88}.items():
            at = place | {"level": "dram", "operation": operation}
            shape: Any = {"in_flight": 8, "blocks_per_sm": 2, "block_size": 512, "unit": "B/s"}
            rows += [
                row("bandwidth", "share_of_limit", share * factor, unit="1", **at),
                row("bandwidth", "bandwidth", 4e12 * share * factor, **shape, **at),
            ]
    return rows


def costs() -> list[Row]:
    """A chain, and full SMs, of every operation."""
    more = ("fmin_fmax", "imin_imax", "rcp_approx", "load_shared", "load_constant", "barrier")
    rows = []
    for place, operation in enumerate((*published.INSTRUCTIONS, *more), start=1):
        for warps, cycles in ((1, 10.0 + place), (32, 0.5 * place)):
            shape: dict[str, Any] = {"operation": operation, "ilp": 1, "warps_per_sm": warps}
            rate: Any = {"unit": "1/s", "method": "event_slope"}
            rows += [
                row("instruction_cost", "operation_cycles", cycles, **shape),
                row("instruction_cost", "operation_rate", 3.2e13 / cycles, **rate, **shape),
            ]
    return rows


def geometry() -> list[Row]:
    found = (
        ("l1_size", "size", 217 * 1024, 0), ("l1_line", "line", 128, 0),
        ("l1_sector", "sector", 32, 0), ("l2_size", "size", 20 * MIB, 0),
        ("l2_line", "line", 128, 0), ("l2_sector", "sector", 64, 0),
        ("constant_l1_size", "size", 2112, 0), ("l1_size", "size", 20 * 1024, 228),
    )  # fmt: skip
    rows = [
        row("cache_geometry", quantity, value, unit="B", method="change_point", property=name,
            carveout=carveout)
        for name, quantity, value, carveout in found
    ]  # fmt: skip
    driver: Any = {"unit": "B", "method": "cudaDevAttrL2CacheSize", "provenance": "published"}
    reported = row("cache_geometry", "reported", L2, property="l2_size", carveout=0, **driver)
    return [*rows, reported]


ADDITIONS = {
    (4, "uncoalesced", 4): 1000e-6,
    (4, "coalesced", 4): 120e-6,
    (4, "coalesced", 16): 100e-6,
    (1, "uncoalesced", 1): 4800e-6,
    (1, "uncoalesced", 4): 1050e-6,
    (1, "coalesced", 1): 360e-6,
    (1, "coalesced", 4): 120e-6,
    (1, "coalesced", 16): 96e-6,
}
"""Seconds of a launch by element, order and group."""


def additions(*, invalid: tuple[int, str, int] | None = None) -> list[Row]:
    rows = []
    for key, seconds in ADDITIONS.items():
        place: dict[str, Any] = dict(zip(("element", "order", "group"), key, strict=True))
        place |= {"access": "together", "valid": key != invalid, "method": "event_slope"}
        rows += [
            row("short_words", "kernel_time", seconds, unit="s", **place),
            row("short_words", "useful_bandwidth", BYTES / seconds, unit="B/s", **place),
        ]
    return rows


@cache
def every() -> tuple[Row, ...]:
    return (*latencies(), *bandwidths(), *costs(), *geometry(), *additions())


# --- every figure and table -----------------------------------------------------------------------


@pytest.mark.parametrize("figure", FIGURES)
def test_the_figure_is_drawn_and_its_caption_lists_its_sources(figure: Plot) -> None:
    """A page lists the sources that its texts cite: a number in a drawing alone would dangle."""
    made_up = run_with(every())
    marks = figure.data(made_up)["_mark"]
    keys = {mark.published.origin.keys[0] for mark in marks if mark.published}
    assert f"Sources: {reference.cite(*keys)}." in caption_of(figure, made_up)
    assert data_of(figure, run_with(every()[::-1])) == data_of(figure, made_up)
    assert not figure.has(run_with([replace(line, backend="host") for line in every()]))


@pytest.mark.parametrize("make", TABLES)
def test_tables_become_text_and_their_numbers_know_their_rows(make: Any) -> None:
    assert make in report_tables.discover()
    assert make(run_with([])) is None
    assert make(run_with([replace(line, backend="host") for line in every()])) is None
    table = make(run_with(every()))
    assert {len(line) for line in table.rows} == {len(table.header)}
    assert tables.markdown(table).count("\n") == len(table.rows) + 2
    assert tables.latex(table, "made up").isascii()
    cells = [part for line in table.rows for cell in line for part in cell]
    cited = {part.row.key for part in cells if isinstance(part, Cited)}
    assert cited
    assert cited <= {line.key for line in every()}


# --- latencies ------------------------------------------------------------------------------------


def own() -> Mapping[str, Row]:
    return atlas.own_latencies(run_with(every()))


def test_the_rows_that_represent_levels() -> None:
    assert {panel: found.value for panel, found in own().items()} == {
        "shared": 23, "l1": 31, "l2": 281, "l2_near": 288, "l2_far": 488, "dram": 680,
        "constant_l1": 28, "constant_l15": 98,
    }  # fmt: skip
    atomics = [replace(one, quantity=one.quantity.replace("_load_", "_")) for one in every()]
    assert "l2_far" not in atlas.own_latencies(run_with(atomics))
    rows = [replace(one, valid=one.value not in (23.0, 488.0)) for one in latencies()]
    found = atlas.own_latencies(run_with(rows))
    assert found["shared"].value == 24
    marks = published.latency_marks(found, tuple(published.LATENCIES))
    assert "l2_far" not in {mark.panel for mark in marks}, "its row is invalid"


@pytest.mark.parametrize("step", [1, -1])
def test_the_cost_of_an_instruction_is_of_a_lone_warp_or_of_full_sms(step: int) -> None:
    rows = costs()[::step]
    chain, full = (published.own_cost(rows, "fadd", chain=chain) for chain in (True, False))
    assert chain
    assert full
    assert (chain.value, full.value) == (11, 0.5)
    alone = [one for one in rows if one.text("warps_per_sm") == "1"]
    assert published.own_cost(alone, "fadd", chain=False) is None
    invalid = [replace(one, valid=False) for one in rows]
    assert published.own_cost(invalid, "fadd", chain=True) is None


def marks_of(panel: str) -> list[Mark]:
    return [mark for mark in published.latency_marks(own(), (panel,)) if mark.published]


def test_published_latencies_are_as_printed() -> None:
    far = {(mark.gpu, mark.value): mark for mark in marks_of("l2_far")}
    split = far["A100 PCIe 40GB", 356.6]
    assert not split.doubt
    assert split.citation == reference.cite("luo2025hopper")
    assert [mark.value for mark in far.values() if not mark.doubt] == [356.6]
    (quoted,) = [mark for mark in marks_of("dram") if mark.gpu == "GeForce 8800 GT"]
    assert (quoted.low, quoted.value, quoted.high) == (400, 500, 600)
    assert quoted.doubt


def test_what_is_no_load_or_has_no_cycles_is_left_out() -> None:
    for mark in (mark for panel in published.LATENCIES for mark in marks_of(panel)):
        assert mark.published
        assert mark.published.unit == "cycles"
        assert not any(word in mark.published.metric for word in ("conflict", "store", "mean"))
    assert "G80 (GeForce 8800)" not in {mark.gpu for mark in marks_of("dram")}  # cycles per warp
    assert "RTX 3090" not in {mark.gpu for mark in marks_of("l1")}  # nanoseconds
    assert max(mark.high for mark in marks_of("dram")) <= 1200  # no first access: 1029 of V100
    assert 1029 not in {mark.value for mark in marks_of("dram")}


def test_generations_are_in_order_and_the_own_mark_first() -> None:
    marks = published.latency_marks(own(), ("l1",))
    assert marks[0].published is None
    assert (marks[0].value, marks[0].gpu) == (31, "test-device")
    order = [published.GENERATIONS.index(mark.generation) for mark in marks[1:]]
    assert order == sorted(order)
    tables = reference.latencies, reference.bandwidths, reference.geometries, reference.instructions
    named = {one.architecture for load in tables for one in load()}
    assert named <= set(published.GENERATIONS)


def test_open_marks_are_the_published_ones_and_crosses_those_in_doubt() -> None:
    made_up = run_with(every())
    data = LATENCY.data(made_up)
    with plotted(LATENCY, made_up) as figure:
        assert labels_of(figure) == [title for title, _ in LATENCIES.values()]
        found: Counter[str] = Counter()
        for line in lines_of(figure):
            found[f"{line.get_marker()}"] += len(points_of(line))
        (ax,) = figure.axes
        names = [text.get_text() for text in ax.get_yticklabels()]
        cited = {text.get_position()[1]: text.get_text() for text in ax.texts}
    assert found["D"] == data.ours.sum() == len(LATENCIES)
    assert found["x"] == (data.doubt != "").sum()
    assert found["o"] == len(data) - found["D"] - found["x"]
    both = [reference.source(key).number for key in ("mt4g2026", "jia2018volta")]
    assert names[:3] == ["this GPU", "TESLA", "GeForce 8800 GT"], "below their generation"
    assert cited[names.index("V100 PCIe")] == f"[{', '.join(map(str, sorted(both)))}]"
    caption = caption_of(LATENCY, made_up)
    assert caption.count("a mix of near and far hits") == 1, "a doubt once, with its sources"
    assert "superseded by the same authors" in caption


# --- bandwidths -----------------------------------------------------------------------------------


def bandwidth_of(panel: str, gpu: str) -> list[float]:
    marks = published.bandwidth_marks(every())
    here = [mark for mark in marks if (mark.panel, mark.gpu) == (panel, gpu)]
    return [mark.value for mark in here if mark.published]


def test_the_best_launch_represents_a_level() -> None:
    found = {panel: one.value for panel, one in published.own_bandwidths(every()).items()}
    assert found == {"shared": 128, "l1": 127, "l2": 36, "dram_read": 0.96, "dram_copy": 0.88}
    own = [mark for mark in published.bandwidth_marks(every()) if mark.published is None]
    assert {mark.panel: mark.value for mark in own}["dram_read"] == 96


def test_rates_are_made_comparable() -> None:
    assert bandwidth_of("l1", "V100 PCIe") == [108.3]  # printed so
    assert bandwidth_of("l2", "A100 PCIe 40GB") == pytest.approx([2007.9 / 108])  # over its SMs
    assert bandwidth_of("shared", "GTX 480") == pytest.approx([4 * 15.94])  # words of 4 B
    assert bandwidth_of("dram_read", "H100 PCIe") == pytest.approx([100 * 1942 / 2039, 97.5], 1e-3)
    copied = bandwidth_of("dram_copy", "K80 (one GPU, ECC off)")
    assert copied == pytest.approx([100 * 203.91 / 240.5])
    gib = bandwidth_of("dram_read", "H100 SXM 80GB")
    assert gib == pytest.approx([100 * 2561.0 * 2**30 / 1e9 / 3352.3])
    known = [one for one in reference.bandwidths() if one.level == "dram" and one.unit == "GB/s"]
    rate = next(filter(published._comparable, known))
    for unit, scale in {"TB/s": 1e3, "GiB/s": 2**30 / 1e9}.items():
        other = copy(rate)
        vars(other).update(value=rate.value / scale, unit=unit)
        assert published._comparable(other) == pytest.approx(published._comparable(rate)), (
            "in any unit"
        )


def test_rates_that_cannot_be_made_comparable_are_left_out() -> None:
    marks = published.bandwidth_marks(every())
    here = {(mark.panel, mark.gpu) for mark in marks}
    assert ("dram_read", "Quadro RTX 6000") not in here  # in a state of its own
    assert ("dram_copy", "RX 6900 XT") not in here  # its pins are not listed
    assert ("dram_read", "A100 80GB") not in here
    assert ("l2", "V100") not in here  # without a clock
    for mark in marks:
        if mark.panel.startswith("dram") and mark.published:
            assert 0 < mark.value < 100
            assert "jia2018volta" not in mark.published.origin.keys  # GiB/s or GB/s?


# --- tables ---------------------------------------------------------------------------------------


def made(make: Any) -> Table:
    table = make(run_with(every()))
    assert isinstance(table, Table)
    return table


def columns_of(table: Table, name: str) -> dict[str, str]:
    place = table.header.index(name)
    return {plain(line[0]): plain(line[place]) for line in table.rows}


def test_instructions_are_compared_with_the_same_ones() -> None:
    table = made(papers.instruction_latencies)
    volta = columns_of(table, f"V100 {reference.cite('jia2018volta')}")
    assert (volta["FADD"], volta["IMAD"], volta["DFMA"], volta["MUFU.RSQ"]) == ("4", "5", "8", "–")
    pascal = columns_of(table, f"P100 {reference.cite('jia2018volta')}")
    assert pascal["IMAD"] == "–"  # emulated there
    doubtful = columns_of(table, f"RTX 6000D {reference.cite('rtx6000d2026')}")
    assert doubtful["FFMA"] == "4.44 (in doubt)"
    assert columns_of(table, "here")["FADD"] == "11.00"
    assert columns_of(table, "sources")["MUFU.EX2"] == reference.cite("connolly2026tu102")
    assert not any("G80" in name for name in table.header)
    known = {one.instruction for one in reference.instructions()}
    assert {name for _, theirs in published.INSTRUCTIONS.values() for name in theirs} <= known


def test_the_costs_of_the_g80_are_beside_ours() -> None:
    table = made(papers.instruction_costs)
    assert [plain(line[1]) for line in table.rows] == [
        *["4"] * 7, "16", "16", "0", "≥4", "400 - 600", "≥ 0 (cached)", "400 - 600 (else)",
        "4 + possible waiting time",
    ]  # fmt: skip
    here = {plain(line[2]): (plain(line[3]), plain(line[4])) for line in table.rows}
    assert here["FADD"] == ("0.5", "11")
    assert here["a load that misses the L2"] == ("–", "680")
    pair = published.own_cost(every(), "fmin_fmax", chain=True)
    assert pair is not None
    assert float(here["FMNMX: half of a pair"][1]) == pytest.approx(pair.value / 2)
    # The printed costs are those of results/reference.
    key = ("breitbart2008structures",)
    cycles = {one.instruction: one.latency_cycles.text
              for one in reference.instructions() if one.origin.keys == key}  # fmt: skip
    assert cycles["FADD"] == cycles["bitwise/compare/min/max"] == "4"
    assert cycles["reciprocal / reciprocal square root"] == "16"
    levels = {one.level: one.value.text for one in reference.latencies() if one.origin.keys == key}
    assert levels == {"dram": "400-600", "shared": ">=4", "constant_l1": ">=0"}


def test_caches_are_beside_their_sources() -> None:
    table = made(papers.caches)
    size, behind = columns_of(table, "L1"), columns_of(table, "the one behind it")
    assert size["here"] == "217\u00a0KiB"
    assert [plain(table.rows[0][at]) for at in (4, 5, 8)] == [
        "40\u00a0MiB", "20\u00a0MiB", "2.06\u00a0KiB",
    ]  # fmt: skip
    assert table.header[4:6] == ("L2 (by the driver)", "L2 used by one SM")
    jia, mt4g = (f"V100 PCIe {reference.cite(key)}" for key in ("jia2018volta", "mt4g2026"))
    assert size[jia] == "32\u00a0KiB to 128\u00a0KiB"
    assert (behind[jia], behind[mt4g]) == ("≥\u00a064\u00a0KiB", ">\u00a064\u00a0KiB")
    name = f"RTX 5080 {reference.cite('jarmusch2025blackwell')}"
    assert columns_of(table, "L2 (by the driver)")[name] == "65\u00a0MiB (in doubt)"
    assert len(table.rows) == 21


def matrix(*rows: Row) -> list[list[str]]:
    """The columns of the table of matrix additions."""
    table = papers.matrix_addition(run_with(rows))
    assert table is not None
    return [[plain(line[at]) for line in table.rows] for at in range(9)]


def test_the_matrix_rows_of_table_ii() -> None:
    found = matrix(*every())
    assert found[1] == ["2.06 ms", "1.02 ms", "0.634 ms"]
    assert found[3] == ["31×", "43×", "26×"]
    assert found[6:] == [
        ["8.33×", "40.0×", "3.00×"], ["10.0×", "50.0×", "3.75×"], ["–", "–", "–"],
    ]  # fmt: skip
    place: dict[str, Any] = {"element": 1, "order": "uncoalesced", "group": 4, "access": "mended"}
    seconds = ADDITIONS[1, "uncoalesced", 1] / 37
    ours = row("short_words", "kernel_time", seconds, unit="s", method="event_slope", **place)
    assert matrix(*every(), ours)[8] == ["–", "37.0×", "–"], "optimized by strata"
    invalid = matrix(*additions(invalid=(1, "coalesced", 4)))
    assert invalid[6] == ["8.33×", "–", "–"]
    assert invalid[5][1].endswith("(invalid)")
