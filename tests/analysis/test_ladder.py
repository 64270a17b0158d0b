"""The n-body ladder: the case of each rung, the gain of each step, tables, and their files."""

import re
from pathlib import Path

import pytest
from msgspec import structs

import ladder_run
from builders import count, load2, row
from ladder_run import GALAXIES, SINGLE, made, rung_case, rung_counts, some, words
from strata import reference
from strata.ladder import best, seeds
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.model import Table, plain
from strata.model.units import SPACE, THIN
from strata.report import page as report
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


def test_rungs_stand_in_order_and_each_by_its_best_case(gpu: Run) -> None:
    steps = best_cases(gpu)
    assert [step.rung for step in steps] == list(ladder_run.GPU)
    assert [ladder.size(step.row)[1] for step in steps] == [65536] * 2 + [524288] * 12
    chosen = {step.rung: step.chosen for step in steps}
    assert chosen["unrolled"] in ("unroll 32", "unroll 64")
    assert chosen["pair_once"] == "12 a thread"
    assert chosen["registers"] == "8 a thread, 4 warps"
    assert chosen["naive"] == "soaoas"
    assert chosen["read_only"] == ""
    assert chosen["several_gpus"] == "GPUs: 2"
    assert {step.row.method for step in steps} == {"event"}


def test_a_step_is_over_the_rung_that_it_changes(gpu: Run) -> None:
    steps = {step.rung: step for step in best_cases(gpu)}
    assert steps["naive"].speedup is None
    registers, invariants = steps["registers"], steps["invariants"]
    assert registers.before == invariants.row
    assert registers.speedup == pytest.approx(registers.row.value / invariants.row.value)
    assert steps["tiled"].other is not None
    assert ladder.size(steps["tiled"].other) == ladder.THESSALY


def test_a_step_is_taken_at_the_largest_size_that_both_have(gpu: Run) -> None:
    steps = {step.rung: step for step in best_cases(gpu)}
    step = steps["one_launch"]
    assert step.before == steps["tiled"].row
    assert step.after is not None
    assert (ladder.size(step.row), ladder.size(step.after)) == ((1, 524288), (1, 65536))
    assert step.speedup == pytest.approx(step.after.value / steps["tiled"].row.value)
    table = made(nbody_ladder, gpu)
    assert column(table, "over the rung before")["one launch"].endswith("× tiled at 65 536 bodies")


def test_the_ladder_is_of_the_problem_that_most_rungs_have(host: Run) -> None:
    steps = best_cases(host)
    assert {ladder.size(step.row) for step in steps} == {(4, 1024)}
    assert [step.rung for step in steps if step.other] == ["simd_rsqrt", "cpu_blocked"]


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


def test_interactions_are_the_square_of_each_system() -> None:
    of = row("tiled", "step_time", 1, systems=32, bodies=4096)
    assert ladder.interactions(of) == 32 * 4096**2


# --- tables ---------------------------------------------------------------------------------------


def test_the_ladder_is_told_in_a_table(gpu: Run) -> None:
    table = made(nbody_ladder, gpu)
    assert len(table.rows) == len(ladder_run.GPU)
    assert column(table, "change")["one launch"] == "the system is a row of the grid"
    assert column(table, "best case")["registers"] == "524 288 bodies; soaoas, 8 a thread, 4 warps"
    assert column(table, "over the rung before")["naive"] == "–"
    last = {name: column(table, name)["pair once"] for name in table.header}
    assert re.fullmatch(r"1\.\d\d× register banks", last["over the rung before"])
    assert re.fullmatch(r"33\d\d \(33\d\d–33\d\d\)", last["10⁹ interactions/s"])
    found = (last["registers"], last["FLOP/interaction"], last["relative RMS error"])
    assert found == ("126", "12.50", "3.9e-7")
    assert column(table, "DRAM bytes/interaction")["one launch"] == "7.6e-5"
    assert column(table, "of issue limit")["naive"] == "–"


def test_a_net_count_stands_before_a_metric(tmp_path: Path) -> None:
    line = rung_case("naive", 1e12, SINGLE, layout="aos")
    net = count("dram_bytes_per_interaction", 0.25, unit="B")
    table = made(nbody_ladder, some(tmp_path, line, rung_counts(line, 50, 50, 14.3, net)))
    assert column(table, "DRAM bytes/interaction") == {"naive": "2.5e-1"}


def test_the_report_on_two_k80_is_redone(gpu: Run) -> None:
    table = made(nbody_thessaly, gpu)
    assert [plain(row[0]) for row in table.rows] == [step[0] for step in seeds.THESSALY_STEPS]
    assert column(table, "their 10⁹ interactions/s")["GPU tiling"] == "20.39"
    assert column(table, "their step")["Elimination of system loop"] == "4.27×"
    here = column(table, "here")
    assert here["serial"] == "–"
    assert here["GPU tiling"] == "tiled, aos; 32 × 4096 bodies"
    assert here["faster math computations"] == "fast math, soa, 1 GPU; 32 × 4096 bodies"
    # Several GPUs are compared with one of them, and what follows with what was before.
    assert here["Use of multiple gpus"] == "several gpus, soaoas, 2 GPUs; 32 × 4096 bodies"
    assert re.fullmatch(r"(1\.9|2\.0)\d×", column(table, "our step")["Use of multiple gpus"])
    assert re.fullmatch(r"1\.1\d×", column(table, "our step")["SoA"])
    assert column(table, "over theirs")["Elimination of system loop"].endswith("×")


def test_one_gpu_is_no_step_over_itself(tmp_path: Path) -> None:
    line = rung_case("several_gpus", 1e12, GALAXIES, layout="soaoas", gpus=1, per_thread=8)
    table = made(nbody_thessaly, some(tmp_path, line))
    assert column(table, "our step")["Use of multiple gpus"] == "–"
    assert column(table, "here")["Use of multiple gpus"].startswith("several gpus, soaoas, 1 GPU;")


# --- the report -----------------------------------------------------------------------------------


def test_the_report_tells_the_ladder_and_its_methods(gpu: Run, tmp_path: Path) -> None:
    page = report.write([gpu], tmp_path).read_text(encoding="utf-8")
    assert "<h4>The n-body ladder</h4>" in page
    assert page.count(">nbody: how much does each step") == 1
    assert "the fastest rung is pair once" in page
    for stem in ("nbody_ladder", "nbody_thessaly"):
        assert (tmp_path / "tables" / f"{stem}.md").is_file()
        assert (tmp_path / "tables" / f"{stem}.tex").is_file()
    for name in ("ladder", "unroll", "block_size", "stalls", "accuracy"):
        assert (tmp_path / "figures" / f"nbody_{name}.svg").is_file()


def test_the_ladder_in_a_sentence(gpu: Run, tmp_path: Path) -> None:
    def told(run: Run) -> str:
        (sentence,) = best.sentences(run)
        return re.sub(f"[{SPACE}{THIN}]", " ", plain(sentence))

    rate = r"33\d\d × 10⁹ interactions/s"
    start = f"n-body, 524 288 bodies: the fastest rung is pair once with {rate}"
    end = r" and 8\d % of what it could reach if a warp issued in every cycle\."
    # The first rung computed a smaller system there.
    assert re.fullmatch(start + end, told(gpu))
    lines = [
        rung_case("naive", 0.6e12, SINGLE, layout="aos"),
        rung_case("pair_once", 3.34e12, SINGLE, layout="soaoas", per_thread=12, slots=8.875),
    ]
    assert re.fullmatch(rf"{start}, 5\.\d\d× naive{end}", told(some(tmp_path, *lines)))


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
