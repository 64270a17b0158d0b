"""Other tools' files: what comes in is a sound run, what goes out is what they read."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
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
ENTRIES: list[dict[str, Any]] = json.loads(GOOGLE.read_text(encoding="utf-8"))["benchmarks"]
"""Of the recorded file."""


def imported(file: Path, folder: Path, warnings: list[str] | None = None) -> Run:
    """The run of a file; what the import reported is added to `warnings`."""
    warn = (warnings if warnings is not None else []).append
    run = load_run(interop.bring_in(file, folder / "runs", warn=warn))
    assert findings(run) == ()
    return run


def rows_of(run: Run, benchmark: str) -> dict[tuple[str, str], Row]:
    return {(r.quantity, r.method): r for r in run.rows if r.benchmark == benchmark}


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([f"{word}" for word in words])
    return int(left.value.code or 0)


def written(folder: Path, text: str, name: str = "input.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def google(folder: Path, *entries: dict[str, Any], **context: Any) -> Path:
    """A file of Google Benchmark's, by default with the recorded entries."""
    data = {"context": context, "benchmarks": entries or ENTRIES}
    return written(folder, json.dumps(data), "g.json")


def changed(file: Path, folder: Path, change: Callable[[str], str]) -> Path:
    text = file.read_text(encoding="utf-8")
    assert change(text) != text
    return written(folder, change(text), file.name)


# --- in: whatever the format ----------------------------------------------------------------------


