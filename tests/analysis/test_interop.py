"""Other tools' files: what comes in is a sound run, what goes out is what they read."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median, stdev
from typing import Any

import pandas as pd
import pytest

from builders import DATA, GPU_RUN, HOST_RUN, SCHEMAS, case, load, measurement
from strata import interop
from strata.cli import main
from strata.interop import google_benchmark, nsight_compute
from strata.run import METRIC, Row, Run, RunError, frame, load_run
from strata.run.validate import findings

FILES = DATA / "interop"
GOOGLE = FILES / "google_benchmark.json"
RAW = FILES / "nsight_compute_raw.csv"
DETAILS = FILES / "nsight_compute_details.csv"
SETS = Path(__file__).parents[2] / "harness" / "counters" / "sets"
FMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"


def imported(file: Path, folder: Path) -> Run:
    return load_run(interop.bring_in(file, folder))


def rows_of(run: Run, benchmark: str) -> dict[tuple[str, str], Row]:
    return {(r.quantity, r.method): r for r in run.rows if r.benchmark == benchmark}


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([f"{word}" for word in words])
    return int(left.value.code or 0)


def google(folder: Path, *benchmarks: dict[str, Any], **context: Any) -> Path:
    """A file of Google Benchmark's: the recorded one with another context, or other benchmarks."""
    data = json.loads(GOOGLE.read_text(encoding="utf-8"))
    if benchmarks:
        data = {"context": {}, "benchmarks": benchmarks}
    data["context"] |= context
    file = folder / "g.json"
    file.write_text(json.dumps(data))
    return file


def recorded() -> list[dict[str, Any]]:
    """The entries of the recorded file."""
    entries: list[dict[str, Any]] = json.loads(GOOGLE.read_text(encoding="utf-8"))["benchmarks"]
    return entries


def changed(file: Path, folder: Path, change: Callable[[str], str]) -> Path:
    text = file.read_text(encoding="utf-8")
    other = change(text)
    assert other != text
    copy = folder / file.name
    copy.write_text(other, encoding="utf-8")
    return copy


# --- in: whatever the format ----------------------------------------------------------------------


@pytest.mark.parametrize("file", [GOOGLE, RAW, DETAILS])
def test_a_file_becomes_a_run_that_keeps_the_contract(file: Path, tmp_path: Path) -> None:
    run, again = imported(file, tmp_path), imported(file, tmp_path / "again")
    assert findings(run) == ()
    assert run.context.state == "complete"
    for path in run.folder.iterdir():  # the same file makes the same bytes
        assert path.read_bytes() == (again.folder / path.name).read_bytes()
    # Two files are not taken for kernels of one source.
    assert run.context.build.source_digest.startswith("import-")
    for one in run.cases:
        if one.status == "measured":
            assert (one.gates[0].name, one.gates[0].verdict) == ("import", "unverified")
    jsonschema = pytest.importorskip("jsonschema")
    for name, lines in (
        ("context.schema.json", [(run.folder / "context.json").read_text()]),
        ("samples.schema.json", (run.folder / "samples.jsonl").read_text().splitlines()),
    ):
        schema = json.loads((SCHEMAS / "v2" / name).read_text())
        for line in lines:
            jsonschema.validate(json.loads(line), schema)


