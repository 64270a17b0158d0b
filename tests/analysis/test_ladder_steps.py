"""The steps of n-body: what they are taken apart into, what was predicted, what moved."""

import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

import ladder_run
from builders import case, count, load2, measurement, row
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
from strata.ladder import launch
from strata.ladder import rungs as ladder
from strata.ladder.rungs import Cases
from strata.ladder.stalls import Stalls
from strata.ladder.steps import FACTORS, SEEDS, Change, changes, sentences
from strata.model import plain
from strata.report.tables import nbody_rungs, nbody_steps, nbody_unroll
from strata.run import Row, Run


def step(run: Run, rung: str, problem: str = "single") -> Change:
    return next(one for one in changes(run) if (one.rung, one.problem) == (rung, problem))


def predicted(change: Change, rule: str) -> float:
    assert change.prediction is not None
    assert change.prediction.rule == rule
    return change.prediction.value


def pair(
    instructions: tuple[float, float] = (18.2, 14.2),
    utilisation: tuple[float, float] = (68, 79),
    rates: tuple[float, float] = (1.2e12, 1.8e12),
    **changes: Any,
) -> list[dict[str, Any]]:
    """A step from fast_math to unrolled, both counted."""
    lines = []
    steps: tuple[tuple[str, dict[str, Any]], ...] = (("fast_math", {}), ("unrolled", {"unroll": 8}))
    for place, (rung, axes) in enumerate(steps):
        line = rung_case(
            rung, rates[place], SMALL, slots=ladder_run.GPU[rung][1], layout="soaoas",
            **axes, **changes,
        )  # fmt: skip
        lines += [line, rung_counts(line, 24, utilisation[place], instructions[place])]
    return lines


def without(lines: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    for line in lines:
        line["measurements"] = [one for one in line["measurements"] if one["quantity"] not in names]
    return lines


def only(run: Run) -> tuple[Row, Cases]:
    """The one case that was timed, by its rate, and what is known of it."""
    cases = Cases(run)
    (row,) = cases.having(ladder.RATE)
    return row, cases


# --- blocks and SMs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "sms", "share"),
    [(1, 132, 1 / 132), (16, 132, 16 / 132), (132, 132, 1), (133, 132, 133 / 264),
     (256, 132, 256 / 264), (264, 132, 1), (0, 132, 0), (16, 0, 0)],
)  # fmt: skip
def test_sms_wait_for_the_last_block(blocks: int, sms: int, share: float) -> None:
    assert launch.share_at_work(blocks, sms) == pytest.approx(share)


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
    line["facts"]["blocks"] = 660
    assert launch.blocks_at_once(*only(some(tmp_path / "b", line))) == 660


# --- a step taken apart ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_factors_and_the_rest_multiply_to_what_was_measured(seed: int, tmp_path: Path) -> None:
    some_of = random.Random(seed)  # noqa: S311  (cases, not a secret)
    lines = pair(
        (some_of.uniform(9, 50), some_of.uniform(9, 50)),
        (some_of.uniform(10, 99), some_of.uniform(10, 99)),
        (some_of.uniform(1e11, 3e12), some_of.uniform(1e11, 3e12)),
    )
    one = step(some(tmp_path, *lines), "unrolled")
    assert set(one.factors) == {"instructions", "issue", "sms", "clock"}
    assert one.unexplained is not None
    product = math.prod(one.factors.values()) * one.unexplained
    assert product == pytest.approx(one.measured, rel=1e-12)
    assert one.low <= one.measured <= one.high


def test_a_rate_that_is_made_of_its_factors_leaves_nothing(tmp_path: Path) -> None:
    share = 256 / 264
    instructions, utilisation = (18.2, 14.2), (68.0, 79.0)
    rates = [
        32 * SMS * share * CLOCK * used / 25 / each
        for used, each in zip(utilisation, instructions, strict=True)
    ]
    one = step(some(tmp_path, *pair(instructions, utilisation, (rates[0], rates[1]))), "unrolled")
    assert one.factors["instructions"] == pytest.approx(18.2 / 14.2)
    assert one.factors["issue"] == pytest.approx(79 / 68)
    assert one.factors["sms"] == pytest.approx(1)
    # The made-up samples scatter by 0.4 %.
    assert one.unexplained == pytest.approx(1, rel=0.008)


