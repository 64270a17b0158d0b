"""The table against the samples, the samples against the sweep."""

from pathlib import Path
from typing import Any

import pytest

from builders import (
    COUNTED_RUN,
    GPU_RUN,
    HOST_RUN,
    NAME,
    context2,
    count,
    counts,
    edit,
    layout_case,
    load,
    measurement,
    write_run,
)
from strata.run import RunError, load_run
from strata.run.validate import findings, refuse_repeated, refuse_unusable


def edited(run: Path, old: str, new: str) -> tuple[str, ...]:
    edit(run / "measurements.csv", old, new)
    return findings(load_run(run))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Seven samples, so that there is an interval, and a gate that could not be checked."""
    line = layout_case(
        "soa", [11, 12, 13, 14, 15, 16, 17], gates=[("level", "unverified", "no counters")]
    )
    return write_run(tmp_path, [line])


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, COUNTED_RUN])
def test_synthetic_runs_are_sound(folder: Path) -> None:
    # Their table was written by other code than the package's.
    assert findings(load_run(folder)) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",14.0,11.0,", ",14.5,11.0,", "value is 14.5, the samples give 14"),
        (",14.0,11.0,", ",14.0,12.0,", "ci_low is 12.0, the samples give 11"),
        (",14.0,11.0,", ",14.0,,", "ci_low is None, the samples give 11"),
        (",11.0,17.0,7,", ",11.0,18.0,7,", "maximum is 18.0"),
        (",17.0,7,", ",17.0,8,", "samples is 8"),
        (",true,", ",false,", "valid is False, the samples give True"),
        ("level: no counters", "level: fine", "reasons is 'level: fine'"),
        (",cycle,", ",s,", "unit is 's', the samples give 'cycle'"),
        (f"{NAME},", "other,", "run is 'other'"),
        ("soa;residency=l1", "soa;residency=l2", "params is"),
    ],
)
def test_finds_a_row_that_the_samples_do_not_give(
    run: Path, old: str, new: str, words: str
) -> None:
    (finding,) = edited(run, old, new)
    assert finding.startswith("measurements.csv: warp_read_cycles by clock64_slope of micro/")
    assert words in finding


def test_last_digits_may_be_rounded_differently(run: Path) -> None:
    assert edited(run, ",14.0,11.0,", ",14.000000000000002,11.0,") == ()


def test_what_differs_by_more_than_a_last_digit_is_another_number(run: Path) -> None:
    (finding,) = edited(run, ",14.0,11.0,", ",14.0000000001,11.0,")
    assert "value is 14.0000000001, the samples give 14.0" in finding


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (f"{NAME},", "other,", "a row of the run other"),
        (",test-device,", ",another,", "a row of the device another"),
        (",cuda,micro", ",host,micro", "a row of the backend host"),
    ],
)
def test_nothing_is_drawn_from_a_table_of_another_device(
    run: Path, old: str, new: str, words: str
) -> None:
    edit(run / "measurements.csv", old, new)
    with pytest.raises(RunError, match=words):
        refuse_unusable(load_run(run))


def test_a_run_is_given_once(run: Path) -> None:
    one = load_run(run)
    refuse_repeated([one])
    with pytest.raises(RunError, match=f"the run {NAME} twice"):
        refuse_repeated([one, one])


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A case that was timed and counted."""
    line = layout_case("soa", gates=[("level", "unverified", "not counted yet")])
    found = counts(line, [count(value=28)], gates=[("level", "passed", "99.9 %")])
    return write_run(tmp_path, [line, found], header=context2())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",28.0,,", ",29.0,,", "sectors_per_read by cupti_net of micro/"),
        (",counted,", ",timed,", "provenance is 'timed', the samples give 'counted'"),
        (",true,\r\n", ",true,level: not counted yet\r\n", "reasons is 'level: not counted yet'"),
    ],
)
def test_finds_a_table_that_is_not_of_the_merged_samples(
    counted: Path, old: str, new: str, words: str
) -> None:
    (finding,) = edited(counted, old, new)
    assert words in finding