@pytest.mark.parametrize("file", [GOOGLE, RAW, DETAILS])
def test_every_command_takes_an_imported_run(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("import", file, "--to", tmp_path) == 0
    run = Path(capsys.readouterr().out.strip())
    assert command("validate", run) == 0
    assert command("summary", run) == 0
    assert command("report", run, "-o", tmp_path / "report") == 0
    assert (tmp_path / "report" / "report.html").is_file()


def test_a_run_is_not_written_over_unless_forced(tmp_path: Path) -> None:
    run = interop.bring_in(RAW, tmp_path)
    (run / "measurements.csv").write_text("mine")
    with pytest.raises(RunError, match="exists already"):
        interop.bring_in(RAW, tmp_path)
    assert (run / "measurements.csv").read_text() == "mine"
    interop.bring_in(RAW, tmp_path, force=True)
    assert findings(load_run(run)) == ()
    (run / "context.json").unlink()  # no run folder is never removed
    with pytest.raises(RunError, match="found a folder; expected an unused name"):
        interop.bring_in(RAW, tmp_path, force=True)
    assert (run / "samples.jsonl").is_file()


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("nothing.json", "", "an empty file"),
        ("words.txt", "ID,Kernel Name\n", "a file that begins"),
        ("list.json", "{]", "broken JSON"),
        ("other.json", "{}", "missing required field `context`"),
        ("none.json", '{"context": {}, "benchmarks": []}', "length >= 1 - at `benchmarks`"),
        ("nameless.json", '{"context": {}, "benchmarks": [{}]}', "`name` - at `benchmarks[0]`"),
        (
            "types.json",
            '{"context": {}, "benchmarks": [{"name": "a", "threads": "x"}]}',
            "Expected `int`, got `str` - at `benchmarks[0].threads`",
        ),
        ("error.csv", "==ERROR== ERR_NVGPUCTRPERM\n", "ERR_NVGPUCTRPERM"),
        ("header.csv", '"ID","Kernel Name"\n', "a table without a launch"),
    ],
)
def test_a_wrong_file_is_one_line_exit_2_and_leaves_nothing(
    name: str, content: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_text(content)
    out = tmp_path / "out"
    assert command("import", file, "--to", out) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert found in line
    assert f"{file}" in line
    assert not out.exists() or not any(out.iterdir())


# --- Google Benchmark in --------------------------------------------------------------------------


def test_repetitions_of_google_benchmark_are_samples_in_seconds(tmp_path: Path) -> None:
    run = imported(GOOGLE, tmp_path)
    assert (run.context.device.name, run.context.backend) == ("unknown", "host")
    assert run.context.started.startswith("2026-11-21T23:15:38")
    small, large = [one for one in run.cases if one.benchmark == "bm_copy"]
    assert small.id == "google_benchmark/bm_copy/host/arg0=64/repeats=3/type=float"
    name = "BM_copy<float>/64/repeats:3"
    theirs = [entry["real_time"] / 1e9 for entry in recorded() if entry["name"] == name]
    rows = {(r.quantity, r.method): r for r in run.rows if r.case == small.id}
    real = rows["real_time", "google_benchmark"]
    assert list(real.taken) == theirs
    assert (real.unit, real.provenance, real.value) == ("s", "timed", median(theirs))
    rate = rows["bytes_per_second", "google_benchmark"]
    assert (rate.unit, rate.provenance) == ("B/s", "timed")
    footprint = rows["footprint", "google_benchmark"]
    assert (footprint.unit, footprint.provenance, footprint.value) == ("unknown", "published", 512)
    assert large.params["arg0"] == "4096"


def test_units_names_errors_and_aggregates_of_google_benchmark(tmp_path: Path) -> None:
    run = imported(GOOGLE, tmp_path)
    cases = {one.benchmark: one for one in run.cases}
    entries = {entry["name"]: entry for entry in recorded()}
    named = cases["bm_named"]
    assert named.params == {"x": "1", "y_size": "2", "clock": "real_time", "threads": "2"}
    milliseconds = entries["BM_named/x:1/y size:2/real_time/threads:2"]["real_time"]
    assert rows_of(run, "bm_named")["real_time", "google_benchmark"].value == milliseconds / 1e3
    assert (cases["bm_fails"].status, cases["bm_fails"].reason) == ("failed", "no such device")
    # Nothing but aggregates was kept of it.
    summed = rows_of(run, "bm_summed")
    microseconds = entries["BM_summed/repeats:3_median"]["real_time"]
    assert summed["real_time", "google_benchmark_median"].value == microseconds / 1e6
    assert summed["real_time", "google_benchmark_median"].samples == 1
    assert not any("cv" in method or "stddev" in method for _, method in summed)


def test_a_repetition_that_failed_makes_the_case_invalid(tmp_path: Path) -> None:
    entries = recorded()
    entries[1] |= {"error_occurred": True, "error_message": "it fell over"}
    run = imported(google(tmp_path, *entries), tmp_path)
    row = next(r for r in run.rows if r.quantity == "real_time")
    assert (row.samples, row.valid) == (2, False)
    assert "1 of 3 failed: it fell over" in row.reasons


def test_a_counter_that_is_no_number_in_one_repetition_is_no_row(tmp_path: Path) -> None:
    entries = recorded()
    entries[1]["footprint"] = math.nan
    run = imported(google(tmp_path, *entries), tmp_path)
    small = next(one for one in run.cases if one.benchmark == "bm_copy")
    quantities = {row.quantity for row in run.rows if row.case == small.id}
    assert "real_time" in quantities
    assert "footprint" not in quantities


def test_names_that_become_the_same_stay_two_cases(tmp_path: Path) -> None:
    entries = [
        {"name": name, "real_time": time, "cpu_time": time, "time_unit": "s"}
        for name, time in (("BM a", 1.0), ("BM_a", 2.0))
    ]
    run = imported(google(tmp_path, *entries), tmp_path)
    ids = ["google_benchmark/bm_a/host", "google_benchmark/bm_a/host/same_name=2"]
    assert [one.id for one in run.cases] == ids
    assert [r.value for r in run.rows if r.quantity == "real_time"] == [1.0, 2.0]


@pytest.mark.parametrize("date", ["2016/08/02 17:44:46", "2026-11-21T23:15:38", 5, None])
def test_a_date_without_a_zone_is_no_date(date: object, tmp_path: Path) -> None:
    run = imported(google(tmp_path, date=date), tmp_path)
    assert "-undated-" in run.context.run
    assert json.loads((run.folder / "context.json").read_text())["imported"]["dated"] is False


def test_what_strata_bench_called_invalid_stays_invalid(tmp_path: Path) -> None:
    name = "micro/timer_check/host/residency=l1"
    entry = {
        "name": f"{name}/iterations:1/manual_time",
        "run_name": f"{name}/iterations:1/manual_time",
        "run_type": "iteration",
        "real_time": 5.0,
        "cpu_time": 1.0,
        "time_unit": "ns",
        "load_cycles:tsc_slope": 3.6,
        "label": "INVALID noise: half-width 246.87 % of the median",
    }
    file = google(tmp_path, entry, strata_version="0.1.0", device="Some CPU")
    run = imported(file, tmp_path)
    assert [one.id for one in run.cases] == [name]
    assert run.context.device.slug == "some-cpu"
    assert all(not row.valid for row in run.rows)
    cycles = next(row for row in run.rows if row.quantity == "load_cycles")
    assert (cycles.method, cycles.unit, cycles.provenance) == ("tsc_slope", "unknown", "published")


# --- Google Benchmark out -------------------------------------------------------------------------


def document(run: Run) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(google_benchmark.encode(run))
    return result


def test_the_export_has_the_form_of_a_real_file() -> None:
    theirs, ours = json.loads(GOOGLE.read_text()), document(load_run(GPU_RUN))
    assert theirs["context"].keys() <= ours["context"].keys()
    for kind in ("iteration", "aggregate"):
        real = next(e for e in recorded() if e["run_type"] == kind and "repeats" in e["name"])
        entries = [
            entry for entry in ours["benchmarks"]
            if entry["run_type"] == kind and not {"error_message", "skipped"} & entry.keys()
        ]  # fmt: skip
        assert entries
        known = google_benchmark.NO_COUNTER - {"label"}
        assert all(known & entry.keys() == known & real.keys() for entry in entries)
    timed = [e for e in ours["benchmarks"] if e["real_time"] > 0]
    first = timed[0]["repetitions"]
    suffixes = [e["aggregate_name"] for e in timed[first : first + 4]]
    assert suffixes == ["mean", "median", "stddev", "cv"]


def test_aggregates_are_those_of_the_samples() -> None:
    run = load_run(GPU_RUN)
    entries = document(run)["benchmarks"]
    name = next(e["run_name"] for e in entries if e.get("label", "").startswith("grid_time"))
    row = next(r for r in run.rows if r.case == name and r.quantity == "grid_time")
    here = {e.get("aggregate_name"): e for e in entries if e["run_name"] == name}
    times = [e["real_time"] for e in entries if e["name"] == name]
    assert times == pytest.approx([1e9 * sample for sample in row.taken])
    assert here["median"]["real_time"] == pytest.approx(1e9 * row.value)
    assert here["stddev"]["real_time"] == pytest.approx(stdev(times))
    assert here["cv"]["real_time"] == pytest.approx(stdev(times) / (sum(times) / len(times)))
    assert here["cv"]["aggregate_unit"] == "percentage"


def test_cases_without_a_time_have_0_and_those_without_a_valid_row_are_errors(
    tmp_path: Path,
) -> None:
    def timed(place: int, *rows: dict[str, Any], failed: bool = False) -> dict[str, Any]:
        gates = [("result", "failed" if failed else "passed", "")]
        return case(rows, params={"place": place}, gates=gates)

    time = measurement("grid_time", [1e-3, 2e-3], unit="s", method="event")
    cycles = measurement("load_cycles", [400.0, 200.0])
    clock = measurement("core_clock", [2e9, 2e9], unit="Hz", method="clock64")
    adds = measurement("core_clock", [4e9], unit="Hz", method="dependent_adds")
    stamps = measurement("tsc_frequency", [2e9], unit="Hz", method="tsc_over_monotonic")
    run = load(
        tmp_path,
        [
            timed(0, time),
            timed(1, time, failed=True),
            timed(2, measurement("useful_bandwidth", [1e9], unit="B/s")),
            timed(3, cycles, clock),
            timed(4, cycles),
            timed(5, {**cycles, "unit": "tsc_cycle"}, adds, stamps),
        ],
    )
    ours = document(run)
    first = {e["run_name"].rpartition("=")[2]: e for e in reversed(ours["benchmarks"])}
    assert {place for place, e in first.items() if e["real_time"] > 0} == {"0", "3", "5"}
    assert first["1"]["error_message"] == "INVALID result: failed"
    assert (first["2"]["label"], first["2"]["useful_bandwidth:clock64_slope"]) == ("no time", 1e9)
    assert (first["4"]["label"], first["4"]["load_cycles:clock64_slope"]) == ("no time", 400.0)
    assert ours["context"]["strata_errors"].startswith("1 of 6 cases")
    for place, clocked in (3, "core_clock"), (5, "tsc_frequency"):
        by_clock = [e for e in ours["benchmarks"] if e["name"].endswith(f"place={place}")]
        assert [e["real_time"] for e in by_clock] == pytest.approx([200.0, 100.0])
        assert by_clock[0]["label"] == f"load_cycles by clock64_slope, by {clocked}"


def test_rows_that_are_not_valid_do_not_go_out(tmp_path: Path) -> None:
    time = measurement("grid_time", [1e-3, 2e-3], unit="s", method="event")
    rate = measurement("useful_bandwidth", [1e9, 2e9], unit="B/s", method="event", noise="failed")
    cycles = measurement("load_cycles", [400.0, 200.0])
    clock = measurement("core_clock", [2e9, 2e9], unit="Hz", method="clock64", noise="failed")
    lines = [case(rows, params={"n": n}) for n, rows in enumerate([[time, rate], [cycles, clock]])]
    entries = document(load(tmp_path, lines))["benchmarks"]
    assert {e["run_name"].rpartition("=")[2] for e in entries if e["real_time"] > 0} == {"0"}
    assert not {key for entry in entries for key in entry} & {
        "core_clock:clock64", "useful_bandwidth:event"
    }  # fmt: skip


def losses(run: Run, file: Path, to: interop.Target) -> str:
    """What the export to a file reports, in at most one line."""
    told: list[str] = []
    interop.export(run, file, to=to, warn=told.append)
    assert len(told) <= 1
    return "".join(told)


EXCERPTS = (
    "excerpt-nvidia-h200-20261123T162625Z-f6fa469",
    "excerpt-nvidia-h100-80gb-hbm3-20261122T213744Z-c491cab",
    "excerpt-amd-epyc-20261123T110659Z-4a73bb0",  # no time at all
)


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, *(DATA / name for name in EXCERPTS)])
def test_a_run_goes_out_and_comes_back(folder: Path, tmp_path: Path) -> None:
    run = load_run(folder)
    file = tmp_path / "run.json"
    told = losses(run, file, "google-benchmark")
    back = imported(file, tmp_path)
    assert findings(back) == ()
    assert back.context.device.name == run.context.device.name
    assert back.context.backend == run.context.backend
    assert [case.id for case in back.cases] == [case.id for case in run.cases]
    known = {row.key: row for row in run.rows if row.valid}
    assert {row.key for row in back.rows} == known.keys()
    differ = 0
    for row in back.rows:
        theirs = known[row.key]
        assert row.valid
        assert row.taken == pytest.approx(theirs.taken, rel=1e-12)
        differ += row.value != pytest.approx(theirs.value, rel=1e-12)
        assert (row.unit, row.provenance, row.params) == (
            theirs.unit,
            theirs.provenance,
            theirs.params,
        )
    visits = re.search(r"([\d,]+) of [\d,]+ rows without the median of their visits", told)
    assert differ <= (int(visits[1].replace(",", "")) if visits else 0)
    invalid = len(run.rows) - len(known)
    assert ("not exported" in told) == (invalid > 0)
    assert not invalid or f"because they are invalid ({invalid:,})" in told