def test_a_missing_counter_is_one_factor_less_and_no_other(tmp_path: Path) -> None:
    whole = step(some(tmp_path / "a", *pair()), "unrolled")
    for missing, name in (
        ("instructions_per_interaction", "instructions"),
        ("executed_per_cycle", "issue"),
        ("core_clock", "clock"),
    ):
        one = step(some(tmp_path / name, *without(pair(), missing)), "unrolled")
        assert set(one.factors) == set(whole.factors) - {name}
        assert all(one.factors[kept] == whole.factors[kept] for kept in one.factors)
        assert one.unexplained == pytest.approx(
            one.measured / math.prod(whole.factors[kept] for kept in one.factors)
        )
        assert one.counted == (name == "clock")


def test_a_counter_of_one_case_alone_gives_no_factor(tmp_path: Path) -> None:
    fast, fast_counts, unrolled, _ = pair()
    one = step(some(tmp_path, fast, fast_counts, unrolled), "unrolled")
    assert not {"instructions", "issue"} & set(one.factors)
    assert not one.moved
    assert not one.counted


def with_sms_at_work(lines: list[dict[str, Any]], *shares: float) -> list[dict[str, Any]]:
    for line, share in zip(lines[1::2], shares, strict=False):
        line["measurements"].append(count("sms_at_work", share, unit="%"))
    return lines


def test_sms_at_work_are_counted_where_both_cases_have_it(tmp_path: Path) -> None:
    both = step(some(tmp_path / "a", *with_sms_at_work(pair(), 96, 48)), "unrolled")
    assert both.factors["sms"] == 0.5
    # The model of the prediction knows the blocks alone.
    assert predicted(both, "limits") == pytest.approx(18 / 14.03)
    one = step(some(tmp_path / "b", *with_sms_at_work(pair(), 96)), "unrolled")
    assert one.factors["sms"] == 1


def test_without_known_sms_there_is_no_share(tmp_path: Path) -> None:
    one = step(some(tmp_path, *pair(), sms=0), "unrolled")
    assert set(one.factors) == {"instructions", "issue", "clock"}


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


def test_a_clock_that_did_not_hold_is_no_factor(tmp_path: Path) -> None:
    lines = pair()
    for one in lines[0]["measurements"]:
        if one["quantity"] == "core_clock":
            one["noise"]["verdict"] = "failed"
    assert "clock" not in step(some(tmp_path, *lines), "unrolled").factors


def test_time_stamps_of_a_cpu_are_no_clock(tmp_path: Path) -> None:
    lines = [
        rung_case(rung, rate, HOST_GALAXIES, backend="host", layout="aos")
        for rung, rate in (("serial", 1e9), ("openmp", 2e9))
    ]
    clock = measurement("core_clock", [2.6e9] * 7, unit="Hz", method="tsc_over_monotonic")
    for line in lines:
        line["measurements"].append(clock)
    assert not step(load2(tmp_path, lines, backend="host"), "openmp", "galaxies").factors


def test_a_cpu_has_no_factors(host: Run) -> None:
    for one in changes(host):
        assert not one.factors
        assert one.unexplained is None


# --- which cases a step compares ------------------------------------------------------------------


def test_a_step_stays_at_one_place_and_in_one_layout(gpu: Run) -> None:
    below = {rung.name: rung.before for rung in gpu.context.rungs}
    for one in changes(gpu):
        before, after = one.before, one.after
        assert ladder.place_of(before) == ladder.place_of(after)
        assert before.params["layout"] == after.params["layout"] == "soaoas"
        assert before.benchmark == below[one.rung]
        assert before.valid
        assert after.valid


def test_a_step_stays_in_its_layout_though_most_rungs_have_another(tmp_path: Path) -> None:
    rungs = [(rung, "aos") for rung in ("naive", "tiled", "one_launch", "unrolled")]
    rungs += [("fast_math", "soaoas"), ("unrolled", "soaoas")]
    lines = [rung_case(rung, 1e12, SMALL, layout=layout) for rung, layout in rungs]
    assert step(some(tmp_path, *lines), "unrolled").after.params["layout"] == "soaoas"