@pytest.mark.parametrize("file", [GOOGLE, RAW, DETAILS])
def test_a_file_becomes_a_run_that_keeps_the_contract_and_that_every_command_takes(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, again = imported(file, tmp_path), imported(file, tmp_path / "again")
    assert run.context.state == "complete"
    for path in run.folder.iterdir():  # the same file makes the same bytes
        assert path.read_bytes() == (again.folder / path.name).read_bytes()
    # Two files are not taken for kernels of one source.
    assert run.context.build.source_digest.startswith("import-")
    gates = [one.gates[0] for one in run.cases if one.status == "measured"]
    assert {(gate.name, gate.verdict) for gate in gates} == {("import", "unverified")}
    jsonschema = pytest.importorskip("jsonschema")
    for name, lines in (
        ("context.schema.json", [(run.folder / "context.json").read_text()]),
        ("samples.schema.json", (run.folder / "samples.jsonl").read_text().splitlines()),
    ):
        schema = json.loads((SCHEMAS / "v2" / name).read_text())
        for line in lines:
            jsonschema.validate(json.loads(line), schema)
    assert command("import", file, "--to", tmp_path) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert [command(name, folder) for name in ("validate", "summary", "report")] == [0, 0, 0]
    assert (folder / "report" / "report.html").is_file()


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


SUMMARY = (
    '"Process ID","Kernel Name","Invocations","Section Name","Metric Name","Metric Unit",'
    '"Minimum","Maximum","Average"\n'
    '"1","a","2","GPU Speed Of Light Throughput","Duration","us","1","3","2"\n'
)
WRONG = {
    "": "an empty file",
    "ID,Kernel Name\n": "a file that begins",
    "{]": "broken JSON",
    "{}": "missing required field `context`",
    '{"context": {}, "benchmarks": []}': "length >= 1 - at `benchmarks`",
    '{"context": {}, "benchmarks": [{}]}': "`name` - at `benchmarks[0]`",
    '{"context": {}, "benchmarks": [{"name": "a", "threads": "x"}]}':
        "Expected `int`, got `str` - at `benchmarks[0].threads`",
    '{"context": {"num_cpus": -1}, "benchmarks": [{"name": "a"}]}': ">= 0 - at `num_cpus`",
    "==ERROR== ERR_NVGPUCTRPERM\n": "ERR_NVGPUCTRPERM",
    '"ID","Kernel Name"\n': "a table without a launch",
    SUMMARY: "--print-summary",
}  # fmt: skip


@pytest.mark.parametrize(("content", "found"), WRONG.items())
def test_a_wrong_file_is_one_line_exit_2_and_leaves_nothing(
    content: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = written(tmp_path, content), tmp_path / "out"
    assert command("import", file, "--to", out) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert found in line
    assert f"{file}" in line
    assert not out.exists() or not any(out.iterdir())


# --- Google Benchmark in --------------------------------------------------------------------------


def entry(name: str, time: float, **members: Any) -> dict[str, Any]:
    return {"name": name, "real_time": time, "cpu_time": time, "time_unit": "s", **members}


def repeated(name: str, *times: float, first: int = 0, **members: Any) -> list[dict[str, Any]]:
    """The repetitions of a benchmark."""
    members |= {"run_name": name, "run_type": "iteration"}
    return [
        entry(name, time, repetition_index=at, **members) for at, time in enumerate(times, first)
    ]


def test_a_recorded_file_of_google_benchmark(tmp_path: Path) -> None:
    data = json.loads(GOOGLE.read_text(encoding="utf-8"))
    run = imported(GOOGLE, tmp_path)
    assert (run.context.device.name, run.context.backend) == ("unknown", "host")
    assert run.context.started.startswith("2026-11-21T23:15:38")
    small, large = [one for one in run.cases if one.benchmark == "bm_copy"]
    assert small.id == "google_benchmark/bm_copy/host/arg0=64/repeats=3/type=float"
    assert large.params["arg0"] == "4096"
    name = "BM_copy<float>/64/repeats:3"
    theirs = [one["real_time"] / 1e9 for one in data["benchmarks"] if one["name"] == name]
    rows = {r.quantity: r for r in run.rows if r.case == small.id}
    real, rate, footprint = (rows[name] for name in ("real_time", "bytes_per_second", "footprint"))
    assert list(real.taken) == theirs
    assert (real.unit, real.provenance, real.value) == ("s", "timed", median(theirs))
    assert (rate.unit, rate.provenance) == ("B/s", "timed")
    assert (footprint.unit, footprint.provenance, footprint.value) == ("unknown", "published", 512)
    cases, entries = (
        {one.benchmark: one for one in run.cases},
        {one["name"]: one for one in ENTRIES},
    )
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


def test_a_repetition_that_failed_makes_the_case_invalid_and_a_lost_number_its_row_missing(
    tmp_path: Path,
) -> None:
    failed = {"error_occurred": True, "error_message": "it fell over"}
    lost = {"footprint": math.nan}
    entries = [one | failed if at == 1 else one for at, one in enumerate(ENTRIES)]
    entries = [one | lost if at == 2 else one for at, one in enumerate(entries)]
    run = imported(google(tmp_path, *entries), tmp_path)
    rows = {row.quantity: row for row in reversed(run.rows) if row.case == run.cases[0].id}
    assert (rows["real_time"].samples, rows["real_time"].valid) == (2, False)
    assert "1 of 3 failed: it fell over" in rows["real_time"].reasons
    assert "footprint" not in rows


@pytest.mark.parametrize("date", ["2016/08/02 17:44:46", "2026-11-21T23:15:38", 5, None])
def test_a_date_without_a_zone_is_no_date(date: object, tmp_path: Path) -> None:
    run = imported(google(tmp_path, date=date), tmp_path)
    assert "-undated-" in run.context.run
    assert json.loads((run.folder / "context.json").read_text())["imported"]["dated"] is False


def test_what_strata_bench_called_invalid_stays_invalid(tmp_path: Path) -> None:
    name = "micro/timer_check/host/residency=l1"
    titles = dict.fromkeys(("name", "run_name"), f"{name}/iterations:1/manual_time")
    one = titles | {"run_type": "iteration", "real_time": 5.0, "cpu_time": 1.0, "time_unit": "ns"}
    one |= {"load_cycles:tsc_slope": 3.6, "label": "INVALID noise: half-width 246.87 %"}
    run = imported(google(tmp_path, one, strata_version="0.1.0", device="Some CPU"), tmp_path)
    assert [case.id for case in run.cases] == [name]
    assert run.context.device.slug == "some-cpu"
    assert all(not row.valid for row in run.rows)
    cycles = next(row for row in run.rows if row.quantity == "load_cycles")
    assert (cycles.method, cycles.unit, cycles.provenance) == ("tsc_slope", "unknown", "published")


MEANS = [
    entry("BM_a_mean", time, run_name="BM_a", run_type="aggregate", aggregate_name="mean")
    for time in (1.5, 7.5)
]
FIT: dict[str, Any] = {
    "name": "A_BigO",
    "run_name": "A",
    "run_type": "aggregate",
    "aggregate_name": "BigO",
}
FIT |= {"cpu_coefficient": 1.0, "real_coefficient": 1.0, "big_o": "N", "time_unit": "ns"}
OTHERS: dict[str, tuple[list[dict[str, Any]], dict[str, tuple[float, ...]], str]] = {
    "names that become the same": (
        [entry("BM a", 1.0), entry("BM_a", 2.0)],
        {"bm_a/host real_time": (1.0,), "bm_a/host/same_name=2 real_time": (2.0,)}, ""
    ),
    "two families": (
        repeated("BM_a", 1.0, 2.0, family_index=0) + repeated("BM_a", 7.0, 8.0, family_index=1),
        {"bm_a/host real_time": (1.0, 2.0), "bm_a/host/same_name=2 real_time": (7.0, 8.0)}, ""
    ),
    "a repetition again": (
        repeated("BM_a", 1.0, 2.0) + repeated("BM_a", 7.0, 8.0) + MEANS,
        {"bm_a/host real_time": (1.0, 2.0), "bm_a/host/same_name=2 real_time": (7.0, 8.0)},
        "4 values not imported, because they are computed from values that are imported (4)"
    ),
    "interleaved": (
        [one for at in range(2)
         for name, time in (("A", 1.0), ("B", 5.0)) for one in repeated(name, time + at, first=at)],
        {"a/host real_time": (1.0, 2.0), "b/host real_time": (5.0, 6.0)}, ""
    ),
    "an old file": (
        [entry(*one) for one in (("A", 1.0), ("A", 2.0), ("A_mean", 1.5), ("A_stddev", 0.7),
                                 ("B_mean", 3.0), ("B_stddev", 0.1), ("rolling_mean", 9.0))],
        {"a/host real_time": (1.0, 2.0), "b/host real_time": (3.0,),
         "rolling_mean/host real_time": (9.0,)},
        ("6 values not imported, because they are computed from values that are imported (4), "
        "are statistics other than mean and median (2)")
    ),
    "no rows": (
        [entry("A", 1.0, text="words", max_bytes_used=64), FIT,
         entry("B", 4.0, error_occurred=True, error_message="lost")],
        {"a/host real_time": (1.0,), "a/host max_bytes_used": (64,)},
        ("5 values not imported, because they are fits of complexity (2), are no numbers in each "
        "repetition (1), are of repetitions that failed (2)")
    ),
    "no times": (
        [entry("A", 1.0) | {"cpu_time": None}, entry("B", -1.0)],
        {"a/host real_time": (1.0,)},
        ("3 values not imported, because they are no numbers in each repetition (1), are negative "
        "times (2)")
    ),
    "counters of one name": (
        [entry("A", 1.0, **{"x y": 2.0, "x_y": 3.0})],
        {"a/host real_time": (1.0,), "a/host x_y": (2.0,), "a/host x_y_2": (3.0,)}, ""
    ),
}  # fmt: skip
"""Entries, the samples of each quantity of a case without CPU times, and what is reported."""


@pytest.mark.parametrize(("entries", "samples", "report"), OTHERS.values(), ids=OTHERS)
def test_each_value_of_google_benchmark_is_a_row_or_is_counted(
    entries: list[dict[str, Any]], samples: Mapping[str, Any], report: str, tmp_path: Path
) -> None:
    warnings: list[str] = []
    run = imported(google(tmp_path, *entries), tmp_path, warnings)
    names = {f"{row.case.partition('/')[2]} {row.quantity}": row.taken for row in run.rows}
    assert {name: taken for name, taken in names.items() if "cpu_time" not in name} == samples
    assert warnings == [report] * bool(report)


def test_negative_arguments_keep_their_sign(tmp_path: Path) -> None:
    warnings: list[str] = []
    run = imported(FILES / "gbench_negative_argument.json", tmp_path, warnings)
    expected = {-8: 92, -4: 96, -2: 98, -1: 99, 0: 100, 1: 101, 2: 102, 4: 104, 8: 108}
    rows = {row.params["arg0"]: row.value for row in run.rows if row.quantity == "real_time"}
    assert rows == pytest.approx({f"{arg}": ns / 1e9 for arg, ns in expected.items()})
    assert not any("same_name" in case.params for case in run.cases)
    assert warnings == []


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("BM/x:-3/-5", {"x": "-3", "arg0": "-5"}),
        ("BM<-1>/3", {"type": "-1", "arg0": "3"}),
        ("BM<int, -4>/-.5", {"type": "int--4", "arg0": "-.5"}),
        ("BM<->/-a", {"type": "-", "arg0": "a"}),
    ],
)
def test_signs_are_kept_in_named_and_template_arguments(
    name: str, params: dict[str, str], tmp_path: Path
) -> None:
    assert imported(google(tmp_path, entry(name, 1.0)), tmp_path).cases[0].params == params


