"""What a comparison prints, writes and draws, and how the command ends."""

import csv
import json
import re
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from msgspec.structs import replace
from test_headlines import CHIP, L2, PARTITION

from builders import (
    COUNTED_RUN,
    DATA,
    GPU_RUN,
    HOST_RUN,
    case,
    context,
    context2,
    load,
    measurement,
    strata,
    write_run,
)
from compare_runs import World, row, run_of, sampled
from plots import drawn, points_of
from strata import cli, reference
from strata.compare import Comparison, Settings, compare, compare_all, devices, words
from strata.compare.changes import records
from strata.figures import _compare_changes, _compare_devices
from strata.figures.published import LATENCIES
from strata.model import plain
from strata.model.hierarchy import hierarchy
from strata.reference import published
from strata.report import comparison as comparison_files
from strata.run import Row, Run, RunError, load_run

SMALL = World(benchmarks=6, cases=30, samples=15, spread=0.002, between=0.0005)


def written(folder: Path, name: str, factor: float = 1.0, **changes: object) -> Path:
    """A run of 60 quiet cases of layout_read, the first times `factor`."""
    rng = np.random.default_rng(21)
    lines = [
        case(
            [
                measurement(
                    samples=((factor if place == 0 else 1.0) * rng.normal(100, 0.05, 9)).tolist()
                )
            ],
            params={"size": place},
            schema_version=2,
        )
        for place in range(60)
    ]
    return write_run(folder / name, lines, header=context2(run=name, **changes))


def found(seed: int = 22) -> Comparison:
    """Six benchmarks, two slower rows and one faster one."""
    rng = np.random.default_rng(seed)
    hurt = {(0, 3): 0.06, (1, 5): 0.05, (2, 7): -0.05}
    return compare(
        sampled(SMALL, rng, name="before"), sampled(SMALL, rng, name="after", changed=hurt)
    )


# --- power ----------------------------------------------------------------------------------------


def noisy(folder: Path, name: str, spread: float = 30.0) -> Path:
    """A run of 40 cases whose samples differ by `spread` percent."""
    rng = np.random.default_rng(len(name))
    lines = [
        case([measurement(samples=rng.normal(100, spread, 9).clip(1).tolist())], params={"size": n})
        for n in range(40)
    ]
    return write_run(folder / name, lines, header=context(run=name))


def test_a_comparison_without_power_does_not_look_like_nothing_changed(tmp_path: Path) -> None:
    runs = noisy(tmp_path, "before"), noisy(tmp_path, "after")
    done = strata("compare", *runs)
    assert done.returncode == 0, done.stderr
    assert "0 slower, 0 faster, 0 changed" in done.stdout
    text = "It could not have seen a change of 2.0\u00a0%, so it does not show that nothing changed"
    assert text in done.stdout
    assert "in 0 of 40 timed rows, alone (0) or with their whole family" in done.stdout
    done = strata("compare", *runs, "--require-power", "2%")
    assert done.returncode == 1
    assert "strata: --require-power: Test Device" in done.stderr
    assert text in done.stderr
    assert strata("compare", *runs, "--require-power", "900%").returncode == 0


@pytest.mark.parametrize(("size", "status"), [("3%", 0), ("0.03", 0), ("3 %", 0), ("2%", 1)])
def test_a_quiet_comparison_has_the_required_power(size: str, status: int, tmp_path: Path) -> None:
    before, after = written(tmp_path, "before"), written(tmp_path, "after")
    done = strata("compare", before, after, "--require-power", size)
    assert done.returncode == status, done.stderr
    assert ("It could have seen a change of" in done.stdout) == (status == 0)


@pytest.mark.parametrize("size", ["much", "-2%", "2%%", "nan", "2000%", "2"])
def test_a_size_that_is_none_is_bad_input(size: str, tmp_path: Path) -> None:
    before, after = written(tmp_path, "before"), written(tmp_path, "after")
    done = strata("compare", before, after, f"--require-power={size}")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_of_runs_is_not_one_run(tmp_path: Path) -> None:
    shutil.copytree(COUNTED_RUN, tmp_path / COUNTED_RUN.name)
    done = strata("compare", tmp_path)
    assert done.returncode == 2
    assert re.search("found a folder of 1 run; expected one run folder", done.stderr)


