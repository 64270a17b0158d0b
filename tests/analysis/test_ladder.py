"""The n-body ladder: the case of each rung, what each step changed and what was predicted."""

from copy import copy
from pathlib import Path
from typing import Any

import pytest

import ladder_run
from builders import count, counts, load2, measurement
from ladder_run import (
    CLOCK,
    GALAXIES,
    HOST_GALAXIES,
    SINGLE,
    SMALL,
    SMS,
    made,
    rung_case,
    rung_counts,
    some,
    words,
)
from strata import reference
from strata.ladder import launch
from strata.ladder import rungs as ladder
from strata.ladder.best import best_cases
from strata.ladder.rungs import Cases
from strata.ladder.stalls import stalls
from strata.ladder.steps import Change, changes, sentences
from strata.model import Table, plain
from strata.report.tables import nbody
from strata.run import Row, Run


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


def test_a_rung_without_that_problem_is_shown_by_another(tmp_path: Path) -> None:
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


def test_a_valid_case_comes_before_a_faster_invalid_one(tmp_path: Path) -> None:
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


def test_the_rungs_and_their_order_are_those_of_the_run(tmp_path: Path) -> None:
    lines = [rung_case(rung, 1e12, SINGLE, layout="aos") for rung in ("naive", "tiled", "zzz")]
    assert [step.rung for step in best_cases(some(tmp_path / "a", *lines))] == ["naive", "tiled"]
    plan = {"question": "", "source": "", "expectation": "", "sum": "running", "approximate": False}
    rungs = [
        {"name": name, "backend": "cuda", "before": before, "change": f"makes {name}"} | plan
        for name, before in (("zzz", ""), ("tiled", "zzz"), ("naive", "zzz"))
    ]
    run = load2(tmp_path / "b", lines, rungs=rungs)
    assert [step.rung for step in best_cases(run)] == ["zzz", "tiled", "naive"]
    table = made(nbody.rungs, run)
    assert column(table, "change")["zzz"] == "makes zzz"
    assert column(table, "over the rung before")["naive"] == "1.00× zzz"


def test_a_published_rate_is_of_its_chip_alone() -> None:
    h200 = reference.nbody()[0]
    assert reference.is_of(h200, "nvidia-h200")
    assert not reference.is_of(h200, "nvidia-h200-nvl")
    assert not reference.is_of(h200, "nvidia-gh200")
    other = copy(h200)
    vars(other)["gpu"] = "H200 NVL"
    assert not reference.is_of(other, "h200")


# --- tables ---------------------------------------------------------------------------------------


# --- the report -----------------------------------------------------------------------------------


Lines = list[dict[str, Any]]


def step(run: Run, rung: str, problem: str = "single") -> Change:
    return next(one for one in changes(run) if (one.rung, one.problem) == (rung, problem))


def pair(
    instructions: tuple[float, float] = (18.2, 14.2),
    utilisation: tuple[float, float] = (68, 79),
    rates: tuple[float, float] = (1.2e12, 1.8e12),
    **changes: Any,
) -> Lines:
    """A step from fast_math to unrolled, both counted."""
    lines = []
    steps: tuple[tuple[str, dict[str, Any]], ...] = (("fast_math", {}), ("unrolled", {"unroll": 8}))
    for place, (rung, axes) in enumerate(steps):
        slots = ladder_run.GPU[rung][1]
        line = rung_case(rung, rates[place], SMALL, slots=slots, layout="soaoas", **axes, **changes)
        lines += [line, rung_counts(line, 24, utilisation[place], instructions[place])]
    return lines


def counted(lines: Lines, quantity: str, *values: float, unit: str = "1") -> Lines:
    """With one more count of the first cases."""
    for line, value in zip(lines[1::2], values, strict=False):
        line["measurements"].append(count(quantity, value, unit=unit))
    return lines


def without(lines: Lines, *names: str) -> Lines:
    for line in lines:
        line["measurements"] = [one for one in line["measurements"] if one["quantity"] not in names]
    return lines


def on_host(*rungs: tuple[str, float, str]) -> Lines:
    return [
        rung_case(rung, rate, HOST_GALAXIES, backend="host", layout=layout)
        for rung, rate, layout in rungs
    ]


def only(run: Run) -> tuple[Row, Cases]:
    """The one case that was timed, by its rate, and what is known of it."""
    cases = Cases(run)
    (row,) = cases.having(ladder.RATE)
    return row, cases


