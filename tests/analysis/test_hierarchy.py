"""The map of the memory hierarchy: its numbers, why some are missing, the drawing, the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from test_headlines import CHIP, L2, PARTITION, chase, stream, tlb

from builders import DATA, case, context, load, measurement, strata, strata_process, write_run
from charts import data_of
from plots import bars_of, check_texts_of, plot_named, plotted
from strata.figures.hierarchy_map import LEAST
from strata.model import plain
from strata.model.hierarchy import UNLIMITED, UNMEASURED, Hierarchy, hierarchy
from strata.report import map_text, sentences
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


def test_the_reach_of_the_tlb_is_its_knee_or_what_could_be_walked(tmp_path: Path) -> None:
    run = gpu(tmp_path / "knee")
    reach = hierarchy(run).numbers("dram")["reach"]
    assert (reach.text, reach.why) == ("1\u00a0GiB", TAKES)
    assert reach.row
    assert reach.row.params["footprint"] == f"{16 * L2}"
    (sentence,) = [s for one in sentences.sentences(run) if (s := plain(one)).startswith("The TLB")]
    assert sentence.replace("\u00a0", " ") == (
        "The TLB reaches 1 GiB: a load that L2 serves takes 280.0 cycles over such a chain, and "
        "500.0 cycles over 4 GiB."
    )
    flat = gpu(tmp_path / "flat", [tlb(size * L2, 280) for size in (2, 4, 8, 16, 32)])
    assert texts(hierarchy(flat), "dram")["reach"] == "≥ 2 GiB"
    (sentence,) = map(plain, sentences.PARTS["the reach of the TLB"](flat))
    assert sentence == "The TLB reaches 2\u00a0GiB or more: no longer chain could be measured."
    assert not list(sentences.PARTS["the reach of the TLB"](gpu(tmp_path / "none", [PARTITION])))


def test_bytes_per_cycle_are_by_the_clock_of_the_kernel(tmp_path: Path) -> None:
    line = stream("l1", 16, 33e12)
    by_events = line["measurements"][1]
    line["measurements"].append(by_events | {"samples": [34.0], "method": "clock64_slope"})
    assert texts(hierarchy(gpu(tmp_path, [line])), "l1")["per_core"] == "34.00 B/cycle"


# --- what is missing


def test_a_missing_number_has_a_reason(tmp_path: Path) -> None:
    left = case(
        benchmark="peer_copy", params={"by": "copy_engine", "bytes": 4, "direction": "read"},
        status="skipped", reason="one\nGPU",
    )  # fmt: skip
    noisy = measurement("load_time", [1], unit="s", noise="failed", detail="half-width 9 %")
    found = hierarchy(gpu(tmp_path, [chase("shared", 4096, 23, extra=[noisy]), left]))
    assert reasons(found, "registers") == {"time": UNMEASURED, "bandwidth": UNMEASURED}
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
    printed = map_text.text([found])
    boxes = [line for line in printed.splitlines() if line.startswith("│")]
    assert not any("77" in line or "123" in line for line in boxes)
    lines_of = {line["number"]: line for line in data_of(FIGURE, run) if line["level"] == "l1"}
    assert (lines_of["cycles"]["valid"], lines_of["cycles"]["value"]) == ("false", "")


# --- the figure


def test_boxes_end_at_their_sizes_and_unknown_ones_are_dashed(tmp_path: Path) -> None:
    run = gpu(tmp_path, device__memory_bytes="many")
    with plotted(FIGURE, run) as figure:
        boxes = bars_of(figure)
        ends = {box.get_x() + box.get_width() for box in boxes if box.get_linestyle() == "solid"}
        assert ends == {L2, 256 * 1024, 217 * 1024, 228 * 1024, 8 * GIB}
        assert all(box.get_x() == LEAST for box in boxes)
        assert sum(box.get_linestyle() == "--" for box in boxes) == 2  # memory, the peer


# --- the table and the terminal


def test_the_terminal_has_boxes_of_at_most_100_columns(tmp_path: Path) -> None:
    evil = "\x1b[31mevil\n" * 9
    load_of = chase("mapped", 4096, 2000)
    load_of["measurements"][0]["unit"] = evil
    run = gpu(tmp_path, [*LINES, load_of], device__name=evil + "宽" * 90)
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
    for maps in ([hierarchy(run)], [hierarchy(excerpt(one)) for one in (H200, H100)]):
        printed = map_text.text(maps)
        assert max(map(cell_len, printed.splitlines())) <= map_text.WIDE
        edges = [line for line in printed.splitlines() if line[0] in "┌│└"]
        assert len({cell_len(line) for line in edges}) == 1
        assert "\x1b" not in printed
    assert "64 GiB*" in map_text.text([hierarchy(run)]).replace("\u00a0", " ")


def test_copies_in_both_directions_are_in_the_column_of_bandwidths(tmp_path: Path) -> None:
    printed = map_text.text([hierarchy(gpu(tmp_path))]).replace("\u00a0", " ")

    def end(number: str) -> int:
        (line,) = (line for line in printed.splitlines() if f" {number} " in line)
        return line.index(number) + len(number)

    assert end("55.0 GB/s") == end("54.0 GB/s") == end("33.0 TB/s")
    assert end("1 GiB") == end("64 GiB*")


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
    for words, sentence in (
        (("summary", one, two), "found 2 runs; expected one, or --map"),
        (("summary", "--map", one, one), "twice"),
        (("summary", "--map", one, DATA / "synthetic-cpu-20260101T000000Z-0000000"), "one kind"),
    ):
        done = strata(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1