def test_devices_side_by_side_have_no_power() -> None:
    assert list(words.without_power(())) == ["no two runs of one device were compared"]


def test_rows_that_were_not_compared_notice_nothing(tmp_path: Path) -> None:
    def run(name: str, invalid: int) -> Run:
        rng = np.random.default_rng(5)
        lines = [
            case(
                [measurement(samples=rng.normal(100, 0.01, 9).tolist())],
                params={"size": place},
                gates=[("result", "failed" if place < invalid else "passed", "")],
            )
            for place in range(60)
        ]
        return load_run(write_run(tmp_path / name, lines, header=context(run=name)))

    most, few = (
        compare(run(f"a{count}", count), run(f"b{count}", 0), Settings(power=0.05))
        for count in (20, 31)
    )
    assert (len(most.noticeable()), len(most.rows), most.has_power) == (60, 40, True)
    assert (len(few.noticeable()), len(few.rows), few.has_power) == (60, 29, False)
    assert words.power(few).endswith("and not in half of them")


# --- the command ----------------------------------------------------------------------------------


def test_something_slower_is_exit_1_and_named(tmp_path: Path) -> None:
    before, after = written(tmp_path, "before"), written(tmp_path, "after", 1.2)
    done = strata("compare", before, after)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Test Device: after against before"
    assert lines[1].startswith("slower  layout_read warp_read_cycles (clock64_slope)  size=0 ")
    assert "+20\u00a0%" in lines[1]
    assert lines[2].startswith("60 timed rows: 1 slower, 0 faster, 0 changed, ")
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("factor", [1.0, 0.8])
def test_nothing_slower_is_exit_0(factor: float, tmp_path: Path) -> None:
    done = strata("compare", written(tmp_path, "before"), written(tmp_path, "after", factor))
    assert done.returncode == 0, done.stderr


def test_conditions_that_differ_are_a_warning_each_on_the_standard_error(tmp_path: Path) -> None:
    before = written(tmp_path, "before")
    after = written(tmp_path, "after", strata__flags="-O2", device__uuid="GPU-2")
    done = strata("compare", before, after, "-o", tmp_path / "out")
    lines = done.stderr.splitlines()
    expected = [
        "strata: warning: conditions differ, device.uuid: GPU-1 against GPU-2",
        "strata: warning: conditions differ, strata.flags: -O3 against -O2",
    ]
    assert [line for line in lines if "conditions differ" in line] == expected
    assert lines[0].startswith("strata: warning: two devices of one model")
    page = (tmp_path / "out" / "compare.md").read_text()
    assert "**Warning:** conditions differ, strata.flags: -O3 against -O2" in page
    assert "strata.flags" in (tmp_path / "out" / "compare.tex").read_text()


def test_runs_of_the_same_code_are_requested_and_taken(tmp_path: Path) -> None:
    runs = [written(tmp_path, name) for name in ("before", "after", "again")]
    assert "no runs of the same code" in strata("compare", *runs[:2]).stderr
    done = strata("compare", *runs[:2], "--same", runs[2])
    assert (done.returncode, done.stderr) == (0, "")
    assert "from runs of the same code (before, again)" in done.stdout