def test_skipped_failed_and_invalid_cases_come_back_with_their_reason(tmp_path: Path) -> None:
    gates = [("result", "failed", "wrong sum")]
    lines = [
        case([], params={"place": 0}, status="skipped", reason="no such unit"),
        case([], params={"place": 1}, status="failed", reason="out of memory"),
        case([measurement()], params={"place": 2}, gates=gates),
    ]
    file = tmp_path / "run.json"
    told = losses(load(tmp_path, lines), file, "google-benchmark")
    assert told == (
        "1 of 1 rows not exported, because they are invalid (1); "
        "1 of 3 cases as errors, because no row of them is valid"
    )
    assert [(one.status, one.reason) for one in imported(file, tmp_path).cases] == [
        ("skipped", "no such unit"),
        ("failed", "out of memory"),
        ("failed", "INVALID result: wrong sum"),
    ]


def test_more_samples_than_the_time_has_are_reported(tmp_path: Path) -> None:
    time = measurement("grid_time", [1e-3, 2e-3], unit="s", method="event")
    rate = measurement("useful_bandwidth", [1e9, 2e9, 4e9], unit="B/s", method="event")
    large = measurement("sum", [1e300], unit="1", method="event")
    file = tmp_path / "run.json"
    assert losses(load(tmp_path, [case([time, rate, large])]), file, "google-benchmark") == (
        "1 of 3 rows not exported, because they have a value beyond 1e+140 (1); "
        "1 of 3 rows with their value alone, because the time of their case has fewer samples"
    )
    rows = {row.quantity: row.taken for row in imported(file, tmp_path).rows}
    assert rows == {"grid_time": (1e-3, 2e-3), "useful_bandwidth": (2e9,)}


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("pyperf", "2 of 3 rows not exported, because the format holds one valid time"),
        ("google-benchmark", ""),
        ("csv", ""),
    ],
)
def test_an_export_reports_what_the_format_cannot_hold(
    to: interop.Target, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("a", "b", "c")
    run = load(tmp_path, [case([measurement(name, [1.0, 2.0], unit="s") for name in names])])
    assert command("export", run.folder, tmp_path / "file", "--to", to) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(f"strata: {told}") for line in lines] == [True] * bool(told)