def test_what_no_state_has_is_never_less_than_nothing() -> None:
    states = {name: row("naive", f"stall_{name}", 6) for name in ("wait", "selected")}
    found = Stalls("naive", states, row("naive", "stall_all", 10), None)
    assert found.shares == {"wait": 0.6, "selected": 0.6, "other": 0}


def at_sizes(*sizes: int, rungs: tuple[str, ...] = ("naive", "tiled")) -> list[dict[str, Any]]:
    """Cases of rungs that computed a single system of each size."""
    return [
        rung_case(rung, 1e12, {**SINGLE, "bodies": bodies}, layout="soaoas")
        for rung in rungs
        for bodies in sizes
    ]


def test_steps_are_told_at_the_two_sizes_that_most_rungs_have(tmp_path: Path) -> None:
    lines = at_sizes(16384, 65536, 524288) + at_sizes(65536, 524288, rungs=("one_launch",))
    found = [(one.rung, ladder.size(one.after)[1]) for one in changes(some(tmp_path, *lines))]
    both = ("tiled", "one_launch")
    assert found == [(rung, bodies) for bodies in (524288, 65536) for rung in both]


def test_rungs_that_lack_both_sizes_are_compared_at_their_own(tmp_path: Path) -> None:
    lines = at_sizes(65536, 524288) + at_sizes(16384, rungs=("fast_math", "unrolled"))
    found = [(one.rung, ladder.size(one.after)[1]) for one in changes(some(tmp_path, *lines))]
    assert found == [("tiled", 524288), ("tiled", 65536), ("unrolled", 16384)]


def test_a_counted_size_is_told_before_a_larger_one(tmp_path: Path) -> None:
    large = [
        rung_case("fast_math", 2e12, SINGLE, layout="soaoas", slots=14),
        rung_case("unrolled", 2e12, SINGLE, layout="soaoas", slots=14, unroll=8),
    ]
    (told,) = sentences(some(tmp_path, *pair(), *large))
    assert "fast math, 65 536 bodies" in re.sub(r"[\u2009\u202f\xa0]", " ", plain(told))


def test_where_the_layout_is_the_change_it_differs(tmp_path: Path) -> None:
    lines = [
        rung_case(rung, rate, HOST_GALAXIES, backend="host", layout=layout)
        for rung, rate, layout in (("openmp", 1e9, "aos"), ("cpu_soa", 2e9, "soa"))
    ]
    one = step(load2(tmp_path, lines, backend="host"), "cpu_soa", "galaxies")
    assert one.measured == pytest.approx(2, rel=0.02)


def test_what_several_gpus_do_on_one_is_no_step(tmp_path: Path) -> None:
    lines = [
        rung_case("register_banks", 2e12, SINGLE, layout="soaoas", per_thread=8, warps=8),
        rung_case("several_gpus", 2e12, SINGLE, layout="soaoas", per_thread=8, gpus=1),
    ]
    assert not changes(some(tmp_path / "a", *lines))
    lines.append(rung_case("several_gpus", 3.9e12, SINGLE, layout="soaoas", per_thread=8, gpus=2))
    one = step(some(tmp_path / "b", *lines), "several_gpus")
    assert one.factors["gpus"] == 2
    assert predicted(one, "gpus") == pytest.approx(2, rel=0.04)


# --- predictions ----------------------------------------------------------------------------------


def test_issue_limits_predict_where_slots_are_used(tmp_path: Path) -> None:
    one = step(some(tmp_path / "a", *pair()), "unrolled")
    assert predicted(one, "limits") == pytest.approx(18 / 14.03)
    slow = step(some(tmp_path / "b", *pair(rates=(0.8e12, 1.8e12))), "unrolled")
    assert slow.prediction is None


