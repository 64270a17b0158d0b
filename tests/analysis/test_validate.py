"""The table against the samples, the samples against the sweep."""

from pathlib import Path
from typing import Any

import pytest

from builders import (
    COUNTED_RUN,
    GPU_RUN,
    HOST_RUN,
    NAME,
    changed,
    context2,
    count,
    counts,
    edit,
    layout_case,
    load,
    write_run,
)
from strata.run import RunError, load_run
from strata.run.validate import findings, refuse_repeated, refuse_unusable


def edited(run: Path, old: str, new: str) -> tuple[str, ...]:
    edit(run / "measurements.csv", old, new)
    return findings(load_run(run))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A timed case of seven samples, with an interval, which was counted."""
    gates = [("level", "unverified", "not counted yet"), ("code", "unverified", "unknown")]
    line = layout_case("soa", [11, 12, 13, 14, 15, 16, 17], gates=gates)
    found = counts(line, [count(value=28)], gates=[("level", "passed", "99.9 %")])
    return write_run(tmp_path, [line, found], header=context2())


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, COUNTED_RUN])
def test_synthetic_runs_are_sound(folder: Path) -> None:
    # Their table was written by other code than the package's.
    assert findings(load_run(folder)) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",14.0,11.0,", ",14.5,11.0,", "value is 14.5, the samples give 14"),
        (",14.0,11.0,", ",14.0000000001,11.0,", "value is 14.0000000001, the samples give 14"),
        (",14.0,11.0,", ",14.0,12.0,", "ci_low is 12.0, the samples give 11"),
        (",14.0,11.0,", ",14.0,,", "ci_low is None, the samples give 11"),
        (",11.0,17.0,7,", ",11.0,18.0,7,", "maximum is 18.0"),
        (",17.0,7,", ",17.0,8,", "samples is 8"),
        (",true,", ",false,", "valid is False, the samples give True"),
        ("code: unknown", "code: fine", "reasons is 'code: fine'"),
        (",cycle,", ",s,", "unit is 's', the samples give 'cycle'"),
        (f"{NAME},", "other,", "run is 'other'"),
        ("soa;residency=l1", "soa;residency=l2", "params is"),
        (",counted,", ",timed,", "provenance is 'timed', the samples give 'counted'"),
    ],
)
def test_finds_a_row_that_the_samples_do_not_give(
    run: Path, old: str, new: str, words: str
) -> None:
    (finding,) = edited(run, old, new)
    assert finding.startswith("measurements.csv: ")
    assert " of micro/layout_read/cuda/" in finding
    assert words in finding


def test_last_digits_may_be_rounded_differently(run: Path) -> None:
    assert edited(run, ",14.0,11.0,", ",14.000000000000002,11.0,") == ()


def test_finds_rows_too_few_and_too_many(run: Path) -> None:
    few, many = edited(run, ",clock64_slope,", ",event_slope,")
    assert "no row for warp_read_cycles by clock64_slope" in few
    assert "a row for warp_read_cycles by event_slope" in many
    path = run / "measurements.csv"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert [line.partition(" for ")[0] for line in findings(load_run(run))] == [
        "measurements.csv: no row"
    ] * 2


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


def test_finds_a_folder_with_another_name(run: Path) -> None:
    (finding,) = findings(load_run(run.rename(run.parent / "other")))
    assert finding == f"context.json: run is {NAME}, but the folder is called other"


AOS, SOA = (layout_case(layout)["case"] for layout in ("aos", "soa"))
LAYOUT = "micro/layout_read/cuda/"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sweep__cases": [SOA]}, f"samples.jsonl: {AOS} is not a case of the sweep"),
        ({"sweep__cases": [AOS, SOA]}, "found 1 of the 2 cases of a complete run"),
        ({"sweep__cases": [AOS, AOS]}, "twice"),
        ({"finished": "2026-01-01T00:00:00Z"}, "before it started"),
        ({"finished": None}, "no end time"),
        ({"backend": "host"}, "on cuda; expected cases on host only"),
        ({"sweep__plan__time_limit": -5}, "time_limit of the plan is -5; expected 0 to 86400"),
        ({"sweep__plan__max_samples": -1}, "max_samples of the plan is -1"),
        ({"sweep__plan__min_samples": "7"}, "min_samples of the plan is '7'"),
        ({"sweep__cases": [AOS, "micro/layout_read/host/layout=aos"]}, "of the sweep: not on cuda"),
        ({"sweep__cases": [AOS, f"{LAYOUT}block_size=0"]}, "block_size=0 is no value of an axis"),
        ({"sweep__cases": [AOS, f"{LAYOUT}layout=heap"]}, "layout=heap is no value of an axis"),
        ({"sweep__cases": [AOS, f"{LAYOUT}colour=red"]}, "colour=red is no value of an axis"),
    ],
)
def test_finds_contradictions_of_a_context(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    assert any(words in finding for finding in findings(load(tmp_path, [layout_case()], **changes)))
    cases = changes.get("sweep__cases", [AOS])
    stopped = load(tmp_path / "stopped", [layout_case()], state="interrupted", sweep__cases=cases)
    assert not any("complete run" in finding for finding in findings(stopped))


def test_skipped_cases_have_no_rows(tmp_path: Path) -> None:
    skipped = changed(layout_case(), {"status": "skipped", "reason": "no L3", "measurements": []})
    run = load(tmp_path, [skipped, layout_case("soa")])
    assert findings(run) == ()
    assert {row.params["layout"] for row in run.rows} == {"soa"}