def test_different_devices_stand_side_by_side(tmp_path: Path) -> None:
    done = strata("compare", COUNTED_RUN, HOST_RUN, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "A warp reads 32 particles" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {
        "compare.html",
        *(f"devices.{kind}" for kind in ("csv", "md", "tex", "svg", "png", "pdf")),
    }


def test_what_differs_comes_first_and_what_is_equal_is_folded() -> None:
    def run(slug: str, by: float) -> Run:
        cycles = {"dadd": 8, "fadd": 4 * by, "ffma": 4 / by**3}
        rows = [row("instruction_cost", case, [value] * 7, quantity="operation_cycles",
                    unit="cycle", operation=name, ilp=1, warps_per_sm=1)
                for case, (name, value) in enumerate(cycles.items())]  # fmt: skip
        memory = round(2**30 * by**2)
        return run_of(rows, slug, device__slug=slug, device__facts={"memory_bytes": memory})

    runs = [run("a", 1), run("b", 1.5)]
    (part,) = words.sections((), devices.side_by_side(runs))
    lines = list[str]()
    words.show(part, lines.append, drawn=False)
    text = "\n".join(lines)
    places = [text.index(word) for word in (", ffma (", "memory bytes", ", fadd (", "dadd 8.00")]
    assert places == sorted(places)
    assert "\nEqual within 1 %" in text


def test_json_has_every_row_of_a_comparison_and_every_number_of_devices(tmp_path: Path) -> None:
    done = strata("compare", GPU_RUN, COUNTED_RUN, "--json", "-o", tmp_path)
    (one,) = json.loads(done.stdout)["comparisons"]
    table = list(csv.DictReader(StringIO((tmp_path / "compare.csv").read_text())))
    assert [line["case"] for line in one["rows"]] == [line["case"] for line in table]
    assert all(isinstance(line["before"], float) for line in one["rows"])
    beside = json.loads(strata("compare", COUNTED_RUN, HOST_RUN, "--json").stdout)
    assert not beside["comparisons"]
    assert {line["run"] for line in beside["devices"]} == {COUNTED_RUN.name, HOST_RUN.name}


def test_only_the_named_benchmarks_are_compared(tmp_path: Path) -> None:
    done = strata("compare", GPU_RUN, COUNTED_RUN, "--only", "timer_check", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = list(csv.DictReader(StringIO((tmp_path / "compare.csv").read_text())))
    assert {line["benchmark"] for line in lines} == {"timer_check"}


def test_bad_input_is_one_line_exit_2_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def bad(*arguments: str | Path) -> str:
        with pytest.raises(SystemExit) as end:
            cli.main(["compare", *map(str, arguments)])
        assert end.value.code == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        (line,) = printed.err.splitlines()
        return line

    before, after = written(tmp_path, "before"), written(tmp_path, "after")
    out = tmp_path / "out"
    assert "two or more" in bad(before, "-o", out)
    assert "twice" in bad(before, before, "-o", out)
    assert "nothing there" in bad(before, tmp_path / "nowhere", "-o", out)
    assert "no row of tlb" in bad(before, after, "--only", "tlb", "-o", out)
    assert "false_alarm" in bad(before, after, "--false-alarm", "0", "-o", out)
    assert "min_change" in bad(before, after, "--min-change", "nan", "-o", out)
    other = written(tmp_path, "other", device__slug="other")
    assert "normalised" in bad(before, other, "-o", out)
    torn = tmp_path / "torn"
    shutil.copytree(after, torn)
    (torn / "samples.jsonl").write_text("{}\n")
    assert "schema_version" in bad(before, torn, "-o", out)
    assert not out.exists()
    out.write_text("in the way")
    assert "cannot write" in bad(before, after, "-o", out)


# --- files ----------------------------------------------------------------------------------------


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        runs = [load_run(COUNTED_RUN), load_run(HOST_RUN)]
        comparison_files.write([found()], devices.side_by_side(runs), tmp_path / name)
    files = sorted((tmp_path / "one").iterdir())
    assert len(files) == 14
    for file in files:
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name


def test_the_table_has_every_timed_row_every_changed_count_and_what_was_left_out() -> None:
    def run(name: str, value: float) -> Run:
        rows = [
            row(case=0), row(case=1, valid=name == "before"),
            row(case=2, taken=[value], provenance="counted"),
            row(case=3, taken=[1.0], provenance="counted"),
        ]  # fmt: skip
        return run_of(rows, name)

    comparison = compare(run("before", 1.0), run("after", 2.0))
    lines = list(csv.DictReader(StringIO(words.data([comparison]).decode())))
    assert [(line["case"][-1], line["verdict"], line["reason"]) for line in lines] == [
        ("0", "undecided", ""),
        ("2", "changed", ""),
        ("1", "not compared", "invalid after"),
    ]
    assert lines[0]["before"] == "10.0"


def test_a_table_for_a_paper_and_a_page_has_the_same_alarms(tmp_path: Path) -> None:
    comparison = found()
    comparison_files.write([comparison], None, tmp_path)
    assert comparison.verdicts()["slower"] == 2
    for kind in ("md", "tex"):
        text = (tmp_path / f"compare.{kind}").read_text()
        assert "slower" in text
        assert all(row.params["size"] in text for row in comparison.flagged().before)
    assert (tmp_path / "compare.tex").read_text().count(r"\toprule") == 2


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.00 %"), (0.0004, "+0.04 %"), (-0.0251, "−2.5 %"), (0.31, "+31 %"),
        (1.5, "2.50×"), (float("inf"), "no limit"), (-0.00001, "0.00 %"),
    ],
)  # fmt: skip
def test_changes_are_written_as_people_say_them(share: float, text: str) -> None:
    assert words.percent(share).replace("\u00a0", " ") == text