def test_finds_counts_that_the_table_does_not_have(counted: Path) -> None:
    path = counted / "measurements.csv"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b",counted," not in line))
    (finding,) = findings(load_run(counted))
    assert finding.startswith("measurements.csv: no row for sectors_per_read by cupti_net")


def test_finds_rows_too_few_and_too_many(run: Path) -> None:
    few, many = edited(run, ",clock64_slope,", ",event_slope,")
    assert "no row for warp_read_cycles by clock64_slope" in few
    assert "a row for warp_read_cycles by event_slope" in many


def test_finds_a_folder_with_another_name(tmp_path: Path) -> None:
    run = write_run(tmp_path, [layout_case()])
    renamed = run.rename(tmp_path / "other")
    (finding,) = findings(load_run(renamed))
    assert finding == f"context.json: run is {NAME}, but the folder is called other"


def test_finds_cases_that_the_sweep_does_not_have(tmp_path: Path) -> None:
    lines = [layout_case("aos"), layout_case("soa")]
    (finding,) = findings(load(tmp_path, lines, sweep__cases=[lines[0]["case"]]))
    assert "layout=soa" in finding
    assert "not a case of the sweep" in finding


def test_finds_cases_missing_from_a_complete_run_only(tmp_path: Path) -> None:
    cases = [layout_case("aos")["case"], layout_case("soa")["case"]]
    for state, expected in (("complete", 1), ("interrupted", 0)):
        run = load(tmp_path / state, [layout_case("aos")], state=state, sweep__cases=cases)
        assert len(findings(run)) == expected


def test_finds_contradictions_of_the_context(tmp_path: Path) -> None:
    backwards = load(tmp_path / "a", [layout_case()], finished="2026-01-01T00:00:00Z")
    assert "before it started" in findings(backwards)[0]
    endless = load(tmp_path / "b", [layout_case()], finished=None)
    assert "no end time" in findings(endless)[0]
    mixed = load(tmp_path / "c", [layout_case()], backend="host")
    assert "on cuda; expected cases on host only" in findings(mixed)[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"plan": {"time_limit": -5}}, "time_limit of the plan is -5; expected 0 to 86400"),
        ({"plan": {"max_samples": -1}}, "max_samples of the plan is -1"),
        ({"plan": {"min_samples": "7"}}, "min_samples of the plan is '7'"),
        ({"case": "micro/layout_read/host/layout=aos"}, "layout=aos of the sweep: not on cuda"),
        ({"case": "micro/layout_read/cuda/block_size=0"}, "block_size=0 is no value of an axis"),
        ({"case": "micro/layout_read/cuda/layout=heap"}, "layout=heap is no value of an axis"),
        ({"case": "micro/layout_read/cuda/colour=red"}, "colour=red is no value of an axis"),
    ],
)
def test_finds_plans_and_cases_that_no_sweep_has(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    line = layout_case()
    cases = [line["case"], *([change.pop("case")] if "case" in change else [])]
    changes = {f"sweep__{name}": value for name, value in change.items()}
    run = load(tmp_path, [line], state="interrupted", sweep__cases=cases, **changes)
    (finding,) = findings(run)
    assert finding.startswith("context.json: ")
    assert words in finding


def test_finds_a_measured_case_that_no_sweep_has(tmp_path: Path) -> None:
    (finding,) = findings(load(tmp_path, [layout_case("heap")]))
    assert "layout=heap is no value of an axis" in finding


def test_finds_a_case_twice_in_the_sweep(tmp_path: Path) -> None:
    run = load(tmp_path, [layout_case()], sweep__cases=[layout_case()["case"]] * 2)
    assert "twice" in findings(run)[0]


def test_skipped_cases_have_no_rows(tmp_path: Path) -> None:
    skipped = layout_case() | {"status": "skipped", "reason": "no L3", "measurements": []}
    run = load(tmp_path, [skipped, layout_case("soa", extra=[measurement("grid_time", unit="s")])])
    assert findings(run) == ()
    assert {row.params["layout"] for row in run.rows} == {"soa"}