COMPARE = Path(os.environ.get("COMPARE_PY", "/usr/share/benchmark/compare.py"))
"""Google Benchmark's own, as Debian's libbenchmark-tools has it."""
TOOLS: dict[interop.Target, tuple[list[str | Path], list[str]]] = {
    "google-benchmark": (
        [COMPARE, "--no-color", "benchmarks"], ["+0.0200", "U Test, Repetitions: 9 vs 9"]
    ),
    "pyperf": (
        ["-m", "pyperf", "compare_to"],
        ["/place=0: Mean +- std dev: [before] 1.00 ms +- 0.00 ms -> [after] 1.02 ms",
         "/place=1: Mean +- std dev: [before] 2.00 ms +- 0.00 ms -> [after] 2.04 ms"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("to", TOOLS)
def test_their_comparison_takes_two_of_ours(to: interop.Target, tmp_path: Path) -> None:
    if to == "pyperf":
        pytest.importorskip("pyperf")
    elif not COMPARE.is_file():
        pytest.skip("Google Benchmark's compare.py is not installed")
    files = []
    for name, factor in (("before", 1.0), ("after", 1.02)):
        lines = [
            case([measurement("grid_time", [factor * (time + i * 1e-7) for i in range(9)],
                              unit="s")], params={"place": place})
            for place, time in enumerate((1e-3, 2e-3))
        ]  # fmt: skip
        lines += [case([measurement("zero", [0.0, 1.0], unit="s")], params={"place": 2})]
        files.append(tmp_path / f"{name}.json")
        interop.export(load(tmp_path / name, lines), files[-1], to=to)
    program, expected = TOOLS[to]
    done = subprocess.run(
        [sys.executable, *program, *files], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(words in done.stdout for words in expected), done.stdout


# --- Nsight Compute -------------------------------------------------------------------------------


def test_launches_of_a_kernel_are_samples_by_our_names(tmp_path: Path) -> None:
    run = imported(RAW, tmp_path)
    assert [one.id for one in run.cases] == [
        "ncu/triad/cuda/block=256x1x1/grid=65536x1x1/template=float-4",
        "ncu/multiply_adds/cuda/block=256x1x1/grid=1056x1x1",
    ]
    rows = rows_of(run, "triad")
    read = rows["dram_read_bytes", "dram__bytes_read.sum"]
    assert read.taken == (134238976.0, 134226944.0)
    assert (read.unit, read.provenance) == ("B", "counted")
    time = rows["gpu_time", "gpu__time_duration.sum"]
    assert time.taken == pytest.approx((72.448e-6, 72.544e-6))
    assert (time.unit, time.provenance) == ("s", "counted")
    fma = rows["fp32_fma", FMA]
    assert (fma.value, fma.unit) == (2.0**24, "instruction")
    clock = rows["core_clock", "sm__cycles_elapsed.avg.per_second"]
    assert clock.unit == "Hz"
    assert clock.value == pytest.approx(1.9776e9, rel=1e-4)
    other = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    assert rows[other, other].unit == "%"


def test_the_raw_page_tells_the_device(tmp_path: Path) -> None:
    context = imported(RAW, tmp_path).context
    assert (context.device.slug, context.device.name) == (
        "nvidia-h100-80gb-hbm3",
        "NVIDIA H100 80GB HBM3",
    )
    assert context.device.facts["sm_count"] == 132
    assert context.device.facts["core_clock_peak_hz"] == 1.98e9
    assert context.device.facts["l2_bytes"] == 52428800
    assert context.counters is not None
    assert (context.counters.state, context.counters.passes) == ("counted", 10)
    assert "fp32_fma" in {one.name for one in context.counters.quantities}


def test_the_details_page_says_what_its_labels_mean(tmp_path: Path) -> None:
    run = imported(DETAILS, tmp_path)
    assert run.context.device.name == "unknown"
    rows = rows_of(run, "triad")
    assert rows["gpu_time", "gpu__time_duration.sum"].value == pytest.approx(72.416e-6)
    occupancy = rows["achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"]
    assert occupancy.unit == "%"
    label = "gpu_speed_of_light_throughput.memory_throughput"
    assert rows[label, label].value == 78.79
    # Rules give advice, and no number.
    assert all(METRIC.fullmatch(row.quantity) for row in run.rows)


@pytest.mark.parametrize(
    ("text", "unit", "value", "spelt", "half"),
    [
        ("134,238,976", "byte", 134238976.0, "B", 0.0),
        ("72,448", "ns", 72.448e-6, "s", 0.0),
        ("72.45", "us", 72.45e-6, "s", 0.005e-6),
        ("2.65", "Tbyte/s", 2.65e12, "B/s", 0.005e12),
        ("2.65", "Tbyte/second", 2.65e12, "B/s", 0.005e12),
        ("32.77", "Kbyte", 32770.0, "B", 5.0),
        ("33", "Kbyte", 33000.0, "B", 500.0),
        ("1.97", "Ghz", 1.97e9, "Hz", 0.005e9),
        ("1.98", "cycle/nsecond", 1.98e9, "Hz", 0.005e9),
        ("7", "sector/request", 7.0, "sector/request", 0.0),
        ("0.61", "inst/cycle", 0.61, "instruction/cycle", 0.005),
        ("-1.5e3", "", -1500.0, "1", 50.0),
        ("12", "Minotaur", 12.0, "Minotaur", 0.0),
    ],
)
def test_numbers_come_in_base_units(
    text: str, unit: str, value: float, spelt: str, half: float
) -> None:
    reading = nsight_compute.reading_of(text, unit, "m")
    assert reading is not None
    assert reading.value == pytest.approx(value, rel=1e-15)
    assert reading.unit == spelt
    assert reading.resolution == pytest.approx(half)


SUMMARY = (
    '"Process ID","Kernel Name","Invocations","Section Name","Metric Name","Metric Unit",'
    '"Minimum","Maximum","Average"\n'
    '"1","a","2","GPU Speed Of Light Throughput","Duration","us","1","3","2"\n'
)
REFUSED: dict[str, tuple[Path, Callable[[str], str]]] = {
    r"'fortnight'.*ns, us, ms, s": (GOOGLE, lambda text: text.replace('"ms"', '"fortnight"')),
    r"raw\.csv:10: found a row": (RAW, lambda page: page[: len(page) - 60]),
    "more than one device: 0, 1": (
        RAW, lambda page: page.replace('"(1056, 1, 1)","0"', '"(1056, 1, 1)","1"')
    ),
    "--print-summary": (RAW, lambda _: SUMMARY),
} | {
    rf"raw\.csv:8: found {re.escape(text)}.*LC_ALL=C": (
        RAW, lambda page, text=text: page.replace("134,238,976", text)
    )
    for text in ("134.238.976", "33,37", "1'000", "1\u202f000", "1,2345", "12,34,567")
}  # fmt: skip


@pytest.mark.parametrize("found", REFUSED)
def test_a_page_that_cannot_be_read_for_sure_is_refused(found: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=found):
        interop.bring_in(changed(REFUSED[found][0], tmp_path, REFUSED[found][1]), tmp_path)


def test_the_passes_are_those_of_the_launch_that_took_most(tmp_path: Path) -> None:
    file = changed(RAW, tmp_path, lambda page: page.replace('"33,792","10"', '"33,792","12"'))
    counters = imported(file, tmp_path).context.counters
    assert counters is not None
    assert counters.passes == 12


@pytest.mark.parametrize(
    ("first", "second", "valid", "told"),
    [
        ("33.33", "33.27", True, ""),
        ("0.33", "33.27", True, "rounded when printed, by at most 1.5 %"),
        ("0.02", "33.27", False, "too few digits"),
        ("33.33", "0.02", False, "too few digits"),
    ],
)
def test_the_coarsest_launch_says_how_far_digits_reach(
    first: str, second: str, told: str, tmp_path: Path, *, valid: bool
) -> None:
    file = tmp_path / "page.csv"
    page = RAW.read_text(encoding="utf-8")
    file.write_text(page.replace('"33.33"', f'"{first}"').replace('"33.27"', f'"{second}"'))
    metric = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    row = rows_of(imported(file, tmp_path), "triad")[metric, metric]
    assert row.valid is valid
    assert told in row.reasons
    assert ("noise" in row.reasons) is bool(told)


def test_a_metric_of_another_unit_keeps_its_name(tmp_path: Path) -> None:
    file = changed(
        RAW, tmp_path, lambda page: page.replace('"ns","sector","sector"', '"ns","byte","sector"')
    )
    rows = rows_of(imported(file, tmp_path), "triad")
    metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    assert rows[metric, metric].unit == "B"
    assert rows["l1_store_sectors", metric.replace("_ld", "_st")].unit == "sector"


@pytest.mark.parametrize(
    ("signature", "bare", "arguments"),
    [
        ("void triad<float, 4>(const T1 *, T1, int)", "triad", "<float, 4>"),
        ("multiply_adds(float *, int)", "multiply_adds", ""),
        ("void (anonymous namespace)::step<8>(Bodies, int)", "anonymous::step", "<8>"),
        ("void <unnamed>::step(Bodies)", "anonymous::step", ""),
        ("std::pair<int, int> a::f<b::c<int>, 3>(d)", "a::f", "<b::c<int>, 3>"),
        ("triad", "triad", ""),
        ("_Z5triadPKfPfi", "_Z5triadPKfPfi", ""),
    ],
)
def test_kernels_are_named_by_their_function(signature: str, bare: str, arguments: str) -> None:
    assert nsight_compute.kernel_words(signature) == (bare, arguments)


def test_our_names_are_those_of_the_counter_sets() -> None:
    theirs = set()
    for path in SETS.glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        for entry in re.finditer(
            r"- name: (\w+)\n\s+unit: (.+)\n\s+meaning: .+\n\s+metrics: \[(.+)\]", text
        ):
            for metric in entry[3].split(","):
                theirs.add((metric.strip(), entry[1], entry[2].strip('"'), path.stem))
        assert text.count("- name:") == len({q for _, q, _, s in theirs if s == path.stem})
    ours = {
        (metric, known["name"], known["unit"], known["set"])
        for metric, known in nsight_compute.known_metrics().items()
    }
    assert theirs == {one for one in ours if one[3] != "nsight_compute"}


# --- Parquet --------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN])
def test_parquet_gives_back_the_frame(folder: Path, tmp_path: Path) -> None:
    run = load_run(folder)
    file = interop.export(run, tmp_path / "run.parquet", to="parquet")
    back, ours = pd.read_parquet(file), frame(run)
    assert list(back.columns) == list(ours.columns)
    assert len(back) == len(run.rows)
    for column in ours.columns:
        mine = [None if pd.isna(value) else value for value in ours[column]]
        theirs = [None if pd.isna(value) else value for value in back[column]]
        assert mine == theirs, column
    assert back["valid"].dtype == bool
    assert back["samples"].dtype == "int64"
    numbers = ["value", "ci_low", "ci_high", "minimum", "maximum"]
    assert (back[numbers].dtypes == "float64").all()
    again = interop.export(run, tmp_path / "again.parquet", to="parquet")
    assert again.read_bytes() == file.read_bytes()


def test_columns_of_a_frame_and_their_types(tmp_path: Path) -> None:
    lines = [
        case([measurement(samples=[1.0], method="event_slope")], params={"method": "bulk"}),
        case([], params={"cluster": 2}, status="skipped", reason="no such unit"),
    ]
    run = load(tmp_path, lines)
    back = pd.read_parquet(interop.export(run, tmp_path / "r.parquet", to="parquet"))
    assert [*back["method"]] == ["event_slope"]  # a parameter takes no column's place
    assert [*back["param_method"]] == ["bulk"]
    assert back["ci_low"].dtype == "float64"
    assert isinstance(back["cluster"].dtype, pd.StringDtype)
    assert back[["ci_low", "cluster"]].isna().all(axis=None)


def test_an_export_writes_over_nothing_unless_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    file.write_text("mine")
    words = ("export", GPU_RUN, file, "--to", "google-benchmark")
    assert command(*words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--force" in line
    assert file.read_text() == "mine"
    assert command(*words, "--force") == 0
    assert json.loads(file.read_text())["benchmarks"]
    assert list(tmp_path.iterdir()) == [file]
    assert command("export", GPU_RUN, tmp_path / "missing" / "x", "--to", "csv") == 2
    assert "strata: cannot write" in capsys.readouterr().err


def test_a_table_goes_out_as_the_contract_has_it(tmp_path: Path) -> None:
    file = interop.export(load_run(GPU_RUN), tmp_path / "run.csv", to="csv")
    pd.testing.assert_frame_equal(pd.read_csv(file), pd.read_csv(GPU_RUN / "measurements.csv"))
