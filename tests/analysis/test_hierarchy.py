"""The map of the memory hierarchy: its numbers, why some are missing, the drawing, the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from test_headlines import CHIP, L2, PARTITION, chase, stream, tlb

from builders import DATA, case, context, edit, load, measurement, strata, strata_process, write_run
from charts import caption_of, data_of
from plots import bars_of, check_texts_of, plot_named, plotted
from strata.figures import _style
from strata.figures.hierarchy_map import LEAST
from strata.model import plain
from strata.model.hierarchy import BANKS, UNLIMITED, UNTOLD, Hierarchy, hierarchy
from strata.model.text import Cited
from strata.report import map_text, sentences
from strata.report.tables.hierarchy import make
from strata.run import Run, load_run

GIB = 2**30
FACTS: dict[str, Any] = {
    "device__l2_bytes": L2,
    "device__memory_bytes": 64 * GIB,
    "device__registers_per_sm": 65536,
    "device__shared_bytes_per_sm": 228 * 1024,
    "host__memory_bytes": 8 * GIB,
}
FIGURE = plot_named("hierarchy_map")
H100, CPU = "map-nvidia-h100", "excerpt-intel"
H200 = "excerpt-nvidia-h200-20261121T235015Z"
TAKES = "the longest chain before loads get slower"


def geometry(name: str, size: float, **changes: Any) -> dict[str, Any]:
    """A case of cache_geometry: `l1_line` finds a line."""
    found = measurement(name.partition("_")[2], [size], unit="B", method="change_point", **changes)
    return case([found], benchmark="cache_geometry", params={"property": name, "carveout": 0})


PEER = case(
    [
        measurement("load_cycles_uncached", [1974]),
        measurement("load_time_uncached", [995e-9], unit="s", method="event_slope"),
    ],
    benchmark="peer_copy",
    params={"by": "load", "bytes": 4, "direction": "read"},
)
LINES = [*CHIP, geometry("l1_size", 217 * 1024), geometry("l1_line", 128), PEER]


def gpu(folder: Path, lines: Sequence[dict[str, Any]] = LINES, **changes: Any) -> Run:
    """A small GPU."""
    return load(folder, lines, **FACTS | changes)


def excerpt(name: str) -> Run:
    """A tiny run that was cut from a recorded one."""
    (folder,) = DATA.glob(f"{name}-*")
    return load_run(folder)


def texts(found: Hierarchy, level: str) -> dict[str, str]:
    """The numbers of a level that are there."""
    numbers = found.numbers(level).values()
    return {n.what: n.text.replace("\u00a0", " ") for n in numbers if n.text}


def reasons(found: Hierarchy, level: str) -> dict[str, str]:
    """Why the others are not."""
    return {n.what: n.why for n in found.numbers(level).values() if not n.text}


# --- the numbers


def test_each_level_has_its_numbers_and_each_number_its_row(tmp_path: Path) -> None:
    found = hierarchy(gpu(tmp_path))
    assert [level.name for level in found.levels] == [
        "registers", "l1", "shared", "l2", "l2_near", "l2_far", "dram", "dram_near", "dram_far",
        "host_memory", "peer",
    ]  # fmt: skip
    assert texts(found, "registers") == {"size": "256 KiB"}
    assert texts(found, "l1") == {
        "size": "217 KiB", "line": "128 B", "cycles": "32.00 cycles",
        "per_core": "33.00 B/cycle", "bandwidth": "33.0 TB/s", "share": "99.0 %",
    }  # fmt: skip
    assert texts(found, "l2_far") == {"cycles": "488.0 cycles"}
    assert texts(found, "dram") == {
        "size": "64 GiB", "time": "345 ns", "cycles": "690.0 cycles", "per_core": "4.70 B/cycle",
        "bandwidth": "4.70 TB/s", "share": "98.0 %", "reach": "1 GiB",
    }  # fmt: skip
    assert texts(found, "host_memory") == {
        "size": "8 GiB", "bandwidth": "55.0 GB/s", "writing": "54.0 GB/s"
    }  # fmt: skip
    assert texts(found, "peer") == {"cycles": "1974 cycles", "time": "995 ns"}
    for level in found.levels:
        for one in level.numbers.values():
            assert (one.source == "measured") == bool(one.text and one.row)
            assert one.row is None or one.row.valid


def test_the_reach_of_the_tlb_is_its_knee_or_what_could_be_walked(tmp_path: Path) -> None:
    run = gpu(tmp_path / "knee")
    reach = hierarchy(run).numbers("dram")["reach"]
    assert (reach.text, reach.why) == ("1\u00a0GiB", TAKES)
    assert reach.row
    assert reach.row.params["footprint"] == f"{16 * L2}"
    (said,) = [s for one in sentences.sentences(run) if (s := plain(one)).startswith("The TLB")]
    assert said.replace("\u00a0", " ") == (
        "The TLB reaches 1 GiB: a load that L2 serves takes 280.0 cycles over such a chain, and "
        "500.0 cycles over 4 GiB."
    )
    flat = gpu(tmp_path / "flat", [tlb(size * L2, 280) for size in (2, 4, 8, 16, 32)])
    assert texts(hierarchy(flat), "dram")["reach"] == "≥ 2 GiB"
    (said,) = map(plain, sentences.tlb_reach(flat))
    assert said == "The TLB reaches 2\u00a0GiB or more: no longer chain could be measured."
    assert not list(sentences.tlb_reach(gpu(tmp_path / "none", [PARTITION])))


def test_the_time_of_a_part_is_its_cycles_by_the_clock_of_its_case(tmp_path: Path) -> None:
    clock = measurement("core_clock", [2e9], unit="Hz", method="clock64_over_globaltimer")
    line = PARTITION | {"measurements": [*PARTITION["measurements"], clock]}
    found = hierarchy(gpu(tmp_path, [line]))
    assert texts(found, "l2_near") == {"cycles": "290.0 cycles", "time": "≈ 145 ns"}


def test_bytes_per_cycle_are_by_the_clock_of_the_kernel(tmp_path: Path) -> None:
    line = stream("l1", 16, 33e12)
    by_events = line["measurements"][1]
    line["measurements"].append(by_events | {"samples": [34.0], "method": "clock64_slope"})
    assert texts(hierarchy(gpu(tmp_path, [line])), "l1")["per_core"] == "34.00 B/cycle"


def test_an_l2_that_is_not_cut_has_no_parts(tmp_path: Path) -> None:
    whole = case([measurement("partitions", [1], unit="1")], benchmark="l2_partition")
    names = [level.name for level in hierarchy(gpu(tmp_path, [whole])).levels]
    assert not {"l2_near", "l2_far", "dram_near", "dram_far"} & set(names)


# --- what is missing


def test_what_is_missing_says_why(tmp_path: Path) -> None:
    left = case(
        benchmark="peer_copy", params={"by": "copy_engine", "bytes": 4, "direction": "read"},
        status="skipped", reason="one\nGPU",
    )  # fmt: skip
    noisy = measurement("load_time", [1], unit="s", noise="failed", detail="half-width 9 %")
    found = hierarchy(gpu(tmp_path, [chase("shared", 4096, 23, extra=[noisy]), left]))
    assert reasons(found, "registers") == {"time": UNTOLD, "bandwidth": UNTOLD}
    shared = reasons(found, "shared")
    assert shared["time"] == "1.00 s, not valid: noise: half-width 9 %"
    assert shared["share"] == shared["bandwidth"] == "bandwidth is not in this sweep"
    assert reasons(found, "peer")["bandwidth"] == r"skipped: one\nGPU"
    assert reasons(found, "peer")["time"] == r"skipped: one\nGPU"  # as every case of it was
    assert reasons(found, "l1")["cycles"] == "latency_vs_footprint has no such case here"
    whole = hierarchy(gpu(tmp_path / "whole"))
    assert reasons(whole, "l2")["share"] == UNLIMITED


def test_a_level_lacks_a_number_by_cases_of_its_own_footprints_only(tmp_path: Path) -> None:
    def why(*footprints: int) -> str:
        gates = [("level", "failed", "no")]
        lines = [chase("global_cg", one, 77, gates=gates) for one in footprints]
        return reasons(hierarchy(gpu(tmp_path / f"{footprints}", lines)), "l2")["cycles"]

    absent = "latency_vs_footprint has no such case here"
    assert why(4096) == why(L2) == absent  # below the window of L2, and above it
    assert why(4096, 1 << 20) == "77.00 cycles, not valid: level: no"


def test_a_number_that_other_levels_have_is_missing_with_its_reason(tmp_path: Path) -> None:
    run = gpu(tmp_path)
    found = hierarchy(run)
    shared = reasons(found, "shared")
    assert (shared["line"], shared["sector"]) == (BANKS, BANKS)
    for level, names in (
        ("l2_near", ["bandwidth"]), ("l2_far", ["bandwidth"]),
        ("dram_near", ["bandwidth"]), ("dram_far", ["bandwidth"]), ("dram", ["line", "sector"]),
    ):  # fmt: skip
        why = reasons(found, level)
        assert {name: why.get(name) for name in names} == dict.fromkeys(names, UNTOLD), level
    assert "size" not in found.numbers("dram_far")  # a half of the memory is no part with a size
    assert "size" not in found.numbers("l2_far")  # what one SM uses is a number of the whole L2
    # In the terminal a word is in the column of the number, and the reason is a note.
    lines = map_text.text([found]).splitlines()
    (far,) = (line for line in lines if "far part" in line)
    assert far.split().count("–") == 1
    (box,) = (line for line in lines if "Shared memory" in line)
    assert box.split().count("–") == 2
    assert not any(BANKS in line for line in lines)
    notes = map_text.text([found], notes=True)
    assert f"\nShared memory, line; Shared memory, sector: {BANKS}\n" in notes


def test_what_the_run_has_not_come_to_says_so(tmp_path: Path) -> None:
    lines = [stream("l1", 16, 33e12)]
    header = context(state="running", finished=None, **FACTS)
    header["clocks"] = {"before": {}, "after": None}
    later = "micro/l2_partition/cuda"
    header["sweep"]["cases"] = [lines[0]["case"], later]
    run = load_run(write_run(tmp_path, lines, header=header))
    assert reasons(hierarchy(run), "l2_near")["cycles"] == "the run has not come to it"


def test_a_row_that_is_not_valid_is_nowhere_shown_as_a_number(tmp_path: Path) -> None:
    lines = [stream("l1", 16, 33e12), geometry("l1_size", 123 * 1024, noise="failed")]
    run = gpu(tmp_path, [*lines, chase("global_ca", 4096, 77, gates=[("level", "failed", "no")])])
    found = hierarchy(run)
    assert "size" not in texts(found, "l1")
    assert reasons(found, "l1")["cycles"] == "77.00 cycles, not valid: level: no"
    with plotted(FIGURE, run) as figure:
        drawn = [text.get_text() for text in figure.axes[0].texts]
    assert "33.0\u00a0TB/s" in drawn
    assert not any(word.startswith(("77", "123")) for word in drawn)
    told = map_text.text([found])
    boxes = [line for line in told.splitlines() if line.startswith("│")]
    assert not any("77" in line or "123" in line for line in boxes)
    lines_of = {line["number"]: line for line in data_of(FIGURE, run) if line["level"] == "l1"}
    assert (lines_of["cycles"]["valid"], lines_of["cycles"]["value"]) == ("false", "")


# --- the figure


@pytest.mark.parametrize("run", [H200, CPU])
def test_every_number_of_the_figure_names_its_case(run: str) -> None:
    loaded = excerpt(run)
    cases = {one.id for one in loaded.cases}
    found = data_of(FIGURE, loaded)
    assert len(found) > 25
    for line in found:
        there = line["case"] in cases and line["valid"] == "true"
        assert (line["source"] in ("measured", "reported")) == there
        assert line["shown"] or line["because"]
    assert "Boxes are the levels" in caption_of(FIGURE, loaded)


def test_boxes_end_at_their_sizes_and_unknown_ones_are_dashed(tmp_path: Path) -> None:
    run = gpu(tmp_path, device__memory_bytes="many")
    with plotted(FIGURE, run) as figure:
        boxes = bars_of(figure)
        ends = {box.get_x() + box.get_width() for box in boxes if box.get_linestyle() == "solid"}
        assert ends == {L2, 256 * 1024, 217 * 1024, 228 * 1024, 8 * GIB}
        assert all(box.get_x() == LEAST for box in boxes)
        assert sum(box.get_linestyle() == "--" for box in boxes) == 2  # memory, the peer


@pytest.mark.parametrize("width", [7.0, 3.3])
@pytest.mark.parametrize("run", [H200, CPU])
def test_nothing_lies_on_anything_else(run: str, width: float) -> None:
    with plotted(FIGURE, excerpt(run), width) as figure:
        check_texts_of(figure)


def test_devices_are_side_by_side(tmp_path: Path) -> None:
    assert FIGURE.beside
    runs = [excerpt(H200), excerpt(H100), gpu(tmp_path, device__memory_bytes="many")]
    with _style.styled():
        figure = FIGURE.plot(FIGURE.beside(runs))
        check_texts_of(figure)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["NVIDIA H200", "NVIDIA H100 80GB HBM3", "Test Device"]
    for ax, size in zip(
        figure.axes, ("139.8\u00a0GiB", "79.2\u00a0GiB", "64\u00a0MiB"), strict=True
    ):
        assert size in {text.get_text() for text in ax.texts}
    assert FIGURE.beside([runs[0], excerpt(CPU)]).empty  # a GPU and a CPU have different levels


def test_without_a_measured_level_there_is_no_map(tmp_path: Path) -> None:
    run = gpu(tmp_path, [PEER])
    assert not FIGURE.has(run)
    assert make(run) is None


# --- the table and the terminal


def test_the_table_links_every_measured_number_to_its_row(tmp_path: Path) -> None:
    run = gpu(tmp_path)
    table = make(run)
    assert table
    found = hierarchy(run)
    assert [plain(row[0]) for row in table.rows][:2] == [
        "Registers of each SM", "L1 cache of each SM"
    ]  # fmt: skip
    linked = [part.row for row in table.rows for cell in row for part in cell
              if isinstance(part, Cited)]  # fmt: skip
    rows = [n.row for level in found.levels for n in level.numbers.values() if n.row]
    assert linked == rows
    assert plain(table.rows[0][1]) == "256\u00a0KiB (fact)"
    assert plain(table.rows[0][table.header.index("latency")]) == "–"
    assert plain(table.rows[0][-1]) == f"latency, bandwidth: {UNTOLD}"
    assert "sector" not in table.header  # no level has one here
    names = [plain(row[0]) for row in table.rows]
    assert "L2 cache, near part" in names
    noisy = [*LINES, geometry("l2_line", 160, noise="failed")]
    table = make(gpu(tmp_path / "noisy", noisy))
    assert table
    (dash,) = table.rows[names.index("L2 cache")][table.header.index("line")][:1]
    assert isinstance(dash, Cited)
    assert (dash.text, dash.row.valid) == ("–", False)


def test_the_terminal_has_boxes_of_at_most_100_columns(tmp_path: Path) -> None:
    evil = "\x1b[31mevil\n" * 9
    load_of = chase("mapped", 4096, 2000)
    load_of["measurements"][0]["unit"] = evil
    run = gpu(tmp_path, [*LINES, load_of], device__name=evil + "宽" * 90)
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
    for maps in ([hierarchy(run)], [hierarchy(excerpt(one)) for one in (H200, H100)]):
        told = map_text.text(maps)
        assert max(map(cell_len, told.splitlines())) <= map_text.WIDE
        edges = [line for line in told.splitlines() if line[0] in "┌│└"]
        assert len({cell_len(line) for line in edges}) == 1
        assert "\x1b" not in told
    assert "64 GiB*" in map_text.text([hierarchy(run)]).replace("\u00a0", " ")


def test_copies_in_both_directions_are_in_the_column_of_bandwidths(tmp_path: Path) -> None:
    told = map_text.text([hierarchy(gpu(tmp_path))]).replace("\u00a0", " ")

    def end(number: str) -> int:
        (line,) = (line for line in told.splitlines() if f" {number} " in line)
        return line.index(number) + len(number)

    assert end("55.0 GB/s") == end("54.0 GB/s") == end("33.0 TB/s")
    assert end("1 GiB") == end("64 GiB*")


def test_notes_below_the_map_break_between_words(tmp_path: Path) -> None:
    detail = " ".join(f"word{number}" for number in range(60))
    noisy = measurement("load_time", [1], unit="s", noise="failed", detail=detail)
    found = hierarchy(gpu(tmp_path, [chase("shared", 4096, 23, extra=[noisy])]))
    lines = map_text.text([found], notes=True).splitlines()
    assert max(map(len, lines)) <= map_text.WIDE
    first = next(number for number, line in enumerate(lines) if "word0" in line)
    last = next(n for n, line in enumerate(lines) if n > first and line.endswith(" …"))
    note = " ".join(" ".join(lines[first : last + 1]).split())
    whole = f"1.00 s, not valid: noise: {detail}".split()
    shown = note.removesuffix(" …").removeprefix("Shared memory, latency: ").split()
    assert last > first
    assert shown == whole[: len(shown)]
    assert len(shown) > 10


def test_cycles_of_a_core_are_not_called_those_of_the_time_stamp_counter(tmp_path: Path) -> None:
    found, read = [measurement("bandwidth", [1e12], unit="B/s")], {"operation": "read"}
    lines = [
        case(found, benchmark="bandwidth", backend="host", params=read | {"level": level})
        for level in ("l1", "l2", "dram")
    ]
    assert "TSC" not in map_text.text([hierarchy(load(tmp_path, lines, backend="host"))])


def test_an_older_run_has_cycles_of_the_time_stamp_counter() -> None:
    for name, words in ((H200, "B/cycle: per SM."), (CPU, "TSC cycles. B/cycle: per core.")):
        assert f"\n{words} *: " in map_text.text([hierarchy(excerpt(name))])


def test_a_number_that_is_cut_says_so(tmp_path: Path) -> None:
    long = [stream(level, 16, 1.234567e29) for level in ("l1", "l2", "dram")]
    told = map_text.text([hierarchy(gpu(tmp_path, long))])
    assert max(map(cell_len, told.splitlines())) <= map_text.WIDE
    assert "…" in told
    assert "PB/s" not in told


def test_summary_draws_the_map_of_one_run_and_of_two(tmp_path: Path) -> None:
    one = write_run(tmp_path / "a", LINES, header=context(**FACTS))
    two = write_run(tmp_path / "b", LINES, header=context(run="other", **FACTS))
    done = strata("summary", "--map", one)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == len(map_text.text([hierarchy(load_run(one))]).split("\n"))
    both = strata_process("summary", "--map", one, two, PYTHONIOENCODING="ascii")
    assert both.returncode == 0
    assert both.stdout.isascii()
    assert both.stdout.startswith("A Test Device (test-device-20260102T030405Z-abcdef0)\nB ")
    assert "> 2" not in both.stdout
    for words, said in (
        (("summary", one, two), "found 2 runs; expected one, or --map"),
        (("summary", "--map", one, one), "twice"),
        (("summary", "--map", one, DATA / "synthetic-cpu-20260101T000000Z-0000000"), "one kind"),
    ):
        done = strata(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_comparison_has_the_map(tmp_path: Path) -> None:
    one = write_run(tmp_path / "a", LINES, header=context(**FACTS))
    two = write_run(tmp_path / "b", LINES, header=context(run="other", **FACTS))
    edit(two / "context.json", "Test Device", "Other Device")
    edit(two / "context.json", "test-device", "other-device")
    done = strata("compare", one, two, "-o", tmp_path / "out")
    assert done.returncode in (0, 1), done.stderr
    assert "hierarchy_map.png" in {path.name for path in (tmp_path / "out").iterdir()}