def test_every_family_is_a_line_of_its_file() -> None:
    comparison = found()
    lines = list(csv.DictReader(StringIO(words.families_data([comparison]).decode())))
    assert [line["benchmark"] for line in lines] == [f"bench{at}" for at in range(6)]
    for line, one in zip(lines, records(comparison.families), strict=True):
        assert (line["rows"], line["verdict"], line["run_after"]) == ("30", one.verdict, "after")
        assert float(line["change"]) == pytest.approx(one.change, rel=1e-5)
        assert float(line["smallest_change_found"]) == pytest.approx(one.found, rel=1e-5)


def test_the_page_needs_no_network_and_closes_what_it_opens(tmp_path: Path) -> None:
    comparison_files.write(
        [found()], devices.side_by_side([load_run(COUNTED_RUN), load_run(HOST_RUN)]), tmp_path
    )
    page = (tmp_path / "compare.html").read_text()
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "url(http" not in page
    assert page.count("<svg") == page.count("</svg>") == 2
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if len(link) > 1 and link[0] == "#"} <= set(ids)
    assert page.count("<table") == page.count("</table>") == 3
    assert "2 slower, 1 faster" in page


def test_a_terminal_has_the_first_alarms_and_all_of_devices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def texts(section: words.Section, *, drawn: bool) -> list[str]:
        lines: list[str] = []
        words.show(section, lines.append, drawn=drawn)
        return "\n".join(lines).splitlines()

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(words, "SHOWN", 2)
    comparison = words.sections([found()])[0]
    plain, drawn = texts(comparison, drawn=False), texts(comparison, drawn=True)
    assert [line.split()[0] for line in plain[1:4]] == ["slower", "slower", "and"]
    assert plain[3] == "and 1 more"
    assert drawn[-len(plain[3:]) :] == plain[3:]
    assert sum("slower" in line and "bench" in line for line in drawn[:-4]) == 2
    (beside,) = words.sections(
        (), devices.side_by_side([load_run(COUNTED_RUN), load_run(HOST_RUN)])
    )
    for lines in texts(beside, drawn=False), texts(beside, drawn=True):
        text = "\n".join(lines)
        assert all(table.title.partition(" (")[0] in text for table in beside.tables)


# --- figures --------------------------------------------------------------------------------------


def test_every_row_is_a_dot_and_every_alarm_is_named() -> None:
    comparison = found()
    with drawn(_compare_changes.plot_of([comparison])) as figure:
        (ax,) = figure.axes
        dots = {line.get_label(): len(points_of(line)) for line in ax.lines}
        for verdict in _compare_changes.LOOKS:
            assert dots.get(verdict, 0) == comparison.verdicts()[verdict]
        (ranges,) = (one for one in ax.collections if isinstance(one, LineCollection))
        assert len(ranges.get_segments()) == 3
    names = [*_compare_changes.below(comparison)]
    assert sum(line.startswith("slower, ") for line in names) == 2
    assert sum(line.startswith("faster, ") for line in names) == 1


def test_two_comparisons_stand_below_each_other_and_name_what_differs() -> None:
    rng = np.random.default_rng(23)
    runs = [sampled(SMALL, rng, name=name) for name in ("a", "b")]
    other = run_of(sampled(SMALL, rng).rows, "c", build__flags="-O0")
    comparisons, beside = compare_all([*runs, other], Settings())
    assert beside is None
    assert [one.settings.false_alarm for one in comparisons] == [0.005, 0.005]
    with drawn(_compare_changes.plot_of(comparisons)) as figure:
        assert [ax.get_title("left") for ax in figure.axes] == ["b", "c"]
        assert "WARNING, conditions differ: strata.flags" in figure.get_supxlabel()


