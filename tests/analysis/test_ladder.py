"""The n-body ladder: the case of each rung, the gain of each step, tables, and their files."""

from pathlib import Path

import pytest
from msgspec import structs

from builders import load2
from ladder_run import GALAXIES, SINGLE, made, rung_case, some, words
from strata import reference
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.model import Table
from strata.report.tables import nbody_ladder, nbody_thessaly
from strata.run import Run


def column(table: Table, name: str) -> dict[str, str]:
    """One column of a table by its first."""
    return dict(zip(words(table, table.header[0]), words(table, name), strict=True))


def test_the_bound_is_made_of_roundings(gpu: Run) -> None:
    rungs = {rung.name: rung for rung in gpu.context.rungs}
    rounding = 2.0**-24
    assert ladder.rms_bound(rungs["naive"], 4096) == (8 + 64) * rounding
    assert ladder.rms_bound(rungs["fast_math"], 4096) == 2 * (8 + 64) * rounding
    assert ladder.rms_bound(rungs["registers"], 4096) == 2 * (8 + 16 + 4) * rounding


# --- the case of each rung ------------------------------------------------------------------------


def test_a_step_is_taken_at_the_largest_size_that_both_have(gpu: Run) -> None:
    steps = {step.rung: step for step in best_cases(gpu)}
    step = steps["one_launch"]
    assert step.before == steps["tiled"].row
    assert step.after is not None
    assert (ladder.size(step.row), ladder.size(step.after)) == ((1, 524288), (1, 65536))
    assert step.speedup == pytest.approx(step.after.value / steps["tiled"].row.value)
    table = made(nbody_ladder, gpu)
    assert column(table, "over the rung before")["one launch"].endswith("× tiled at 65 536 bodies")


def test_a_rung_without_that_problem_stands_by_another(tmp_path: Path) -> None:
    lines = [rung_case(rung, 1e12, SINGLE, layout="aos") for rung in ("naive", "tiled")]
    lines.append(rung_case("one_launch", 1e12, GALAXIES, layout="aos"))
    one_launch = best_cases(some(tmp_path, *lines))[-1]
    assert ladder.size(one_launch.row) == ladder.THESSALY
    assert one_launch.speedup is None


def test_a_rung_that_was_not_measured_is_stepped_over(tmp_path: Path) -> None:
    lines = [rung_case(rung, 1e12, SINGLE, layout="aos") for rung in ("naive", "one_launch")]
    _, step = best_cases(some(tmp_path, *lines))
    assert step.before is not None
    assert step.before.benchmark == "naive"


def test_a_valid_case_stands_before_a_faster_invalid_one(tmp_path: Path) -> None:
    lines = [
        rung_case("naive", 2e12, SINGLE, noise="failed", layout="aos"),
        rung_case("naive", 1e12, SINGLE, layout="soa"),
        rung_case("tiled", 3e12, SINGLE, noise="failed", layout="soa"),
    ]
    naive, tiled = best_cases(some(tmp_path, *lines))
    assert naive.chosen == "soa"
    assert not tiled.row.valid
    assert tiled.speedup is None


def test_without_a_single_system_the_ladder_is_of_many(tmp_path: Path) -> None:
    other = {"problem": "galaxies", "systems": 4096, "bodies": 4096}
    lines = [rung_case("tiled", 1e12, place, layout="aos") for place in (GALAXIES, other)]
    (step,) = best_cases(some(tmp_path, *lines))
    assert ladder.size_words(step.row) == "32 × 4096 bodies"
    assert step.other is None


def test_the_rungs_and_their_order_are_what_the_run_says(tmp_path: Path) -> None:
    lines = [rung_case(rung, 1e12, SINGLE, layout="aos") for rung in ("naive", "tiled", "zzz")]
    assert [step.rung for step in best_cases(some(tmp_path / "a", *lines))] == ["naive", "tiled"]
    told = {"question": "", "source": "", "expectation": "", "sum": "running", "approximate": False}
    rungs = [
        {"name": name, "backend": "cuda", "before": before, "change": f"makes {name}"} | told
        for name, before in (("zzz", ""), ("tiled", "zzz"), ("naive", "zzz"))
    ]
    run = load2(tmp_path / "b", lines, rungs=rungs)
    assert [step.rung for step in best_cases(run)] == ["zzz", "tiled", "naive"]
    table = made(nbody_ladder, run)
    assert column(table, "change")["zzz"] == "makes zzz"
    assert column(table, "over the rung before")["naive"] == "1.00× zzz"


def test_a_published_rate_is_of_its_chip_alone() -> None:
    h200 = reference.nbody()[0]
    assert reference.is_of(h200, "nvidia-h200")
    assert not reference.is_of(h200, "nvidia-h200-nvl")
    assert not reference.is_of(h200, "nvidia-gh200")
    assert not reference.is_of(structs.replace(h200, gpu="H200 NVL"), "h200")


# --- tables ---------------------------------------------------------------------------------------


def test_one_gpu_is_no_step_over_itself(tmp_path: Path) -> None:
    line = rung_case("several_gpus", 1e12, GALAXIES, layout="soaoas", gpus=1, per_thread=8)
    table = made(nbody_thessaly, some(tmp_path, line))
    assert column(table, "our step")["Use of multiple gpus"] == "–"
    assert column(table, "here")["Use of multiple gpus"].startswith("several gpus, soaoas, 1 GPU;")


# --- the report -----------------------------------------------------------------------------------


def test_rungs_that_are_alike_are_of_the_size_that_most_have(gpu: Run) -> None:
    steps = best_cases(gpu, alike=True)
    assert {ladder.size(step.row) for step in steps} == {(1, 65536)}
    assert [step.second for step in steps if step.rung in ("naive", "tiled")] == [None, None]
    assert {ladder.size(step.second) for step in steps if step.second} == {(1, 524288)}
    for step in steps:
        assert step.before is None or step.speedup == pytest.approx(
            step.row.value / step.before.value
        )


def test_the_fastest_cases_are_of_one_size_and_then_of_the_other(gpu: Run) -> None:
    cases = ladder.Cases(gpu)
    sizes = [ladder.size(row)[1] for row in cases.fastest(cases.having(ladder.RATE))]
    assert sizes == [65536] * 14 + [524288] * 12