# --- out ------------------------------------------------------------------------------------------


def document(run: Run) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(google_benchmark.encode(run))
    return result


def test_the_export_has_the_form_of_a_real_file_and_aggregates_of_its_samples() -> None:
    run = load_run(GPU_RUN)
    theirs, ours = json.loads(GOOGLE.read_text()), document(run)
    assert theirs["context"].keys() <= ours["context"].keys()
    for kind in ("iteration", "aggregate"):
        real = next(e for e in ENTRIES if e["run_type"] == kind and "repeats" in e["name"])
        entries = [
            entry for entry in ours["benchmarks"]
            if entry["run_type"] == kind and not {"error_message", "skipped"} & entry.keys()
        ]  # fmt: skip
        assert entries
        known = google_benchmark.NO_COUNTER - {"label"}
        assert all(known & entry.keys() == known & real.keys() for entry in entries)
    entries = ours["benchmarks"]
    name = next(e["run_name"] for e in entries if e.get("label", "").startswith("grid_time"))
    row = next(r for r in run.rows if r.case == name and r.quantity == "grid_time")
    here = {e.get("aggregate_name"): e for e in entries if e["run_name"] == name}
    assert [*here] == [None, "mean", "median", "stddev", "cv"]
    times = [e["real_time"] for e in entries if e["name"] == name]
    assert times == pytest.approx([1e9 * sample for sample in row.taken])
    assert here["median"]["real_time"] == pytest.approx(1e9 * row.value)
    assert here["stddev"]["real_time"] == pytest.approx(stdev(times))
    assert here["cv"]["real_time"] == pytest.approx(stdev(times) / (sum(times) / len(times)))
    assert here["cv"]["aggregate_unit"] == "percentage"