# --- blocks, SMs and sectors ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rung", "place", "axes", "blocks"),
    [
        ("tiled", GALAXIES, {}, 16),
        ("one_launch", GALAXIES, {}, 512),
        ("block_size", SMALL, {"block_size": 1024}, 64),
        ("registers", SMALL, {"per_thread": 8, "warps": 4}, 256),
        ("several_gpus", SMALL, {"per_thread": 8, "gpus": 2}, 128),
        ("several_gpus", GALAXIES, {"per_thread": 8, "gpus": 2}, 256),
        ("pair_once", SMALL, {"per_thread": 16}, 0),
        ("pair_once", SMALL, {"per_thread": 16, "facts": {"blocks": 660}}, 660),
    ],
)
def test_a_launch_is_cut_into_blocks(
    rung: str, place: dict[str, Any], axes: dict[str, Any], blocks: int, tmp_path: Path
) -> None:
    run = some(tmp_path, rung_case(rung, 1e12, place, layout="soaoas", **axes))
    assert launch.blocks_at_once(*only(run)) == blocks


def test_blocks_of_each_pair_once_are_counted(tmp_path: Path) -> None:
    line = rung_case("pair_once", 3e12, SMALL, layout="soaoas", per_thread=16)
    blocks = count("launched_blocks", 897, unit="block", method="sm__ctas")
    run = some(tmp_path, line, rung_counts(line, 17, 84, 14.3, blocks))
    assert launch.blocks_at_once(*only(run)) == 897 - 1 - 2 * 256


@pytest.mark.parametrize(
    ("rung", "sectors", "used"),
    [
        ("naive", 2048 * 65536, 16.0),  # a float4 for each warp and body, alone in its sector
        ("tiled", 256 * 65536 / 2, 32.0),
        ("tiled", 256 * 65536 / 4, None),  # fewer sectors than the bytes that were used
        ("constant_memory", 256 * 65536 / 2, None),
    ],
)
def test_bytes_used_of_a_sector(
    rung: str, sectors: float, used: float | None, tmp_path: Path
) -> None:
    own = 65536 * 12 / 32  # each thread its own position
    line = rung_case(rung, 1e12, SMALL, layout="soaoas")
    requested = count("l1_load_sectors", sectors + own, method="l1tex__t_sectors.sum")
    found = launch.bytes_used_per_sector(
        *only(some(tmp_path, line, rung_counts(line, 50, 50, 14.3, requested)))
    )
    assert found == (None if used is None else pytest.approx(used, rel=1e-3))


# --- a step taken apart ---------------------------------------------------------------------------


def noisy_clock() -> Lines:
    lines = pair()
    for one in lines[0]["measurements"]:
        if one["quantity"] == "core_clock":
            one["noise"]["verdict"] = "failed"
    return lines


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        (without(pair(), "instructions_per_interaction"), {"instructions"}),
        (without(pair(), "executed_per_cycle"), {"issue"}),
        (noisy_clock(), {"clock"}),
        (pair()[:3], {"instructions", "issue"}),  # counted in one case alone
    ],
)
def test_a_missing_row_is_one_factor_less(tmp_path: Path, lines: Lines, missing: set[str]) -> None:
    one = step(some(tmp_path, *lines), "unrolled")
    assert set(one.factors) == {"instructions", "issue", "sms", "clock"} - missing
    assert one.counted == (missing == {"clock"})


def test_sms_at_work_are_counted_where_both_cases_have_it(tmp_path: Path) -> None:
    both = step(some(tmp_path / "a", *counted(pair(), "sms_at_work", 96, 48, unit="%")), "unrolled")
    assert both.factors["sms"] == 0.5
    assert both.prediction
    assert both.prediction.value == pytest.approx(18 / 14.03)  # by the blocks alone
    one = step(some(tmp_path / "b", *counted(pair(), "sms_at_work", 96, unit="%")), "unrolled")
    assert one.factors["sms"] == 1


def test_invalid_rows_never_enter(tmp_path: Path) -> None:
    assert not changes(some(tmp_path / "a", *pair(noise="failed")))
    # A failed gate of one case takes its counts with it, and the step that it ends.
    lines = pair()
    lines[2]["gates"] = [{"gate": "result", "verdict": "failed", "detail": "wrong"}]
    assert not changes(some(tmp_path / "b", *lines))
    # An invalid best case gives way to a slower one.
    slower = rung_case("unrolled", 1.5e12, SMALL, slots=14.03, layout="soaoas", unroll=4)
    one = step(some(tmp_path / "c", *lines, slower), "unrolled")
    assert one.after.params["unroll"] == "4"