# --- devices --------------------------------------------------------------------------------------


def values(side: devices.Devices) -> dict[tuple[str, str], list[float | None]]:
    """The numbers of each panel and label, by device."""
    found: dict[tuple[str, str], list[float | None]] = {}
    for line in records(side.numbers):
        of = found.setdefault((line.panel, line.label), [None] * len(side.names))
        of[line.at] = line.value
    return found


def rate(value: float, clock: float, *, valid: bool = True) -> list[Row]:
    """Operations per second of a case and the clock under them."""
    return [
        row(
            "ceilings", 0, [value] * 7, quantity="flops_per_second", unit="FLOP/s", valid=valid,
            arithmetic="fp32",
        ),
        row("ceilings", 0, [clock] * 7, quantity="core_clock", unit="Hz", arithmetic="fp32"),
    ]  # fmt: skip


def test_rates_are_by_the_clock_of_their_case_and_by_what_shares_the_work() -> None:
    def run(name: str, sms: int, value: float, clock: float) -> Run:
        return run_of(
            rate(value, clock), name, device__slug=name, device__facts={"sm_count": sms}
        )  # fmt: skip

    side = devices.side_by_side([run("a", 100, 25.6e12, 2e9), run("b", 10, 1.28e12, 1e9)])
    assert [panel.unit for panel, _ in devices.panels(side)] == ["FLOP/cycle/SM or core"]
    assert values(side) == {("arithmetic", "fp32"): pytest.approx([128, 128])}


def test_the_best_row_of_a_label_is_shown_in_the_unit_of_its_panel() -> None:
    rows = [
        one
        for case, times in enumerate((1, 2, 0.5))
        for one in (
            row("instruction_cost", case, [4 * times] * 7, quantity="operation_cycles",
                unit="cycle", operation="ffma", ilp=1, warps_per_sm=1),
            row("bandwidth", case, [4e12 * times] * 7, quantity="bandwidth", unit="B/s",
                level="dram", operation="read"),
            row("layout_read", case, [2e12 * times] * 7, quantity="useful_bandwidth", unit="B/s",
                fields="all", layout="soa", residency="dram"),
        )
    ]  # fmt: skip
    rows.sort(key=lambda one: one.benchmark)
    two = [run_of(rows, name, device__slug=name) for name in ("a", "b")]
    found = {panel: numbers for (panel, _), numbers in values(devices.side_by_side(two)).items()}
    assert found == {"bandwidth_all": [8000, 8000], "of_ceiling": [50, 50], "instructions": [2, 2]}


@pytest.mark.parametrize(
    ("benchmark", "gpus", "cores"), [("serial", 1, 1), ("tiled", 1, 10), ("several_gpus", 2, 20)]
)
def test_cycles_are_of_all_that_share_the_work(benchmark: str, gpus: int, cores: int) -> None:
    clock = row(benchmark, 0, [2e9] * 7, quantity="core_clock", unit="Hz", gpus=gpus)
    divisor = devices._cycles(run_of([clock], device__facts={"sm_count": 10}))
    assert divisor(clock) == 2e9 * cores


def test_cycles_of_a_time_stamp_counter_are_named() -> None:
    two = [
        run_of([
            row("instruction_cost", 0, [5.0] * 7, quantity="operation_cycles", unit=unit,
                operation="fadd", ilp=1, warps_per_sm=1),
        ], name)
        for name, unit in (("a", "tsc_cycle"), ("b", "cycle"))
    ]  # fmt: skip
    found = devices.side_by_side(two)
    warnings = [line for line in found.warnings if "time-stamp" in line]
    assert warnings == ["cycles of a are those of its time-stamp counter, not of a core"]