def test_the_time_of_a_case_and_cases_without_a_valid_one(tmp_path: Path) -> None:
    time = measurement("grid_time", [1e-3, 2e-3], unit="s", method="event")
    noisy = measurement("useful_bandwidth", [1e9], unit="B/s", method="event", noise="failed")
    rate = measurement("useful_bandwidth", [1e9], unit="B/s")
    cycles = measurement("load_cycles", [400.0, 200.0])
    clock = measurement("core_clock", [2e9, 2e9], unit="Hz", method="clock64")
    bad_clock = measurement("core_clock", [2e9], unit="Hz", method="clock64", noise="failed")
    adds = measurement("core_clock", [4e9], unit="Hz", method="dependent_adds")
    stamps = measurement("tsc_frequency", [2e9], unit="Hz", method="tsc_over_monotonic")
    rows = [[time, noisy], [time], [rate], [cycles, clock], [cycles],
            [{**cycles, "unit": "tsc_cycle"}, adds, stamps], [cycles, bad_clock]]  # fmt: skip
    gates = ["passed", "failed", *["passed"] * 5]
    run = load(tmp_path, [
        case(found, params={"place": place}, gates=[("result", verdict, "")])
        for place, (found, verdict) in enumerate(zip(rows, gates, strict=True))
    ])  # fmt: skip
    ours = document(run)
    first = {e["run_name"].rpartition("=")[2]: e for e in reversed(ours["benchmarks"])}
    assert {place for place, e in first.items() if e["real_time"] > 0} == {"0", "3", "5"}
    assert not {key for e in ours["benchmarks"] for key in e} & {"useful_bandwidth:event"}
    assert first["1"]["error_message"] == "INVALID result: failed"
    assert (first["2"]["label"], first["2"]["useful_bandwidth:clock64_slope"]) == ("no time", 1e9)
    for place in ("4", "6"):
        assert first[place]["label"] == "no time"
        assert first[place]["load_cycles:clock64_slope"] == 400.0
        assert "core_clock:clock64" not in first[place]
    assert ours["context"]["strata_errors"].startswith("1 of 7 cases")
    for number, clocked in (3, "core_clock"), (5, "tsc_frequency"):
        by_clock = [e for e in ours["benchmarks"] if e["name"].endswith(f"place={number}")]
        assert [e["real_time"] for e in by_clock] == pytest.approx([200.0, 100.0])
        assert by_clock[0]["label"] == f"load_cycles by clock64_slope, by {clocked}"


def losses(run: Run, file: Path, to: interop.Target) -> str:
    """What the export to a file reports, in at most one line."""
    warnings: list[str] = []
    interop.export(run, file, to=to, warn=warnings.append)
    assert len(warnings) <= 1
    return "".join(warnings)


EXCERPTS = (
    "excerpt-nvidia-h200-20261123T162625Z-f6fa469",
    "excerpt-nvidia-h100-80gb-hbm3-20261122T213744Z-c491cab",
    "excerpt-amd-epyc-20261123T110659Z-4a73bb0",  # no time at all
)


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, *(DATA / name for name in EXCERPTS)])
def test_a_run_goes_out_and_comes_back(folder: Path, tmp_path: Path) -> None:
    run, file = load_run(folder), tmp_path / "run.json"
    warnings = losses(run, file, "google-benchmark")
    back = imported(file, tmp_path)
    assert back.context.device.name == run.context.device.name
    assert back.context.backend == run.context.backend
    assert [case.id for case in back.cases] == [case.id for case in run.cases]
    known = {row.key: row for row in run.rows if row.valid}
    assert {row.key for row in back.rows} == known.keys()
    differ = 0
    for row in back.rows:
        sent = known[row.key]
        assert row.valid
        assert row.taken == pytest.approx(sent.taken, rel=1e-12)
        differ += row.value != pytest.approx(sent.value, rel=1e-12)
        assert (row.unit, row.provenance, row.params) == (sent.unit, sent.provenance, sent.params)
    visits = re.search(r"([\d,]+) of [\d,]+ rows without the median of their visits", warnings)
    assert differ <= (int(visits[1].replace(",", "")) if visits else 0)
    invalid = len(run.rows) - len(known)
    assert ("not exported" in warnings) == (invalid > 0)
    assert not invalid or f"because they are invalid ({invalid:,})" in warnings