def test_time_stamps_of_a_cpu_are_no_clock(tmp_path: Path) -> None:
    lines = on_host(("serial", 1e9, "aos"), ("openmp", 2e9, "aos"))
    clock = measurement("core_clock", [2.6e9] * 7, unit="Hz", method="tsc_over_monotonic")
    for line in lines:
        line["measurements"].append(clock)
    one = step(load2(tmp_path, lines, backend="host"), "openmp", "galaxies")
    assert (one.factors, one.unexplained) == ({}, None)


# --- which cases a step compares ------------------------------------------------------------------


def test_the_layout_changes_only_where_it_is_the_change(tmp_path: Path) -> None:
    rungs = [(rung, "aos") for rung in ("naive", "tiled", "one_launch", "unrolled")]
    rungs += [("fast_math", "soaoas"), ("unrolled", "soaoas")]
    lines = [rung_case(rung, 1e12, SMALL, layout=layout) for rung, layout in rungs]
    assert step(some(tmp_path / "a", *lines), "unrolled").after.params["layout"] == "soaoas"
    host = load2(
        tmp_path / "b", on_host(("openmp", 1e9, "aos"), ("cpu_soa", 2e9, "soa")), backend="host"
    )
    assert step(host, "cpu_soa", "galaxies").measured == pytest.approx(2, rel=0.02)


def at_sizes(*sizes: int, rungs: tuple[str, ...] = ("naive", "tiled")) -> Lines:
    """Cases of rungs that computed a single system of each size."""
    places = [{**SINGLE, "bodies": bodies} for bodies in sizes]
    return [rung_case(rung, 1e12, place, layout="soaoas") for rung in rungs for place in places]


@pytest.mark.parametrize(
    ("lines", "steps"),
    [
        (
            at_sizes(16384, 65536, 524288) + at_sizes(65536, 524288, rungs=("one_launch",)),
            [(rung, size) for size in (524288, 65536) for rung in ("tiled", "one_launch")],
        ),
        (
            at_sizes(65536, 524288) + at_sizes(16384, rungs=("fast_math", "unrolled")),
            [("tiled", 524288), ("tiled", 65536), ("unrolled", 16384)],
        ),
    ],
)
def test_steps_are_at_the_two_sizes_that_most_rungs_have(
    tmp_path: Path, lines: Lines, steps: list[tuple[str, int]]
) -> None:
    run = some(tmp_path, *lines)
    assert [(one.rung, ladder.size(one.after)[1]) for one in changes(run)] == steps


def test_what_several_gpus_do_on_one_is_no_step(tmp_path: Path) -> None:
    axes: dict[str, Any] = {"layout": "soaoas", "per_thread": 8}
    lines = [
        rung_case("register_banks", 2e12, SINGLE, warps=8, **axes),
        rung_case("several_gpus", 2e12, SINGLE, gpus=1, **axes),
    ]
    assert not changes(some(tmp_path / "a", *lines))
    lines.append(rung_case("several_gpus", 3.9e12, SINGLE, gpus=2, **axes))
    one = step(some(tmp_path / "b", *lines), "several_gpus")
    assert one.factors["gpus"] == 2
    assert one.prediction
    assert one.prediction.rule == "gpus"
    assert one.prediction.value == pytest.approx(2, rel=0.04)


# --- predictions ----------------------------------------------------------------------------------

LIMITS: dict[str, Any] = {"slots": 14.09, "layout": "soaoas"}
NO_LIMIT = without(pair(), "issue_limit")
LAUNCHES = [
    rung_case("tiled", 4e10, GALAXIES, layout="aos"),
    rung_case("one_launch", 7e11, GALAXIES, layout="aos"),
]