def test_invalid_numbers_and_rates_without_a_clock_are_left_blank() -> None:
    def run(name: str, rows: list[Row]) -> Run:
        return run_of(rows, name, device__slug=name, device__facts={"sm_count": 1})

    sound = run("a", rate(1e12, 1e9))
    broken, clockless = run("b", rate(1e12, 1e9, valid=False)), run("c", rate(1e12, 1e9)[:1])
    for other in (broken, clockless):
        with pytest.raises(RunError, match="no normalised number"):
            devices.side_by_side([sound, other])
        (numbers,) = values(devices.side_by_side([sound, sound, other])).values()
        assert numbers[2] is None


def test_lines_in_which_devices_differ_are_drawn_and_the_others_counted() -> None:
    with_fp64 = [one for at, value in enumerate((1e12, 2e12)) for one in (
        row("ceilings", at, [value] * 7, quantity="flops_per_second", unit="FLOP/s",
            arithmetic=("fp32", "fp64")[at]),
        row("ceilings", at, [1e9] * 7, quantity="core_clock", unit="Hz",
            arithmetic=("fp32", "fp64")[at]),
    )]  # fmt: skip
    slower = [replace(one, value=one.value / 2) if one.case.endswith("1") and one.unit != "Hz"
              else one for one in with_fp64]  # fmt: skip
    runs = [run_of(rows, name, device__slug=name, device__facts={"sm_count": 1})
            for name, rows in (("a", with_fp64), ("b", slower))]  # fmt: skip
    _, plot = _compare_devices.plots_of(devices.side_by_side(runs))
    with drawn(plot) as figure:
        (ax,) = figure.axes
        assert [label.get_text() for label in ax.get_yticklabels()] == ["fp64"]
        assert "1 lines without two devices that differ by 3%" in figure.get_supxlabel()


# --- published devices and curves -----------------------------------------------------------------


def loads(name: str, cycles: float, *, clock: float = 2e9) -> Run:
    """A GPU whose loads take `cycles` out of L1, ten times as many from L2, and so on."""
    sizes = {2048: 1, 4096: 1, 1 << 20: 10, 2 << 20: 10, 1 << 28: 20, 1 << 29: 20}
    rows = []
    for footprint, times in sizes.items():
        axes: dict[str, Any] = {
            "space": "global_ca",
            "cores": "one",
            "footprint": footprint,
            "stride": 128,
        }
        also = {**axes, "space": "global_cg"}
        for place in (axes, also):
            for unit, value in (("cycle", cycles * times), ("s", cycles * times / clock)):
                quantity = "load_cycles" if unit == "cycle" else "load_time"
                method = "clock64_slope" if unit == "cycle" else "event_slope"
                rows.append(
                    row(
                        "latency_vs_footprint", footprint, [value] * 7, quantity=quantity,
                        unit=unit, method=method, **place,
                    )
                )  # fmt: skip
    rows.sort(key=lambda one: one.case)
    return run_of(
        rows, name, device__slug=name, device__name=name, device__facts={"l2_bytes": 8 << 20}
    )


def test_later_devices_are_over_the_first() -> None:
    side = devices.side_by_side([loads("a", 30.0), loads("b", 45.0), loads("c", 15.0)])
    (section,) = words.sections((), side)
    (table,) = (one for one in section.tables if "(cycles; " in one.title)
    assert table.header[-2:] == ("b, over the first", "c, over the first")
    for line in table.rows:
        assert [plain(cell) for cell in line[-2:]] == ["1.5×", "0.5×"]


def test_loads_stand_in_cycles_and_nanoseconds_and_published_ones_with_their_sources() -> None:
    side = devices.side_by_side([loads("a", 32.0), loads("b", 32.0, clock=1e9)], ["V100"])
    assert side.names == ("a", "b", "V100, published")
    lines = values(side)
    assert {panel for panel, _ in lines} == {"load", "load_time"}
    assert lines["load", "L1"][:2] == pytest.approx([32, 32])
    assert lines["load_time", "L1"] == [pytest.approx(16), pytest.approx(32), None]
    of = side.numbers[(side.numbers.label == "L1") & (side.numbers["at"] == 2)]
    (theirs,) = records(of)  # of cycles: no clock is supposed
    assert theirs.row is None
    known: list[tuple[float, float] | None] = [
        one.value.bounds
        for one in reference.latencies()
        if one.gpu.startswith("V100") and (one.level, one.unit) == ("l1", "cycles")
        if one.metric not in published._OTHER_METRICS and not one.origin.doubt
    ]
    assert theirs.low == min(low for low, _ in filter(None, known))
    assert theirs.high == max(high for _, high in filter(None, known))
    assert theirs.low < theirs.high
    assert theirs.value == (theirs.low + theirs.high) / 2
    assert theirs.cited.startswith("[")
    assert any("Jia" in note for note in devices.notes(side))
    (line,) = [
        line
        for line in csv.DictReader(StringIO(words.devices_data(side).decode()))
        if (line["panel"], line["label"], line["device"]) == ("load", "L1", "V100, published")
    ]
    assert (line["run"], line["case"], line["sources"]) == ("", "", theirs.cited)