def test_issue_limits_know_how_many_sms_are_at_work(tmp_path: Path) -> None:
    axes: dict[str, Any] = {"slots": 14.09, "layout": "soaoas"}
    lines = [
        rung_case("invariants", 1.8e12, SMALL, **axes),
        rung_case("block_size", 0.9e12, SMALL, block_size=1024, **axes),
    ]
    one = step(some(tmp_path, *lines), "block_size")
    assert predicted(one, "limits") == pytest.approx(64 / 132 / (256 / 264))


def test_counted_instructions_predict_without_limits(tmp_path: Path) -> None:
    lines = without(pair(), "issue_limit")
    one = step(some(tmp_path / "a", *lines), "unrolled")
    assert predicted(one, "instructions") == pytest.approx(18.2 / 14.2)
    waiting = without(pair(utilisation=(49, 79)), "issue_limit")
    assert step(some(tmp_path / "b", *waiting), "unrolled").prediction is None
    uncounted = without(pair(), "issue_limit", "instructions_per_interaction")
    assert step(some(tmp_path / "c", *uncounted), "unrolled").prediction is None


def test_a_prediction_does_not_know_the_rate_that_it_predicts(tmp_path: Path) -> None:
    rates = ((1.2e12, 1.8e12), (1.2e12, 0.3e12))
    runs = [some(tmp_path / f"{both[1]}", *pair(rates=both)) for both in rates]
    fast, slow = (step(run, "unrolled").prediction for run in runs)
    assert slow == fast


def test_one_launch_is_predicted_by_its_blocks(tmp_path: Path) -> None:
    lines = [
        rung_case("tiled", 4e10, GALAXIES, layout="aos"),
        rung_case("one_launch", 7e11, GALAXIES, layout="aos"),
    ]
    one = step(some(tmp_path / "a", *lines), "one_launch", "galaxies")
    assert predicted(one, "launch") == pytest.approx(512 / 528 / (16 / 132))
    assert one.factors["sms"] == pytest.approx(512 / 528 / (16 / 132))
    assert one.unexplained == pytest.approx(one.measured / 8, rel=1e-3)
    run = some(tmp_path / "b", *lines, sms=0)
    assert step(run, "one_launch", "galaxies").prediction is None


def test_a_cpu_is_predicted_by_its_cores(host: Run) -> None:
    assert predicted(step(host, "openmp", "galaxies"), "cores") == 2
    assert step(host, "simd", "galaxies").prediction is None


def test_each_pair_once_on_a_cpu_is_predicted_by_its_operations(tmp_path: Path) -> None:
    lines = [
        rung_case(rung, rate, HOST_GALAXIES, backend="host", layout="soa")
        for rung, rate in (("cpu_blocked", 2e9), ("cpu_pair_once", 3e9))
    ]
    run = load2(tmp_path, lines, backend="host")
    assert predicted(step(run, "cpu_pair_once", "galaxies"), "operations") == 34 / 21


# --- what moved -----------------------------------------------------------------------------------


def test_the_counters_that_moved_most_are_told(tmp_path: Path) -> None:
    one = step(some(tmp_path, *pair((18.2, 9.1), (68, 79))), "unrolled")
    told = plain(one.moved)
    assert told.startswith("instructions/interaction 18.2 → 9.1; issue slots used 68 → 79 %; ")
    assert "most waited for: arithmetic pipe full 20 → 20 %" in told


def test_a_counter_that_moved_by_3_percent_is_not_told(tmp_path: Path) -> None:
    still = plain(step(some(tmp_path, *pair((14.2 * 1.03, 14.2), (79, 79))), "unrolled").moved)
    assert "instructions/interaction" not in still


def test_three_counters_are_told(tmp_path: Path) -> None:
    lines = pair((28, 14.2), (40, 79))
    requests = SMALL["bodies"] ** 2 / 32
    for line, value in zip(lines[1::2], (1, 9), strict=True):
        line["measurements"] += [
            count("shared_load_requests", requests * value, unit="request"),
            count("l1_sectors_per_request", value, unit="sector"),
        ]
    told = plain(step(some(tmp_path, *lines), "unrolled").moved)
    assert told.count("→") == 4  # and what was waited for