def test_skipped_failed_and_invalid_cases_come_back_with_their_reason(tmp_path: Path) -> None:
    gates = [("result", "failed", "wrong sum")]
    lines = [
        case([], params={"place": 0}, status="skipped", reason="no such unit"),
        case([], params={"place": 1}, status="failed", reason="out of memory"),
        case([measurement()], params={"place": 2}, gates=gates),
    ]
    file = tmp_path / "run.json"
    assert losses(load(tmp_path, lines), file, "google-benchmark") == (
        "1 of 1 rows not exported, because they are invalid (1); "
        "1 of 3 cases as errors, because no row of them is valid"
    )
    back = load_run(interop.bring_in(file, tmp_path))
    assert [(one.status, one.reason) for one in back.cases] == [
        ("skipped", "no such unit"),
        ("failed", "out of memory"),
        ("failed", "INVALID result: wrong sum"),
    ]


def test_more_samples_than_the_time_has_are_reported(tmp_path: Path) -> None:
    time = measurement("grid_time", [1e-3, 2e-3], unit="s", method="event")
    rate = measurement("useful_bandwidth", [1e9, 2e9, 4e9], unit="B/s", method="event")
    file = tmp_path / "run.json"
    assert losses(load(tmp_path, [case([time, rate])]), file, "google-benchmark") == (
        "1 of 2 rows with their value alone, because the time of their case has fewer samples"
    )
    rows = {row.quantity: row.taken for row in imported(file, tmp_path).rows}
    assert rows == {"grid_time": (1e-3, 2e-3), "useful_bandwidth": (2e9,)}


@pytest.mark.parametrize("to", ["pyperf", "google-benchmark", "csv"])
def test_an_export_reports_what_the_format_cannot_hold(
    to: interop.Target, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [measurement(name, [1.0, 2.0], unit="s") for name in ("a", "b", "c")]
    run = load(tmp_path, [case(rows)])
    assert command("export", run.folder, tmp_path / "file", "--to", to) == 0
    lost = "strata: 2 of 3 rows not exported, because the format holds one valid time"
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(lost) for line in lines] == [True] * (to == "pyperf")


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
        samples = [[factor * (time + i * 1e-7) for i in range(9)] for time in (1e-3, 2e-3)]
        lines = [
            case([measurement("grid_time", taken, unit="s")], params={"place": place})
            for place, taken in enumerate([*samples, [0.0, 1.0]])
        ]
        files.append(tmp_path / f"{name}.json")
        interop.export(load(tmp_path / name, lines), files[-1], to=to)
    program, expected = TOOLS[to]
    done = subprocess.run(
        [sys.executable, *program, *files], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(words in done.stdout for words in expected), done.stdout


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN])
def test_parquet_and_csv_give_back_the_table(folder: Path, tmp_path: Path) -> None:
    run = load_run(folder)
    file = interop.export(run, tmp_path / "run.parquet", to="parquet")
    back, ours = pd.read_parquet(file), frame(run)
    assert [*back.columns] == [*ours.columns]
    for column in ours.columns:
        there, here = (one[column].astype(object) for one in (back, ours))
        assert [*there.where(there.notna(), None)] == [*here.where(here.notna(), None)], column
    assert [f"{back[name].dtype}" for name in ("valid", "samples")] == ["bool", "int64"]
    numbers = ["value", "ci_low", "ci_high", "minimum", "maximum"]
    assert (back[numbers].dtypes == "float64").all()
    again = interop.export(run, tmp_path / "again.parquet", to="parquet")
    assert again.read_bytes() == file.read_bytes()
    plain = interop.export(run, tmp_path / "run.csv", to="csv")
    pd.testing.assert_frame_equal(pd.read_csv(plain), pd.read_csv(folder / "measurements.csv"))
    wide = interop.export(run, tmp_path / "wide.csv", to="csv-columns")
    text = pd.read_csv(wide, dtype=str)
    assert [*text.columns] == [*ours.columns]
    for axis in ("layout", "footprint"):
        if axis in ours:
            assert [*text[axis].fillna("")] == [*ours[axis].fillna("")]
    assert [*pd.read_csv(wide)["valid"]] == [*ours["valid"]]
    assert [*text["value"].astype(float)] == [*ours["value"]]


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
    file = written(tmp_path, "mine", "run.json")
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