def test_the_parts_of_l2_are_those_of_the_map(tmp_path: Path) -> None:
    clock = measurement("core_clock", [2e9], unit="Hz", method="clock64_over_globaltimer")
    parts = PARTITION | {"measurements": [*PARTITION["measurements"], clock]}
    others = [line for line in CHIP if line is not PARTITION]
    run = load(tmp_path, [*others, parts], device__l2_bytes=L2)
    found = hierarchy(run)
    lines = values(devices.side_by_side([run, run]))
    for level, label, cycles in (
        ("l2", "L2, one SM", 281.0),
        ("l2_near", "L2, near part", 290.0),
        ("l2_far", "L2, far part", 488.0),
    ):  # fmt: skip
        shown = found.numbers(level)
        for panel, what, scale in (("load", "cycles", 1.0), ("load_time", "time", 1e-9)):
            one, value = lines.get((panel, label), [None])[0], shown[what].value
            assert value or level == "l2"  # a chain that no outside timer saw
            assert one == pytest.approx(value and value / scale)
        assert shown["cycles"].value == cycles
    assert LATENCIES["l2"][0] == "L2"  # there too the near part is another number


def test_only_beside_a_cpu_a_note_explains_the_cycles() -> None:
    gpu, cpu = (
        load_run(next(DATA.glob(f"excerpt-{name}*")))
        for name in ("nvidia-h200-*-0683d2f", "intel-xeon-processor")
    )
    with_cpu, without = (devices.side_by_side([gpu, other]) for other in (cpu, gpu))
    for found, expected in ((with_cpu, True), (without, False)):
        assert (devices.CPU_CYCLES in " ".join(devices.notes(found)[:1])) == expected


def test_a_run_is_shown_beside_published_devices_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (h200,) = DATA.glob("excerpt-nvidia-h200-*-0683d2f")
    done = strata("compare", h200, "--with", "a100,V100", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a100, published" in done.stdout
    assert "[" in (tmp_path / "devices.md").read_text()
    with pytest.raises(SystemExit) as end:
        cli.main(["compare", str(h200), "--with", "A100,B999"])
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no published device 'B999'; expected one of A100, " in line
    assert "V100 SXM2" in line


def test_the_page_of_two_devices_begins_with_their_map(tmp_path: Path) -> None:
    names = ("excerpt-nvidia-h200", "map-nvidia-h100")
    runs = [load_run(next(DATA.glob(f"{name}-*"))) for name in names]
    comparison_files.write((), devices.side_by_side(runs), tmp_path)
    page = (tmp_path / "compare.html").read_text()
    assert page.count('aria-label="The levels of memory') == 1
    assert page.index('aria-label="The levels of memory') < page.index("<h2>")


def test_a_warp_read_is_that_of_the_summary_by_one_set_of_cores() -> None:
    def of(cores: str, case: int, cycles: float) -> Row:
        return row("layout_read", case, [cycles] * 7, quantity="warp_read_cycles", unit="cycle",
                   block_size=32, cores=cores, fields="all", layout="aoas", residency="dram",
                   warps_per_sm=1)  # fmt: skip

    runs = [
        run_of([of("all", 0, 817 * by), of("one", 1, 806 * by)], name, device__slug=name)
        for name, by in (("a", 1), ("b", 2))
    ]
    assert [*values(devices.side_by_side(runs)).values()] == [[817, 1634]]