def test_the_range_of_a_step_is_what_both_intervals_allow(tmp_path: Path) -> None:
    cases = Cases(some(tmp_path))
    before, after = (row("tiled", ladder.RATE, rate) for rate in (100.0, 200.0))
    one = Change(before, after, cases)
    assert (one.low, one.measured, one.high) == pytest.approx((198 / 101, 2, 202 / 99))


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [(1.02, "pays nothing"), (1.04, "pays"), (0.98, "pays nothing"), (0.96, "costs")],
)
def test_a_step_of_3_percent_pays_nothing(gain: float, verdict: str, tmp_path: Path) -> None:
    run = some(tmp_path, *pair(rates=(1.2e12, gain * 1.2e12)))
    assert any(f"1.18×) {verdict} here (" in plain(one) for one in sentences(run))


def test_nothing_of_nothing_has_not_moved(tmp_path: Path) -> None:
    lines = pair()
    for line, value in zip(lines[1::2], (1e-6, 9e-4), strict=True):
        line["measurements"].append(count("dram_bytes_per_interaction", value, unit="B"))
    one = step(some(tmp_path, *lines), "unrolled")
    assert "DRAM bytes/interaction" not in plain(one.moved)


def test_loads_are_told_for_each_interaction(tmp_path: Path) -> None:
    lines = pair()
    for line, share in zip(lines[1::2], (1, 256), strict=True):
        requests = 4 * 65536**2 / 32 / share
        line["measurements"].append(count("l1_load_requests", requests, unit="request"))
    told = plain(step(some(tmp_path, *lines), "unrolled").moved)
    assert told.startswith("global loads/interaction 4 → 0.016; ")


def tensor_cores(folder: Path, clock: float) -> Run:
    """The last step of a ladder that ends with tensor cores."""
    said = {"question": "", "source": "", "expectation": "", "change": "", "approximate": True}
    rungs = [
        {"name": name, "before": before, "backend": "cuda", "sum": "blocks"} | said
        for name, before in (("pair_once", ""), ("tensor_cores", "pair_once"))
    ]
    before = rung_case("pair_once", 3e12, SINGLE, layout="soaoas", per_thread=16, slots=8.9)
    after = rung_case(
        "tensor_cores", 6e12, SINGLE, layout="soaoas", ratio=1.25, slots=3.5,
        facts={"near_share": 0.042},
    )  # fmt: skip
    for one in after["measurements"]:
        if one["quantity"] == "core_clock":
            one["samples"] = [clock] * 7
    lines = [before, rung_counts(before, 18, 84, 8.9), after, rung_counts(after, 24, 66, 3.1)]
    for line, xu, tensor in ((lines[1], 38, 0.02), (lines[3], 72, 31)):
        line["measurements"] += [
            count("pipe_xu", xu, unit="%", method="sm__xu.pct"),
            count("pipe_tensor", tensor, unit="%", method="sm__tensor.pct"),
        ]
    return load2(folder, lines, rungs=rungs, device__sm_count=SMS)


def test_of_tensor_cores_pipes_and_near_pairs_are_told(tmp_path: Path) -> None:
    one = step(tensor_cores(tmp_path, CLOCK), "tensor_cores")
    told = plain(one.moved)
    for part in ("tensor pipe used 0.020 → 31 %", "XU pipe used 38 → 72 %", "near pairs 4.2 %"):
        assert part in told
    assert predicted(one, "limits") == pytest.approx(8.9 / 3.5)


@pytest.mark.parametrize(("share", "part"), [(0.91, ", clock 0.91×, "), (0.98, "")])
def test_a_clock_that_moved_is_told(share: float, part: str, tmp_path: Path) -> None:
    (told,) = sentences(tensor_cores(tmp_path, share * CLOCK))
    assert plain(told).startswith("n-body, tensor cores: far groups of bodies on tensor cores (")
    assert ("clock" in plain(told)) == bool(part)
    assert part in plain(told)