# --- Nsight Compute -------------------------------------------------------------------------------


def test_launches_of_a_kernel_are_samples_by_our_names(tmp_path: Path) -> None:
    run = imported(RAW, tmp_path)
    assert [one.id for one in run.cases] == [
        "ncu/triad/cuda/block=256x1x1/grid=65536x1x1/template=float-4",
        "ncu/multiply_adds/cuda/block=256x1x1/grid=1056x1x1",
    ]
    rows = {quantity: row for (quantity, _), row in rows_of(run, "triad").items()}
    read, time, fma = (rows[name] for name in ("dram_read_bytes", "gpu_time", "fp32_fma"))
    assert read.taken == (134238976.0, 134226944.0)
    assert (read.unit, read.provenance, read.method) == ("B", "counted", "dram__bytes_read.sum")
    assert time.taken == pytest.approx((72.448e-6, 72.544e-6))
    assert (time.unit, time.provenance) == ("s", "counted")
    assert (fma.value, fma.unit) == (2.0**24, "instruction")
    assert rows["core_clock"].value == pytest.approx(1.9776e9, rel=1e-4)
    assert rows["core_clock"].unit == "Hz"
    assert rows["sm__throughput.avg.pct_of_peak_sustained_elapsed"].unit == "%"
    device, counters = run.context.device, run.context.counters
    assert (device.slug, device.name) == ("nvidia-h100-80gb-hbm3", "NVIDIA H100 80GB HBM3")
    facts = {name: device.facts[name] for name in ("sm_count", "core_clock_peak_hz", "l2_bytes")}
    assert facts == {"sm_count": 132, "core_clock_peak_hz": 1.98e9, "l2_bytes": 52428800}
    assert counters
    assert (counters.state, counters.passes) == ("counted", 10)
    assert "fp32_fma" in {one.name for one in counters.quantities}


def test_the_details_page_explains_its_labels(tmp_path: Path) -> None:
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
    assert reading
    assert reading.value == pytest.approx(value, rel=1e-15)
    assert reading.unit == spelt
    assert reading.resolution == pytest.approx(half)


@pytest.mark.parametrize(
    ("first", "second", "valid", "why"),
    [
        ("33.33", "33.27", True, ""),
        ("0.33", "33.27", True, "rounded when printed, by at most 1.5 %"),
        ("0.02", "33.27", False, "too few digits"),
        ("33.33", "0.02", False, "too few digits"),
    ],
)
def test_the_coarsest_launch_decides_how_far_digits_reach(
    first: str, second: str, why: str, tmp_path: Path, *, valid: bool
) -> None:
    page = RAW.read_text(encoding="utf-8")
    page = page.replace('"33.33"', f'"{first}"').replace('"33.27"', f'"{second}"')
    metric = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    row = rows_of(imported(written(tmp_path, page), tmp_path), "triad")[metric, metric]
    assert row.valid is valid
    assert why in row.reasons
    assert ("noise" in row.reasons) is bool(why)


def test_the_passes_are_the_most_and_a_metric_of_another_unit_keeps_its_name(
    tmp_path: Path,
) -> None:
    file = changed(
        RAW, tmp_path, lambda page: page.replace('"33,792","10"', '"33,792","12"')
        .replace('"ns","sector","sector"', '"ns","byte","sector"')
    )  # fmt: skip
    run = imported(file, tmp_path)
    assert run.context.counters
    assert run.context.counters.passes == 12
    rows = rows_of(run, "triad")
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
    entry = re.compile(r"- name: (\w+)\n\s+unit: (.+)\n\s+meaning: .+\n\s+metrics: \[(.+)\]")
    for path in SETS.glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        found = entry.findall(text)
        assert text.count("- name:") == len(found)
        theirs |= {
            (metric.strip(), name, unit.strip('"'), path.stem)
            for name, unit, metrics in found
            for metric in metrics.split(",")
        }
    ours = {
        (metric, known["name"], known["unit"], known["set"])
        for metric, known in nsight_compute.known_metrics().items()
    }
    named = {one[0] for one in ours if one[3] == "nsight_compute"}  # what its imports always had
    assert {one for one in theirs if one[0] not in named} == {
        one for one in ours if one[3] != "nsight_compute"
    }


# --- pages of Nsight Compute that are made up -----------------------------------------------------

KERNEL = "step(double *)"
SHAPE = {"Block Size": "(256, 1, 1)", "Grid Size": "(1024, 1, 1)"}
INST, ISSUED, TIME = "smsp__inst_executed.sum", "smsp__inst_issued.sum", "gpu__time_duration.sum"
READ, CYCLES = "dram__bytes_read.sum", "sm__cycles_active.avg"
PER_CYCLE = "sm__inst_executed.avg.per_cycle_active"
PERCENT = "sm__throughput.avg.pct_of_peak_sustained_elapsed"


