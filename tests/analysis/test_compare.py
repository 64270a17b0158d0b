"""Comparisons of runs: false alarms at the declared rate, changes found with the declared power."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import strata.compare
from builders import COUNTED_RUN, GPU_RUN
from compare_runs import World, row, run_of, sampled
from strata.compare import (
    Change,
    Comparison,
    Settings,
    better,
    changes,
    compare,
    differences,
    kinship,
)
from strata.compare.wander import median_error
from strata.compare.words import warnings
from strata.run import Row, Run, RunError, load_run

RATE = 0.2
PAIRS = 40
AT_MOST = RATE + 2.6 * math.sqrt(RATE * (1 - RATE) / PAIRS)
"""What the alarms of 40 comparisons at a rate of 0.2 stay below in 99.5 % of all cases."""

WORLDS = {
    "calm": World(benchmarks=5, cases=24, between=0.0),
    "wandering": World(benchmarks=5, cases=24, between=0.01),
    "heavy tails": World(benchmarks=5, cases=24, between=0.01, law="laplace"),
    "shifted groups": World(benchmarks=6, cases=24, shift=0.004),
    "many shifted groups": World(benchmarks=24, cases=12, samples=7, between=0.002, shift=0.002),
    "chained samples": World(benchmarks=5, cases=24, correlation=0.7, samples=7),
}


def alarms(pair: Callable[[np.random.Generator], Comparison]) -> float:
    """The share of comparisons with any alarm, of a row or of a family."""
    found = (pair(np.random.default_rng([11, place])) for place in range(PAIRS))
    return float(np.mean([bool(one.flagged() or one.moved()) for one in found]))


def test_the_slope_at_a_row_is_the_steeper_of_its_two_sides() -> None:
    def chase(footprint: int, cycles: float) -> Row:
        return row("latency_vs_footprint", 0, [cycles] * 7, footprint=footprint)

    knee = [chase(footprint, cycles) for footprint, cycles in ((1, 10), (2, 40), (8, 40), (16, 20))]
    steep = changes._climbs([knee[2], knee[0], knee[3], knee[1]])
    assert [steep[one.key] for one in knee] == pytest.approx([2, 2, 1, 1])


# --- false alarms ---------------------------------------------------------------------------------

PLAIN = Settings(false_alarm=RATE, min_change=0.0)


@pytest.mark.parametrize("same", [0, 1])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.fuzz] * (name not in ("wandering", "shifted groups")))
        for name in WORLDS
    ],
)
def test_runs_of_the_same_code_alarm_at_most_at_the_declared_rate(name: str, same: int) -> None:
    world = WORLDS[name]

    def pair(rng: np.random.Generator) -> Comparison:
        runs = [sampled(world, rng, name=f"run{place}") for place in range(2 + same)]
        return compare(runs[0], runs[1], PLAIN, same=runs[2:])

    assert alarms(pair) <= AT_MOST


def test_a_test_of_the_samples_alone_would_alarm_almost_always() -> None:
    # Why there is a floor: what is declared 0.2 of a whole comparison is nearly 1 without it.
    world = WORLDS["wandering"]

    def naive(rng: np.random.Generator) -> bool:
        one, two = sampled(world, rng), sampled(world, rng)
        bound = 4.0  # of a normal law, more than Bonferroni's for 120 rows at 0.2
        return any(
            abs(math.log(b.value / a.value))
            > bound * math.hypot(median_error(a.taken), median_error(b.taken))
            for a, b in zip(one.rows, two.rows, strict=True)
        )

    assert np.mean([naive(np.random.default_rng([12, place])) for place in range(20)]) > 0.9


def resampled(run: Run, rng: np.random.Generator, name: str) -> Run:
    """The run with as many of its own samples, drawn anew."""
    rows = []
    for one in run.rows:
        taken = rng.choice(one.taken, len(one.taken)).tolist()
        rows.append(
            replace(
                one, value=float(np.median(taken)), minimum=min(taken), maximum=max(taken),
                taken=tuple(taken),
            )
        )  # fmt: skip
    return replace(run, rows=tuple(rows), context=replace(run.context, run=name))


@pytest.mark.parametrize(
    "folder",
    [GPU_RUN, pytest.param(COUNTED_RUN, marks=pytest.mark.fuzz)],
    ids=["first", "counted"],
)
def test_stored_repetitions_drawn_twice_alarm_at_most_at_the_declared_rate(folder: Path) -> None:
    loaded = load_run(folder)
    timed = [one for one in loaded.rows if one.provenance == "timed" and len(one.taken) > 1]
    run = replace(loaded, rows=tuple(timed[:400]))
    assert len(run.rows) > 300

    def pair(rng: np.random.Generator) -> Comparison:
        return compare(resampled(run, rng, "one"), resampled(run, rng, "two"), PLAIN)

    assert alarms(pair) <= AT_MOST


# --- power ----------------------------------------------------------------------------------------

QUIET = World(benchmarks=6, cases=60, samples=31, spread=0.002, between=0.0005)
"""360 rows, samples that spread by 0.2 %, medians that wander by 0.05 %."""


def test_a_slowdown_of_two_percent_is_found_with_the_declared_power() -> None:
    hurt = {(bench, case): 0.02 for bench in range(6) for case in (3, 31)}
    found, hoped, false = [], [], 0
    for place in range(12):
        rng = np.random.default_rng([13, place])
        before = sampled(QUIET, rng, name="before")
        after = sampled(QUIET, rng, name="after", changed=hurt)
        for change in compare(before, after).changes:
            where = (int(change.before.benchmark[-1]), int(change.before.params["size"]))
            if where in hurt:
                found.append(change.verdict == "slower")
                hoped.append(change.found <= 0.02)
            else:
                false += change.verdict in ("slower", "faster")
    assert np.mean(hoped) > 0.95, "2 % is not what this comparison promises to find"
    assert np.mean(found) >= 0.9 - 3 * math.sqrt(0.9 * 0.1 / len(found))
    assert false == 0


def test_a_benchmark_that_is_slower_as_a_whole_is_found_without_runs_of_the_same_code() -> None:
    rng = np.random.default_rng(14)
    hurt = {(2, case): 0.03 for case in range(60)}
    found = compare(sampled(QUIET, rng), sampled(QUIET, rng, name="after", changed=hurt))
    slower = [change for change in found.changes if change.verdict == "slower"]
    assert {change.before.benchmark for change in slower} == {"bench2"}
    assert len(slower) > 55


def test_runs_of_the_same_code_show_what_half_of_all_changes_hide() -> None:
    rng = np.random.default_rng(15)
    hurt = {(b, c): 0.02 + 0.1 * float(rng.random()) for b in range(6) for c in range(0, 60, 2)}
    before, after = sampled(QUIET, rng), sampled(QUIET, rng, name="after", changed=hurt)
    alone = compare(before, after).verdicts()["slower"]
    told = compare(before, after, same=[sampled(QUIET, rng, name="again")])
    assert told.verdicts()["slower"] > 160 > 2 * alone
    assert [[run.context.run for run in runs] for runs in told.repeats] == [["run", "again"]]


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "direction"),
    [
        ("s", "lower"), ("cycle", "lower"), ("tsc_cycle", "lower"), ("B/s", "higher"),
        ("B/cycle", "higher"), ("1/s", "higher"), ("FLOP/s", "higher"), ("B/tsc_cycle", "higher"),
        ("B", "neither"), ("Hz", "neither"), ("1", "neither"),
    ],
)  # fmt: skip
def test_which_direction_is_better_depends_on_the_unit(unit: str, direction: str) -> None:
    assert better(row(unit=unit)) == direction
    assert better(row(unit="1", quantity="share_of_limit")) == "higher"


def pair_of(unit: str = "cycle", factor: float = 1.2, rows: int = 60) -> tuple[Run, Run]:
    """Two quiet runs, the first row of the second times `factor`."""
    rng = np.random.default_rng(16)

    def rows_of(first: float) -> list[Row]:
        return [
            row(
                case=place, unit=unit,
                taken=((first if place == 0 else 1.0) * rng.normal(100, 0.05, 9)).tolist(),
            )
            for place in range(rows)
        ]  # fmt: skip

    return run_of(rows_of(1.0), "before"), run_of(rows_of(factor), "after")


def first(unit: str, factor: float) -> Change:
    return compare(*pair_of(unit, factor)).changes[0]


def test_slower_and_faster_are_of_times_and_of_rates() -> None:
    assert [first("s", 1.2).verdict, first("s", 0.8).verdict] == ["slower", "faster"]
    assert [first("B/s", 1.2).verdict, first("B/s", 0.8).verdict] == ["faster", "slower"]
    assert [first("B", 1.2).verdict, first("B", 0.8).verdict] == ["changed", "changed"]
    assert first("s", 1.2).change == pytest.approx(0.2, abs=0.002)
    assert first("s", 1.2).low < 0.2 < first("s", 1.2).high


def test_an_interval_leaves_out_no_change_where_its_chance_is_below_5_percent() -> None:
    rng = np.random.default_rng(17)
    found = compare(sampled(QUIET, rng), sampled(QUIET, rng, name="after")).changes
    outside = [change.chance for change in found if not change.low < 0 < change.high]
    inside = [change.chance for change in found if change.low < 0 < change.high]
    assert max(outside) <= 0.05 <= min(inside)
    assert max(outside) > 0.01


def test_what_is_found_is_the_least_change_and_what_hides_one_in_ten() -> None:
    rng = np.random.default_rng(18)
    runs = sampled(QUIET, rng), sampled(QUIET, rng, name="after")
    for change in compare(*runs, Settings(min_change=0.1)).changes:
        hidden, reach = (math.log1p(end) for end in (change.found, change.high))
        share = (hidden - math.log1p(0.1)) / (reach - math.log1p(change.change))
        assert 0.4 < share < 0.7  # of a normal law 1.28 of 1.96


def test_the_largest_alarm_of_a_kind_comes_first() -> None:
    before, _ = pair_of()
    scales = {0: 1.2, 1: 0.7, 2: 1.5, 3: 0.6}
    rows = [
        row(case=place, taken=[scales.get(place, 1) * one for one in old.taken])
        for place, old in enumerate(before.rows)
    ]
    flagged = compare(before, run_of(rows, "after")).flagged()
    assert [round(1 + change.change, 3) for change in flagged] == [1.5, 1.2, 0.6, 0.7]


def test_the_rest_is_the_same_and_a_noisy_row_is_undecided() -> None:
    found = compare(*pair_of())
    assert found.verdicts() == {"slower": 1, "same": 59}
    assert [change.before.case for change in found.flagged()] == [found.before.rows[0].case]
    noisy = (60.0, 95.0, 100.0, 105.0, 140.0, 80.0, 120.0)
    before, after = pair_of()
    runs = [run_of([*run.rows, row("copy", 99, noisy)], run.context.run) for run in (before, after)]
    assert compare(runs[0], runs[1]).changes[-1].verdict == "undecided"


def test_a_change_below_the_smallest_of_interest_is_no_alarm() -> None:
    slight = pair_of(factor=1.02)
    assert compare(*slight, Settings(wander=0.001)).changes[0].verdict == "slower"
    settings = Settings(wander=0.001, min_change=0.05)
    assert compare(*slight, settings).changes[0].verdict == "same"


def test_counts_are_compared_to_the_last_digit() -> None:
    def counted(value: float, name: str) -> Run:
        rows = [
            row(case=0, taken=[value], provenance="counted", unit="sector"),
            row(case=1, taken=[7.0], provenance="modelled", unit="sector"),
        ]
        return run_of(rows, name)

    found = compare(counted(100.0, "before"), counted(100.0000001, "after"))
    assert [one.verdict for one in found.exact] == ["changed", "same"]
    assert not found.changes


def test_the_clock_under_load_is_a_condition_and_no_result() -> None:
    def run(hertz: float, name: str) -> Run:
        return run_of([row(quantity="core_clock", unit="Hz", taken=[hertz] * 7), row(case=1)], name)

    found = compare(run(1.98e9, "before"), run(1.90e9, "after"))
    assert [change.before.quantity for change in found.changes] == ["load_cycles"]
    assert [f"{one}" for one in found.differences if one.name.startswith("clock")] == [
        "clock under load, median over cases: 1.98\u00a0GHz against 1.90\u00a0GHz"
    ]


def test_invalid_rows_are_listed_and_never_compared() -> None:
    rows = [row(case=place) for place in range(4)]
    before = run_of([rows[0], replace(rows[1], valid=False), rows[2], rows[3]], "before")
    after = run_of([replace(rows[0], valid=False), replace(rows[1], valid=False), *rows[2:]], "b")
    found = compare(before, after)
    assert [change.before for change in found.changes] == rows[2:]
    assert [(one.before.case, one.reason) for one in found.left_out] == [
        (rows[0].case, "invalid after"),
        (rows[1].case, "invalid before and after"),
    ]


def test_what_cannot_be_divided_or_has_another_unit_is_left_out_with_its_reason() -> None:
    zero = row(case=0, taken=[0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    before = run_of([zero, row(case=1)], "before")
    after = run_of([zero, row(case=1, unit="s")], "after")
    reasons = [one.reason for one in compare(before, after).left_out]
    assert reasons == ["a sample that is not above 0", "timed in cycle before, timed in s after"]


def test_rows_of_one_run_alone_are_counted() -> None:
    before = run_of([row(case=place) for place in range(5)], "before")
    after = run_of([row(case=place) for place in range(3, 12)], "after")
    found = compare(before, after)
    assert (found.alone, len(found.changes)) == ((3, 7), 2)


def test_with_few_rows_a_large_change_is_still_found() -> None:
    found = compare(*pair_of(rows=3, factor=1.3))
    assert [change.verdict for change in found.flagged()] == ["slower"]
    assert found.flagged()[0].before == found.before.rows[0]
    assert found.changes[0].floor.rows == 0


def test_rows_without_stored_samples_are_held_against_the_floor_alone() -> None:
    before, after = pair_of()
    one, two = (
        replace(run, rows=tuple(replace(each, taken=()) for each in run.rows))
        for run in (before, after)
    )
    assert [change.verdict for change in compare(one, two).flagged()] == ["slower"]


def test_the_example_of_the_package_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "before").symlink_to(GPU_RUN)
    (tmp_path / "after").symlink_to(COUNTED_RUN)
    monkeypatch.chdir(tmp_path)
    lines = (strata.compare.__doc__ or "").splitlines()
    example = "\n".join(line[4:] for line in lines if line.startswith("    "))
    exec(example, {})  # noqa: S102  (our own documentation)
    assert capsys.readouterr().out == "0\n"


# --- conditions -----------------------------------------------------------------------------------


def test_a_device_is_told_by_its_number_and_a_host_by_what_it_is() -> None:
    run = run_of([row()])
    assert kinship(run.context, run.context) == "device"
    assert kinship(run.context, run_of([], device__uuid="GPU-2").context) == "model"
    assert kinship(run.context, run_of([], device__slug="other").context) == "other"
    assert kinship(run.context, run_of([], backend="host").context) == "other"
    host = run_of([], device__uuid=None).context
    assert kinship(host, host) == "device"
    for changed in ({"cores": 99}, {"cpu": "another"}, {"memory_bytes": 1}):
        assert kinship(host, replace(host, host=replace(host.host, **changed))) == "model"


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("build__source_digest", "sha256:ffff", "strata.source_digest"),
        ("build__flags", "-O0", "strata.flags"),
        ("build__dirty", False, "strata.dirty"),
        ("build__cuda_compiler", "nvcc 1", "strata.cuda_compiler"),
        ("device__uuid", "GPU-2", "device.uuid"),
        ("device__facts", {"driver": "1"}, "device.driver"),
        ("clocks__after", {"throttled": True}, "clocks after.throttled"),
        ("libraries", {"google_benchmark": "0"}, "libraries.google_benchmark"),
        ("state", "interrupted", "state"),
    ],
)
def test_every_condition_that_differs_is_named(field: str, value: object, name: str) -> None:
    known = {
        "device__facts": {"driver": "580"},
        "libraries": {"google_benchmark": "1.8"},
        "clocks__after": {"throttled": False},
    }
    first_value = {field: known[field]} if field in known else {}
    before = run_of([row()], "before", **first_value)
    after = run_of([row()], "after", **{field: value})
    assert [one.name for one in differences(before, after)] == [name]
    assert differences(before, before) == ()


def test_what_one_run_alone_recorded_is_named_and_a_clock_may_waver_a_little() -> None:
    before = run_of([row()], "before", libraries={}, clocks__before={"sm_clock_hz": 1.980e9})
    after = run_of([row()], "after", libraries={"x": "1"}, clocks__before={"sm_clock_hz": 1.981e9})
    assert [f"{one}" for one in differences(before, after)] == [
        "libraries.x: not recorded against 1"
    ]
    slow = run_of([row()], "slow", libraries={}, clocks__before={"sm_clock_hz": 1.96e9})
    (one,) = differences(before, slow)
    assert f"{one}".startswith("clocks before.sm_clock_hz: 1.98")


def test_repeats_are_of_one_chip_and_code_and_stand_behind_the_run_that_they_repeat() -> None:
    before, after = pair_of()
    first, second = (run_of(before.rows, name, device__uuid="GPU-2") for name in "12")
    again, late = (run_of(before.rows, name) for name in ("again", "late"))
    other = run_of(before.rows, "other", build__source_digest="sha256:ffff")
    found = compare(before, after, same=[first, again, second, late])
    names = [[run.context.run for run in runs] for runs in found.repeats]
    assert names == [["1", "2"], ["before", "again", "late"]]
    assert any("are of another chip (GPU-2)" in line for line in warnings(found))
    for alone in (other, first):
        with pytest.raises(RunError, match="without a repeat"):
            compare(before, after, same=[again, alone])
    changed = run_of(before.rows, "changed", build__source_digest="sha256:ffff")
    found = compare(before, changed, same=[other])
    assert [run.context.run for run in found.repeats[0]] == ["changed", "other"]


def test_a_repeat_of_other_conditions_is_named() -> None:
    before, after = pair_of()
    found = compare(before, after, same=[run_of(before.rows, "again", build__flags="-O0")])
    told = "again is given as a repeat of before, but differs in strata.flags"
    assert any(line.startswith(told) for line in warnings(found))


def test_runs_without_a_common_row_or_of_another_device_say_so_in_one_line() -> None:
    before = run_of([row(case=1)], "before")
    with pytest.raises(RunError, match="no row in common with before"):
        compare(before, run_of([row(case=2)], "after"))
    with pytest.raises(RunError, match="normalised"):
        compare(before, run_of([row(case=1)], "after", device__slug="other"))


@pytest.mark.parametrize(
    "shares", [{"false_alarm": 0.0}, {"min_change": -0.1}, {"wander": math.nan}]
)
def test_settings_out_of_their_range_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected a share"):
        Settings(**shares)