# --- bytes of a sector ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rung", "sectors", "used"),
    [
        # A float4 of 16 bytes for each warp and body, alone in its sector.
        ("naive", 2048 * 65536, 16.0),
        ("tiled", 256 * 65536 / 2, 32.0),
        # Fewer sectors than the bytes that were used.
        ("tiled", 256 * 65536 / 4, None),
        ("constant_memory", 256 * 65536 / 2, None),
    ],
)
def test_bytes_used_of_a_sector(
    rung: str, sectors: float, used: float | None, tmp_path: Path
) -> None:
    own = 65536 * 12 / 32  # each thread its own position
    line = rung_case(rung, 1e12, SMALL, layout="soaoas")
    asked = count("l1_load_sectors", sectors + own, method="l1tex__t_sectors.sum")
    run = some(tmp_path, line, rung_counts(line, 50, 50, 14.3, asked))
    found = launch.bytes_used_per_sector(*only(run))
    assert found == (None if used is None else pytest.approx(used, rel=1e-3))


# --- tables and sentences -------------------------------------------------------------------------


def test_every_step_stands_in_a_table(gpu: Run) -> None:
    table = made(nbody_steps, gpu)
    assert len(table.rows) == len(changes(gpu))
    assert set(FACTORS.values()) <= set(table.header)
    at = words(table, "rung").index("pair once")
    assert re.fullmatch(r"1\.4\d\d× \(1\.4\d\d–1\.\d{3}\)", words(table, "measured")[at])
    assert words(table, "predicted")[at] == "1.49× (issue limits)"
    assert all(re.fullmatch(r"\d\.\d\d×", text) for text in words(table, "unexplained"))


def test_a_cpu_has_a_table_of_measured_and_predicted_steps(host: Run) -> None:
    table = made(nbody_steps, host)
    assert table.header == ("rung", "over", "where", "measured", "predicted")
    assert "2.00× (cores)" in words(table, "predicted")


def test_one_rung_has_no_steps(tmp_path: Path) -> None:
    run = some(tmp_path, rung_case("naive", 1e12, SINGLE, layout="aos"))
    assert nbody_steps.make(run) is None
    assert nbody_rungs.make(run) is not None


def test_every_rung_stands_in_a_table_with_what_it_uses(gpu: Run, host: Run) -> None:
    table = made(nbody_rungs, gpu)
    assert words(table, "rung") == [ladder.rung_name(rung) for rung in ladder_run.GPU]
    assert words(table, "registers")[-2] == "126"
    assert words(table, "counted TFLOP/s")[-2].startswith("41.")
    assert "over serial" not in table.header
    table = made(nbody_rungs, host)
    assert "registers" not in table.header
    assert words(table, "over serial")[:2] == ["1.00×", "2.00×"]


def test_no_rate_of_an_invalid_rung_is_told(tmp_path: Path) -> None:
    line = rung_case("naive", 1e12, SMALL, layout="aos", noise="failed")
    table = made(nbody_rungs, some(tmp_path, line, rung_counts(line, 50, 50)))
    assert "counted TFLOP/s" not in table.header


def test_unrolling_stands_beside_what_others_found(gpu: Run, tmp_path: Path) -> None:
    table = made(nbody_unroll, gpu)
    assert words(table, "bodies of a turn") == [
        "1", "2", "4", "8", "16", "32", "64", "128", "256 (all)",
    ]  # fmt: skip
    assert words(table, "over one")[0] == "1.00×"
    assert words(table, "theirs") == ["–", "–", "1.18×", "–", "–", "–", "–", "1.18×", "–"]
    assert nbody_unroll.make(some(tmp_path, rung_case("naive", 1e12, SMALL, layout="aos"))) is None


def test_the_seeds_steps_are_told_where_they_were_counted(gpu: Run, host: Run) -> None:
    told = [plain(one) for one in sentences(gpu)]
    assert len(told) == len(SEEDS) - 1  # without tensor cores
    assert "n-body, pair once: each pair once (no earlier figure on a GPU is known) pays" in told[5]
    assert (
        "loop-invariant code motion (Siegel et al. 2009: with occupancy 6 %) pays noth" in told[3]
    )
    assert "unrolling (Siegel et al. 2009: 1.18×; Handbook, Table 14.2: 1.18×) pays" in told[2]
    assert not sentences(host)


def test_other_suites_are_left_alone(tmp_path: Path) -> None:
    run = some(tmp_path, case([count("interactions_per_second", 1, unit="1/s")]))
    assert not changes(run)