def table(columns: Sequence[str], *rows: Sequence[str]) -> str:
    lines = [columns, *rows]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)


def raw(*launches: dict[str, str], units: Mapping[str, str] | None = None) -> str:
    """A raw page: its launches, with what they do not name as usual."""
    usual = {"ID": "0", "Process ID": "7", "Process Name": "app", "Kernel Name": KERNEL}
    columns = [*dict.fromkeys([*usual, *(key for one in launches for key in one)])]
    cells = [[(usual | one).get(column, "") for column in columns] for one in launches]
    return table(columns, [(units or {}).get(column, "") for column in columns], *cells)


def one(metric: str, value: str, unit: str = "") -> str:
    """A raw page of one value."""
    return raw({**SHAPE, metric: value}, units={metric: unit})


def details(*values: tuple[str, str, str, str, str]) -> str:
    """A details page of (process, launch, label, unit, value)."""
    columns = "ID,Process ID,Process Name,Kernel Name,Block Size,Grid Size,Section Name"
    columns += ",Metric Name,Metric Unit,Metric Value"
    rows = [
        (launch, process, "app", KERNEL, *SHAPE.values(), "Launch", label, unit, value)
        for process, launch, label, unit, value in values
    ]
    return table(columns.split(","), *rows)


FIVE = {**SHAPE, INST: "5"}
REGISTERS = "launch__registers_per_thread"
APPS = (("a", "10"), ("b", "30"))
PAGES: dict[str, tuple[dict[str, Sequence[float]], str]] = {
    "ncu_without_grid.csv": (
        {"block=256/grid=16 gpu_time": [5e-6], "block=256/grid=4096 gpu_time": [905e-6]}, ""
    ),
    "ncu_instances.csv": (
        {"gpu_time": [3e-05], "executed_instructions": [1024], "smsp__pcsamp_sample_buffer_full":
         [0]},
        "2 values not imported, because they are instances of a metric whose total is imported (2)"
    ),
    details(("7", "0", INST, "inst", "12 (3; 4; 5)")): (
        {"executed_instructions": [12]}, "3 values not imported"
    ),
    details(("7", "0", INST, "inst", "2,048 (0x7f00: 2,000; 0x7f10: 48)")): (
        {"executed_instructions": [2048]}, "2 values not imported"
    ),
    raw({**FIVE, "source.sum": "(1; 2)"}): (
        {"executed_instructions": [5]}, "because they are no numbers (1)"
    ),
    raw({**FIVE, TIME: "-5"}, units={TIME: "ns"}): (
        {"executed_instructions": [5]}, "they are negative times (1)"
    ),
    details(*(("7", "0", INST, "inst", value) for value in ("10", "10", "12"))): (
        {"executed_instructions": [10]}, "1 value not imported, because they differ from an earlier"
    ),
    raw({**FIVE, ISSUED: "36.86"}, units={ISSUED: "inst"}): (
        {"executed_instructions": [5]},
        "they are fractions of what is counted in whole numbers (1)"
    ),
    raw({**FIVE, ISSUED: "36.8612"}, units={ISSUED: "Kinst"}): (
        {"executed_instructions": [5], "issued_instructions": [36861.2]}, ""
    ),
    raw({"ID": "0", INST: "64"}, {"ID": "1", INST: "8,192"}): (  # of unknown shape
        {"launch=0 executed_instructions": [64], "launch=1 executed_instructions": [8192]}, ""
    ),
    one(PER_CYCLE, "1.234", "inst/cycle"): ({"executed_per_cycle": [1.234]}, ""),
    one(PERCENT, "33.333", "%"): ({PERCENT: [33.333]}, ""),
    one(TIME, "117.344", "us"): ({"gpu_time": [117.344e-6]}, ""),
    one(TIME, "117,344", "ns"): ({"gpu_time": [117.344e-6]}, ""),
    one(READ, "1,024", "byte"): ({"dram_read_bytes": [1024]}, ""),
    one(CYCLES, "12.125", "cycle"): ({CYCLES: [12.125]}, ""),
    # A second table with the same columns continues the first.
    "".join(details(("7", "0", INST, "inst", value)) for value in ("10", "30")): (
        {"executed_instructions": [10, 30]}, ""
    ),
    "".join(raw({**SHAPE, INST: value}) for value in ("10", "30")): (
        {"executed_instructions": [10, 30]}, ""
    ),
    details(*((process, launch, INST, "inst", value)
              for process, launch, value in (("7", "0", "1"), ("8", "0", "5"), ("7", "1", "3")))): (
        {"executed_instructions": [1, 5, 3]}, ""
    ),
    raw(*({**SHAPE, "Process Name": app, INST: value} for app, value in APPS)): (
        {"process=a executed_instructions": [10], "process=b executed_instructions": [30]}, ""
    ),
    raw(*({**FIVE, REGISTERS: value} for value in ("16", "40"))): (
        {"executed_instructions": [5, 5], REGISTERS: [16, 40]}, ""
    ),
    raw({**FIVE, "thread_inst_executed": "32", "group:smsp__stalls": "4", "smsp__text": "n/a",
         "device__attribute_warp_size": "32", "empty.sum": "",
         "device__attribute_multiprocessor_count": "132"}): (
        {"executed_instructions": [5], "thread_inst_executed": [32]},
        ("3 values not imported, because they are in columns that are no metric (1), are no "
        "numbers (1), describe the device or the profiler (1)")
    ),
}  # fmt: skip
"""Samples by parameters other than the usual, and quantity; then what is reported."""


