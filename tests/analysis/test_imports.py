"""Files of other tools: each value becomes a row or is counted, and no value is wrong."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders import DATA
from strata import interop
from strata.run import Row, Run, RunError, load_run
from strata.run.validate import findings

FILES = DATA / "interop"
KERNEL = "step(double *)"
SHAPE = {"Block Size": "(256, 1, 1)", "Grid Size": "(1024, 1, 1)"}
INSTRUCTIONS = "smsp__inst_executed.sum"


def imported(file: Path, folder: Path) -> tuple[Run, list[str]]:
    """The run of a file, and what the import reported."""
    told: list[str] = []
    run = load_run(interop.bring_in(file, folder / "runs", warn=told.append))
    assert findings(run) == ()
    return run, told


def refused(file: Path, folder: Path) -> str:
    with pytest.raises(RunError) as error:
        interop.bring_in(file, folder / "runs")
    return f"{error.value}"


def table(columns: Sequence[str], *rows: Sequence[str]) -> str:
    lines = [columns, *rows]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)


def raw(*launches: dict[str, str], units: dict[str, str] | None = None) -> str:
    """A raw page: its launches, with what they do not name as usual."""
    usual = {"ID": "0", "Process ID": "7", "Process Name": "app", "Kernel Name": KERNEL}
    columns = [*dict.fromkeys([*usual, *(key for one in launches for key in one)])]
    cells = [[(usual | one).get(column, "") for column in columns] for one in launches]
    return table(columns, [(units or {}).get(column, "") for column in columns], *cells)


def details(*values: tuple[str, str, str, str, str]) -> str:
    """A details page of (process, launch, label, unit, value)."""
    columns = "ID,Process ID,Process Name,Kernel Name,Block Size,Grid Size,Section Name"
    columns += ",Metric Name,Metric Unit,Metric Value"
    shape = SHAPE.values()
    rows = [
        (launch, process, "app", KERNEL, *shape, "Launch", label, unit, value)
        for process, launch, label, unit, value in values
    ]
    return table(columns.split(","), *rows)


def written(folder: Path, text: str, name: str = "input.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def by_params(run: Run, quantity: str) -> dict[str, Row]:
    """The rows of a quantity by the parameters of their cases."""
    return {row.case.split("/", 3)[-1]: row for row in run.rows if row.quantity == quantity}


# --- Nsight Compute -------------------------------------------------------------------------------


def test_launches_of_a_page_without_grid_columns_differ_by_their_metrics(tmp_path: Path) -> None:
    run, told = imported(FILES / "ncu_without_grid.csv", tmp_path)
    times = {params: row.value for params, row in by_params(run, "gpu_time").items()}
    assert times == pytest.approx({"block=256/grid=16": 5e-6, "block=256/grid=4096": 905e-6})
    assert told == []


def test_launches_of_unknown_shape_are_no_samples_of_one_case(tmp_path: Path) -> None:
    page = raw({"ID": "0", INSTRUCTIONS: "64"}, {"ID": "1", INSTRUCTIONS: "8,192"})
    run, _ = imported(written(tmp_path, page), tmp_path)
    values = {params: row.value for params, row in by_params(run, "executed_instructions").items()}
    assert values == {"launch=0": 64, "launch=1": 8192}


DURATION, ISSUED, AVERAGE = (
    "gpu__time_duration.sum", "smsp__inst_issued.sum", "smsp__inst_issued.avg"
)  # fmt: skip
FIVE = {**SHAPE, INSTRUCTIONS: "5"}
COUNTED: list[tuple[str, list[float], str]] = [
    ("ncu_instances.csv", [3e-05, 1024, 0],
     "2 values not imported, because they are instances of a metric whose total is imported (2)"),
    (details(("7", "0", INSTRUCTIONS, "inst", "12 (3; 4; 5)")), [12], "3 values not imported"),
    (details(("7", "0", INSTRUCTIONS, "inst", "2,048 (0x7f00: 2,000; 0x7f10: 48)")), [2048],
     "2 values not imported"),
    (raw({**FIVE, "source.sum": "(1; 2)"}), [5], "because they are no numbers (1)"),
    (raw({**FIVE, DURATION: "-5"}, units={DURATION: "ns"}), [5], "they are negative times (1)"),
    (details(*(("7", "0", "Elapsed Cycles", "cycle", value) for value in ("10", "10", "12"))), [10],
     "1 value not imported, because they differ from an earlier value"),
    (raw({**FIVE, ISSUED: "36.86", AVERAGE: "36.86"}, units={ISSUED: "inst", AVERAGE: "inst"}),
     [5, 36.86], "they are fractions of what is counted in whole numbers (1)"),
    (raw({**FIVE, ISSUED: "36.8612"}, units={ISSUED: "Kinst"}), [5, 36861.2], ""),
]  # fmt: skip


@pytest.mark.parametrize(("page", "values", "left_out"), COUNTED)
def test_what_is_no_value_of_a_launch_is_counted(
    page: str, values: list[float], left_out: str, tmp_path: Path
) -> None:
    file = FILES / page if page.startswith("ncu_") else written(tmp_path, page)
    run, lines = imported(file, tmp_path)
    assert [row.value for row in run.rows] == pytest.approx(values)
    assert len(lines) == bool(left_out)
    assert left_out in "".join(lines)


@pytest.mark.parametrize(
    ("metric", "unit", "value"),
    [
        ("dram__bytes_read.sum", "byte", "1.024"),
        ("dram__bytes_read.sum", "byte", "1 024"),
        ("dram__bytes_read.sum", "byte", "1\u00a0024"),
        ("launch__grid_size", "", "4.096"),
        ("sm__cycles_elapsed.max", "cycle", "143.330"),
        ("sm__inst_executed.avg.per_cycle_active", "inst/cycle", "0,612"),
        ("sm__inst_executed.avg.per_cycle_active", "inst/cycle", "1,612"),
        ("gpu__time_duration.sum", "us", "117,344"),
        ("dram__bytes_read.sum", "Kbyte", "32,768"),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "33,333"),
    ],
)
def test_numbers_of_another_locale_are_refused(
    metric: str, unit: str, value: str, tmp_path: Path
) -> None:
    page = raw({**SHAPE, metric: value}, units={metric: unit})
    assert f"found {value}" in refused(written(tmp_path, page), tmp_path)


ONE = raw({**SHAPE, INSTRUCTIONS: "1"})
HOSTS = raw(*({**SHAPE, "Host Name": host, INSTRUCTIONS: "1"} for host in ("n1", "n2")))
REFUSED = {
    "ncu_points_as_thousands.csv": "ncu_points_as_thousands.csv:2: found 117.344 ns as gpu__time_",
    "ncu_two_tables.csv": "ncu_two_tables.csv:4: found a second table with other columns",
    ONE.replace('","', '";"'): "found columns separated by semicolons",
    f"==PROF==\n{ONE}done\n{raw({**SHAPE, 'b.sum': '1'})}": "input.csv:6: found a second table",
    HOSTS: "more than one host: n1, n2; expected the launches of one device; to fix: import",
}


@pytest.mark.parametrize(("page", "found"), REFUSED.items())
def test_a_page_of_another_form_is_refused_by_its_line(
    page: str, found: str, tmp_path: Path
) -> None:
    file = FILES / page if page.startswith("ncu_") else written(tmp_path, page)
    assert found in refused(file, tmp_path)


@pytest.mark.parametrize(
    ("metric", "unit", "text", "value"),
    [
        ("sm__inst_executed.avg.per_cycle_active", "inst/cycle", "1.234", 1.234),
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "33.333", 33.333),
        ("gpu__time_duration.sum", "us", "117.344", 117.344e-6),
        ("gpu__time_duration.sum", "ns", "117,344", 117.344e-6),
        ("dram__bytes_read.sum", "byte", "1,024", 1024),
        ("sm__cycles_active.avg", "cycle", "12.125", 12.125),
    ],
)
def test_fractions_stay_fractions(
    metric: str, unit: str, text: str, value: float, tmp_path: Path
) -> None:
    page = raw({**SHAPE, metric: text}, units={metric: unit})
    run, _ = imported(written(tmp_path, page), tmp_path)
    assert [row.value for row in run.rows] == [pytest.approx(value)]


def test_a_second_table_with_the_same_columns_continues_the_first(tmp_path: Path) -> None:
    first = details(("7", "0", INSTRUCTIONS, "inst", "10"))
    other = details(("7", "0", INSTRUCTIONS, "inst", "30"))
    run, told = imported(written(tmp_path, first + other), tmp_path)
    assert [row.taken for row in run.rows] == [(10, 30)]
    pages = [raw({**SHAPE, INSTRUCTIONS: value}) for value in ("10", "30")]
    run, _ = imported(written(tmp_path, "".join(pages), "raw.csv"), tmp_path)
    assert [row.taken for row in run.rows] == [(10, 30)]
    assert told == []


def test_launches_of_several_processes_are_samples_each(tmp_path: Path) -> None:
    page = details(
        ("7", "0", INSTRUCTIONS, "inst", "1"),
        ("8", "0", INSTRUCTIONS, "inst", "5"),
        ("7", "1", INSTRUCTIONS, "inst", "3"),
    )
    run, told = imported(written(tmp_path, page), tmp_path)
    assert [row.taken for row in run.rows] == [(1, 5, 3)]
    assert (run.cases[0].facts["launches"], run.cases[0].facts["processes"]) == (3, 2)
    assert told == []


def test_kernels_of_two_programs_are_two_cases(tmp_path: Path) -> None:
    page = raw(
        {**SHAPE, "Process Name": "before", INSTRUCTIONS: "10"},
        {**SHAPE, "Process Name": "after", INSTRUCTIONS: "30"},
    )
    run, _ = imported(written(tmp_path, page), tmp_path)
    shape = "block=256x1x1/grid=1024x1x1"
    values = {params: row.value for params, row in by_params(run, "executed_instructions").items()}
    assert values == {f"{shape}/process=before": 10, f"{shape}/process=after": 30}


def test_what_is_no_row_is_counted_by_reason(tmp_path: Path) -> None:
    page = raw(
        {
            **SHAPE,
            INSTRUCTIONS: "1",
            "thread_inst_executed": "32",
            "group:smsp__stalls": "4",
            "smsp__text": "n/a",
            "device__attribute_warp_size": "32",
            "device__attribute_multiprocessor_count": "132",
            "empty.sum": "",
        }
    )
    run, (told,) = imported(written(tmp_path, page), tmp_path)
    assert {row.quantity: row.value for row in run.rows} == {
        "executed_instructions": 1,
        "thread_inst_executed": 32,
    }
    assert run.context.device.facts["sm_count"] == 132
    assert told == (
        "3 values not imported, because they are in columns that are no metric (1), are no numbers "
        "(1), describe the device or the profiler (1)"
    )


def test_what_changes_from_launch_to_launch_is_a_row(tmp_path: Path) -> None:
    metric = "launch__registers_per_thread"
    page = raw(*({**SHAPE, INSTRUCTIONS: "1", metric: value} for value in ("16", "40")))
    run, _ = imported(written(tmp_path, page), tmp_path)
    assert [row.taken for row in run.rows if row.quantity == metric] == [(16, 40)]
    assert metric not in run.cases[0].facts


# --- Google Benchmark -----------------------------------------------------------------------------


def entry(name: str, time: float, **members: Any) -> dict[str, Any]:
    return {"name": name, "real_time": time, "cpu_time": time, "time_unit": "s", **members}


def google(folder: Path, *entries: dict[str, Any]) -> Path:
    return written(folder, json.dumps({"context": {}, "benchmarks": entries}), "g.json")


def times(run: Run) -> dict[str, tuple[float, ...]]:
    """The samples of `real_time` by case, without what all cases begin with."""
    begin = "google_benchmark/"
    return {
        row.case.removeprefix(begin): row.taken for row in run.rows if row.quantity == "real_time"
    }


def test_negative_arguments_keep_their_sign(tmp_path: Path) -> None:
    run, told = imported(FILES / "gbench_negative_argument.json", tmp_path)
    expected = {-8: 92, -4: 96, -2: 98, -1: 99, 0: 100, 1: 101, 2: 102, 4: 104, 8: 108}
    rows = {row.params["arg0"]: row.value for row in run.rows if row.quantity == "real_time"}
    assert rows == pytest.approx({f"{arg}": ns / 1e9 for arg, ns in expected.items()})
    assert not any("same_name" in case.params for case in run.cases)
    assert told == []


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
    run, _ = imported(google(tmp_path, entry(name, 1.0)), tmp_path)
    assert run.cases[0].params == params


def test_a_name_of_two_families_is_two_cases(tmp_path: Path) -> None:
    def repeated(family: int, time: float) -> list[dict[str, Any]]:
        names = {"run_name": "BM_a", "family_index": family, "per_family_instance_index": 0}
        return [
            entry("BM_a", time + index, repetition_index=index, run_type="iteration", **names)
            for index in range(2)
        ]

    run, _ = imported(google(tmp_path, *repeated(0, 1.0), *repeated(1, 7.0)), tmp_path)
    assert times(run) == {"bm_a/host": (1.0, 2.0), "bm_a/host/same_name=2": (7.0, 8.0)}


def test_a_repetition_that_comes_again_is_another_case(tmp_path: Path) -> None:
    entries = [
        entry("BM_a", time, run_name="BM_a", run_type="iteration", repetition_index=index)
        for time, index in ((1.0, 0), (2.0, 1), (7.0, 0), (8.0, 1))
    ]
    means = [
        entry("BM_a_mean", time, run_name="BM_a", run_type="aggregate", aggregate_name="mean")
        for time in (1.5, 7.5)
    ]
    run, told = imported(google(tmp_path, *entries, *means), tmp_path)
    assert times(run) == {"bm_a/host": (1.0, 2.0), "bm_a/host/same_name=2": (7.0, 8.0)}
    assert told == [
        "4 values not imported, because they are computed from values that are imported (4)"
    ]


def test_interleaved_repetitions_stay_together(tmp_path: Path) -> None:
    entries = [
        entry(name, time, run_name=name, run_type="iteration", repetition_index=index)
        for name, time, index in (("A", 1.0, 0), ("B", 5.0, 0), ("A", 2.0, 1), ("B", 6.0, 1))
    ]
    run, _ = imported(google(tmp_path, *entries), tmp_path)
    assert times(run) == {"a/host": (1.0, 2.0), "b/host": (5.0, 6.0)}


def test_statistics_of_an_old_file_are_no_samples(tmp_path: Path) -> None:
    entries = [entry("A", 1.0), entry("A", 2.0), entry("A_mean", 1.5), entry("A_stddev", 0.7)]
    entries += [entry("B_mean", 3.0), entry("B_stddev", 0.1), entry("rolling_mean", 9.0)]
    run, (told,) = imported(google(tmp_path, *entries), tmp_path)
    assert times(run) == {"a/host": (1.0, 2.0), "b/host": (3.0,), "rolling_mean/host": (9.0,)}
    assert told == (
        "6 values not imported, because they are computed from values that are imported (4), "
        "are statistics other than mean and median (2)"
    )


def test_fits_and_values_that_are_no_rows_are_counted(tmp_path: Path) -> None:
    fit = {"name": "A_BigO", "run_name": "A", "run_type": "aggregate", "aggregate_name": "BigO"}
    failed = {"error_occurred": True, "error_message": "lost"}
    entries = [
        entry("A", 1.0, text="words", max_bytes_used=64),
        {**fit, "cpu_coefficient": 1.0, "real_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
        entry("B", 4.0, **failed),
    ]
    run, (told,) = imported(google(tmp_path, *entries), tmp_path)
    assert [(case.benchmark, case.status) for case in run.cases] == [
        ("a", "measured"), ("b", "failed")
    ]  # fmt: skip
    assert {row.quantity: row.value for row in run.rows} == {
        "real_time": 1.0, "cpu_time": 1.0, "max_bytes_used": 64
    }  # fmt: skip
    assert told == (
        "5 values not imported, because they are fits of complexity (2), are no numbers in each "
        "repetition (1), are of repetitions that failed (2)"
    )


def test_times_that_are_none_or_negative_are_counted(tmp_path: Path) -> None:
    entries = entry("A", 1.0) | {"cpu_time": None}, entry("B", -1.0) | {"cpu_time": 2.0}
    run, (told,) = imported(google(tmp_path, *entries), tmp_path)
    assert [(row.benchmark, row.quantity, row.value) for row in run.rows] == [
        ("a", "real_time", 1.0), ("b", "cpu_time", 2.0)
    ]  # fmt: skip
    assert told == (
        "2 values not imported, because they are no numbers in each repetition (1), are negative "
        "times (1)"
    )


def test_counters_whose_names_become_the_same_stay_two(tmp_path: Path) -> None:
    run, _ = imported(google(tmp_path, entry("A", 1.0, **{"x y": 2.0, "x_y": 3.0})), tmp_path)
    assert {row.quantity: row.value for row in run.rows if row.quantity.startswith("x")} == {
        "x_y": 2.0, "x_y_2": 3.0
    }  # fmt: skip