@pytest.mark.parametrize(
    ("lines", "rung", "rule", "value"),
    [
        (pair(), "unrolled", "limits", 18 / 14.03),
        (pair(rates=(1.2e12, 0.3e12)), "unrolled", "limits", 18 / 14.03),  # whatever its rate
        (pair(rates=(0.8e12, 1.8e12)), "unrolled", "", 0),  # it waits
        (
            [
                rung_case("invariants", 1.8e12, SMALL, **LIMITS),
                rung_case("block_size", 0.9e12, SMALL, block_size=1024, **LIMITS),
            ],
            "block_size", "limits", 64 / 132 / (256 / 264),
        ),
        (NO_LIMIT, "unrolled", "instructions", 18.2 / 14.2),
        (without(pair(utilisation=(49, 79)), "issue_limit"), "unrolled", "", 0),
        (without(pair(), "issue_limit", "instructions_per_interaction"), "unrolled", "", 0),
        (LAUNCHES, "one_launch", "launch", 512 / 528 / (16 / 132)),
        (on_host(("serial", 1e9, "aos"), ("openmp", 2e9, "aos")), "openmp", "cores", 2),
        (on_host(("cpu_soa", 1e9, "soa"), ("simd", 2e9, "soa")), "simd", "", 0),
        (
            on_host(("cpu_blocked", 2e9, "soa"), ("cpu_pair_once", 3e9, "soa")),
            "cpu_pair_once", "operations", 34 / 21,
        ),
    ],
)  # fmt: skip
def test_a_step_is_predicted_by_a_rule(
    tmp_path: Path, lines: Lines, rung: str, rule: str, value: float
) -> None:
    backend, problem = lines[0]["backend"], lines[0]["params"]["problem"]
    run = load2(tmp_path, lines, backend=backend, device__sm_count=SMS)
    prediction = step(run, rung, problem).prediction
    assert (prediction.rule if prediction else "") == rule
    assert (prediction.value if prediction else 0) == pytest.approx(value)


# --- what moved -----------------------------------------------------------------------------------


def test_what_no_state_has_is_never_less_than_nothing(tmp_path: Path) -> None:
    line = rung_case("naive", 1e12, SMALL, layout="aos")
    states = {"stall_wait": 6, "stall_selected": 6, "stall_all": 10}
    found = counts(line, [count(name, value, unit="warp") for name, value in states.items()])
    (stalled,) = stalls(some(tmp_path, line, found))
    assert stalled.shares == {"wait": 0.6, "selected": 0.6, "other": 0}
    assert stalled.most_waited == "wait"


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [(1.02, "pays nothing"), (1.04, "pays"), (0.98, "pays nothing"), (0.96, "costs")],
)
def test_a_step_of_3_percent_pays_nothing(gain: float, verdict: str, tmp_path: Path) -> None:
    run = some(tmp_path, *pair(rates=(1.2e12, gain * 1.2e12)))
    assert any(f"1.18×) {verdict} here (" in plain(one) for one in sentences(run))


def tensor_cores(folder: Path, clock: float) -> Run:
    """The last step of a ladder that ends with tensor cores."""
    story = {"question": "", "source": "", "expectation": "", "change": "", "approximate": True}
    rungs = [
        {"name": name, "before": before, "backend": "cuda", "sum": "blocks"} | story
        for name, before in (("pair_once", ""), ("tensor_cores", "pair_once"))
    ]
    before = rung_case("pair_once", 3e12, SINGLE, layout="soaoas", per_thread=16, slots=8.9)
    facts = {"near_share": 0.042}
    after = rung_case(
        "tensor_cores", 6e12, SINGLE, layout="soaoas", ratio=1.25, slots=3.5, facts=facts
    )
    for one in after["measurements"]:
        if one["quantity"] == "core_clock":
            one["samples"] = [clock] * 7
    lines = [before, rung_counts(before, 18, 84, 8.9), after, rung_counts(after, 24, 66, 3.1)]
    counted(counted(lines, "pipe_xu", 38, 72, unit="%"), "pipe_tensor", 0.02, 31, unit="%")
    return load2(folder, lines, rungs=rungs, device__sm_count=SMS)


@pytest.mark.parametrize(("share", "part"), [(0.91, ", clock 0.91×, "), (0.98, "")])
def test_of_tensor_cores_pipes_near_pairs_and_a_clock_that_moved_are_named(
    share: float, part: str, tmp_path: Path
) -> None:
    run = tensor_cores(tmp_path, share * CLOCK)
    one = step(run, "tensor_cores")
    moved = plain(one.moved)
    for part_of in ("tensor pipe used 0.020 → 31 %", "XU pipe used 38 → 72 %", "near pairs 4.2 %"):
        assert part_of in moved
    assert one.prediction
    assert one.prediction.value == pytest.approx(8.9 / 3.5)
    (sentence,) = map(plain, sentences(run))
    assert sentence.startswith("n-body, tensor cores: far groups of bodies on tensor cores (")
    assert ("clock" in sentence) == bool(part)
    assert part in sentence


# --- tables and sentences -------------------------------------------------------------------------