@pytest.mark.parametrize(("page", "samples", "report"), [(page, *PAGES[page]) for page in PAGES])
def test_each_value_of_a_launch_is_a_sample_or_is_counted(
    page: str, samples: dict[str, Sequence[float]], report: str, tmp_path: Path
) -> None:
    warnings: list[str] = []
    file = FILES / page if page.startswith("ncu_") else written(tmp_path, page)
    run = imported(file, tmp_path, warnings)
    usual = {"block": "256x1x1", "grid": "1024x1x1"}.items()
    found = {}
    for row in run.rows:
        others = "/".join(f"{axis}={row.params[axis]}" for axis, _ in row.params.items() - usual)
        found[f"{'/'.join(sorted(others.split('/')))} {row.quantity}".strip()] = row.taken
    assert found == {name: pytest.approx(taken) for name, taken in samples.items()}
    assert len(warnings) == bool(report)
    assert report in "".join(warnings)


LOCALE: list[tuple[str, str, str]] = [
    (READ, "byte", "1.024"), (READ, "byte", "1 024"), (READ, "byte", "1\u00a0024"),
    (READ, "byte", "134.238.976"), (READ, "byte", "33,37"), (READ, "byte", "1'000"),
    (READ, "byte", "1\u202f000"), (READ, "byte", "1,2345"), (READ, "byte", "12,34,567"),
    ("launch__grid_size", "", "4.096"), ("sm__cycles_elapsed.max", "cycle", "143.330"),
    (PER_CYCLE, "inst/cycle", "0,612"), (PER_CYCLE, "inst/cycle", "1,612"),
    (TIME, "us", "117,344"), (READ, "Kbyte", "32,768"), (PERCENT, "%", "33,333"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "unit", "value"), LOCALE)
def test_numbers_of_another_locale_are_refused(
    metric: str, unit: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match=f"input.csv:3: found {re.escape(value)}.*LC_ALL=C"):
        imported(written(tmp_path, one(metric, value, unit)), tmp_path)


ONE = raw({**SHAPE, INST: "1"})
REFUSED: dict[str, tuple[Path | str, str, str]] = {
    "ncu_points_as_thousands.csv:2: found 117.344 ns as gpu__time_": (
        FILES / "ncu_points_as_thousands.csv", "", ""
    ),
    "ncu_two_tables.csv:4: found a second table with other columns": (
        FILES / "ncu_two_tables.csv", "", ""
    ),
    "found columns separated by semicolons": (ONE, '","', '";"'),
    "input.csv:6: found a second table": (
        f"==PROF==\n{ONE}done\n{raw({**SHAPE, 'b.sum': '1'})}", "", ""
    ),
    "more than one host: n1, n2; expected the launches of one device; to fix: import": (
        raw(*({**SHAPE, "Host Name": host, INST: "1"} for host in ("n1", "n2"))), "", ""
    ),
    "more than one device: 0, 1": (RAW, '"(1056, 1, 1)","0"', '"(1056, 1, 1)","1"'),
    "found the time unit 'fortnight'": (GOOGLE, '"ms"', '"fortnight"'),
    "input.csv:10: found a row": (RAW.read_text(encoding="utf-8")[:-60], "", ""),
}  # fmt: skip


@pytest.mark.parametrize("found", REFUSED)
def test_a_page_that_cannot_be_read_for_sure_is_refused(found: str, tmp_path: Path) -> None:
    page, this, that = REFUSED[found]
    file = written(tmp_path, page) if isinstance(page, str) else page
    file = changed(file, tmp_path, lambda text: text.replace(this, that)) if this else file
    with pytest.raises(RunError, match=re.escape(found)):
        interop.bring_in(file, tmp_path)
