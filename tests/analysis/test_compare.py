"""Comparisons of runs: false alarms at the declared rate, changes found with the declared power."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy import stats

import strata.compare
from builders import COUNTED_RUN, GPU_RUN
from compare_runs import World, row, run_of, sampled
from strata.compare import (
    Comparison,
    Settings,
    better,
    changes,
    compare,
    differences,
    kinship,
    noise,
    words,
)
from strata.compare.noise import (
    LEAST,
    MIN_ROWS,
    SHAPES,
    Noise,
    Student,
    caution,
    explained,
    families,
    fit,
    floors,
    holm,
    median_errors,
    strictest,
    with_laws,
)
from strata.model.truth import load_run as load_judged
from strata.run import Row, Run, RunError

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
    return float(np.mean([len(one.flagged()) + len(one.moved()) > 0 for one in found]))


# --- medians and laws -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [7, 15, 51])
def test_the_error_of_a_median_is_the_spread_of_medians_of_repeated_samples(count: int) -> None:
    rng = np.random.default_rng(count)
    samples = np.exp(rng.normal(1, 0.01, (2000, count)))
    spread = float(np.log(np.median(samples, axis=1)).std())
    assert spread * 0.9 < median_errors(samples.tolist()).mean() < spread * 1.4


def test_neighbours_that_depend_on_each_other_widen_the_error() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.01, 400)
    chained = [noise[0]]
    for step in noise[1:]:
        chained.append(0.8 * chained[-1] + 0.6 * step)
    samples = np.exp(chained)
    one, other = median_errors([samples.tolist(), rng.permutation(samples).tolist()])
    assert one > 2 * other


def test_single_and_equal_samples_have_no_error() -> None:
    assert median_errors([[3.0], [3.0] * 40, []]).tolist() == [0, 0, 0]


@given(
    st.floats(1e-4, 1.0), st.sampled_from(SHAPES), st.floats(0.0, 1.0), st.sampled_from((0, 4, 6)),
    st.floats(1e-9, 0.9),
)  # fmt: skip
def test_reach_and_chance_undo_each_other(
    scale: float, shape: float, shift: float, freedom: int, chance: float
) -> None:
    law = Noise(*np.array([[scale], [shape], [shift], [freedom]], float))
    reach = law.reach(chance)
    assert law.chances(reach)[0] == pytest.approx(chance, rel=2e-3)
    assert law.chances(reach * 1.5)[0] < chance
    alone = law._replace(shifts=np.zeros(1)).reach(math.erfc(1 / math.sqrt(2)))
    assert alone == pytest.approx(scale)  # 68.3 % whatever the shape


def test_the_slope_at_a_row_is_the_steeper_of_its_two_sides() -> None:
    def chase(footprint: int, cycles: float) -> Row:
        return row("latency_vs_footprint", 0, [cycles] * 7, footprint=footprint)

    knee = [chase(footprint, cycles) for footprint, cycles in ((1, 10), (2, 40), (8, 40), (16, 20))]
    steep = noise.slopes([knee[2], knee[0], knee[3], knee[1], row()])
    assert steep.tolist() == pytest.approx([1, 2, 1, 2, 0])


# --- floors ---------------------------------------------------------------------------------------


def test_the_fit_gives_back_spread_and_tails_beyond_the_samples() -> None:
    rng = np.random.default_rng(5)
    none = np.zeros(4000)
    spread, shape = fit(rng.normal(0, 0.01, 4000), none, kept=1.0)
    assert spread == pytest.approx(0.01, rel=0.05)
    assert shape >= 1.6
    spread, shape = fit(rng.laplace(0, 0.01, 4000), none, kept=1.0)
    assert spread == pytest.approx(0.01 * 1.148, rel=0.05)
    assert 0.8 <= shape <= 1.0
    changes = rng.normal(0, 0.01, 4000) + rng.normal(0, 0.02, 4000)
    assert fit(changes, none + 0.02, kept=1.0)[0] == pytest.approx(0.01, rel=0.15)
    assert fit(rng.normal(0, 0.02, 4000), none + 0.024, kept=1.0)[0] == pytest.approx(LEAST)


def test_one_row_in_thirty_that_changed_does_not_hide_itself() -> None:
    changes = np.random.default_rng(7).normal(0, 0.01, 300)
    calm = fit(changes, np.zeros(300), kept=0.95)
    changes[::30] += 0.3
    spread, shape = fit(changes, np.zeros(300), kept=0.95)
    assert spread == pytest.approx(calm[0], rel=0.1)
    assert shape == calm[1]
    assert fit(changes, np.zeros(300), kept=1.0)[1] < shape


def drift(changes: Any, benchmark: str = "one", unit: str = "cycle") -> pd.DataFrame:
    """Rows of one family that moved by `changes`."""
    words = {"suite": "micro", "benchmark": benchmark, "quantity": benchmark, "level": "dram"}
    return pd.DataFrame({"log": changes, "error": 0.0, "method": "", "unit": unit, **words})


def floors_of(*runs: pd.DataFrame, known: bool = True) -> pd.DataFrame:
    """The floors of the rows of the last run, from all runs."""
    moved = [(run, families(run)) for run in runs]
    laws = with_laws(moved[-1][1], [], 0.5)
    return floors(runs[-1], moved, laws[:0], known=known, assumed=0.5)


def test_a_group_of_too_few_rows_has_the_floor_of_a_coarser_one_or_the_assumed() -> None:
    many = drift(np.random.default_rng(8).normal(0, 0.02, 3 * MIN_ROWS), "many")
    few = drift([0.001] * (MIN_ROWS - 1), "few")
    assert set(floors_of(few, many).floor_group) == {"micro/many/many/dram"}
    coarse = floors_of(many, few).iloc[0]
    assert (coarse.floor_group, coarse.floor_rows) == ("all", 4 * MIN_ROWS - 1)
    alone = floors_of(few).iloc[0]
    assert (alone.floor_group, alone.floor_rows, alone.floor_spread) == ("all", 0, 0.5)
    assert floors_of(drift([0.001] * MIN_ROWS)).floor_rows[0] == MIN_ROWS


@pytest.mark.parametrize("known", [False, True])
def test_shifts_of_whole_groups_are_seen_apart_from_the_spread_within(*, known: bool) -> None:
    rng = np.random.default_rng(9)
    shifted = (rng.normal(0, 0.02) + rng.normal(0, 0.003, 100) for _ in range(40))
    floor = floors_of(
        pd.concat([drift(changes, f"g{at}") for at, changes in enumerate(shifted)]), known=known
    )
    assert floor.floor_shift.iloc[0] == pytest.approx(0.02 * caution(40), rel=0.4)
    assert floor.floor_spread.iloc[0] == pytest.approx(0.003, rel=0.4)
    assert floors_of(drift([0.0] * 30), known=known).floor_shift[0] == 0.5  # of few groups


def test_caution_is_one_standard_error_of_a_median_deviation() -> None:
    sizes = np.abs(np.random.default_rng(10).normal(size=(4000, 51)))
    spreads = 1.4826 * np.median(sizes, axis=1)
    assert caution(51) - 1 == pytest.approx(spreads.std(), rel=0.05)


# --- deciding -------------------------------------------------------------------------------------


def test_holm_by_its_own_example() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.005]), 0.05).tolist() == [True, False, False, True]
    assert holm(np.empty(0), 0.05).tolist() == []


def test_rows_that_hardly_move_by_the_least_change_spend_none_of_the_rate() -> None:
    chances = np.array([0.004, 0.9, 0.9, 0.9])
    assert not holm(chances, 0.01).any()
    least = np.array([0.5, 0.001, 0.001, 0.001])
    assert holm(chances, 0.01, least).tolist() == [True, False, False, False]
    assert not holm(np.array([0.004]), 0.01, 0.003).any()  # smaller than the least


@given(
    st.lists(st.tuples(st.floats(1e-12, 1.0), st.floats(1e-12, 1.0)), min_size=1, max_size=30),
    st.floats(0.001, 0.3),
)
def test_the_first_alarm_spends_the_rate(listed: list[tuple[float, float]], rate: float) -> None:
    chances, least = np.array(listed).T
    level = strictest(least, rate)
    assert np.minimum(level, least).sum() <= rate * (1 + 1e-9)
    assert level >= rate / len(least) * (1 - 1e-9)
    first = int(np.argmin(np.where(chances <= least, chances, np.inf)))
    if chances[first] <= least[first] and abs(chances[first] / level - 1) > 1e-6:
        assert holm(chances, rate, least)[first] == (chances[first] < level)
    plain = holm(chances, rate)
    assert plain[chances <= rate / len(listed)].all()
    assert (plain <= holm(chances, rate, least) | (chances > least)).all()


def test_alarms_of_reported_changes_keep_the_declared_rate() -> None:
    # Normal rows of very unequal sizes, of which only changes of at least 1 are reported.
    rng = np.random.default_rng(36)
    sigmas = np.exp(rng.uniform(-3, 1, 50))
    moved = rng.normal(0, sigmas, (3000, 50))
    least, chances = 2 * stats.norm.sf(1 / sigmas), 2 * stats.norm.sf(np.abs(moved) / sigmas)
    found = [holm(chance, 0.1, least) for chance in chances]
    false = np.mean((np.array(found) & (np.abs(moved) >= 1)).any(axis=1))
    assert 0.08 < false < 0.1 + 3 * (0.09 / 3000) ** 0.5


# --- families -------------------------------------------------------------------------------------

ROUNDS = 80
STEP = 0.0076
"""A step of the clock of an H100."""
ALSO = [pytest.param(name, marks=pytest.mark.fuzz) for name in ("unlike", "alike", "hardly")]


def shifted(
    rng: np.random.Generator, drifts: np.ndarray, spreads: np.ndarray, parts: np.ndarray | float,
    clocks: np.ndarray,
) -> list[pd.DataFrame]:  # fmt: skip
    """The families of each later run against the first: 40, of five rows each.

    A family drifts by `drifts` from run to run and follows the clock by its part.
    """
    of = rng.normal(0, drifts, (len(clocks), len(drifts)))
    spread = spreads * rng.uniform(0.8, 1.25, of.shape)
    names = np.repeat([f"q{at}" for at in range(len(drifts))], 5)
    within = np.array([-1.5, -0.6745, 0, 0.6745, 1.5])
    words = {"suite": "s", "benchmark": "b", "quantity": names, "level": "dram", "unit": "cycle"}
    runs = []
    for at in range(1, len(clocks)):
        clock = clocks[at] - clocks[0]
        middle = of[at] - of[0] + parts * clock
        logs = (middle[:, None] + spread[at][:, None] * within).ravel()
        runs.append(families(pd.DataFrame({"log": logs, **words}), clock))
    return runs


def drifts(name: str, rng: np.random.Generator, spreads: np.ndarray) -> np.ndarray:
    """How far families drift: in proportion to their spread, or more unlike, or not at all."""
    if name == "unlike":
        return spreads * 0.3 * np.exp(rng.normal(0, 0.5, len(spreads)))
    if name == "as supposed":
        return spreads * 0.3 * np.sqrt(4 / rng.chisquare(4, len(spreads)))
    return spreads * {"alike": 0.3, "hardly": 0.01}[name]


@pytest.mark.parametrize("repeats", [0, pytest.param(1, marks=pytest.mark.fuzz), 2])
@pytest.mark.parametrize(("least", "clocked"), [(0.0, False), (0.01, True)])
@pytest.mark.parametrize("name", ["as supposed", *ALSO])
def test_families_of_the_same_code_alarm_at_most_at_the_declared_rate(
    name: str, least: float, repeats: int, *, clocked: bool
) -> None:
    # With clocks, each run has one of two; families follow it fully, by half, or not at all.
    false, rate = 0, 0.1
    for place in range(ROUNDS):
        rng = np.random.default_rng([31, repeats, place])
        spreads = 0.002 * np.exp(rng.normal(0, 1.0, 40))
        parts = rng.choice([0.0, 0.5, 1.0, rng.uniform()], 40)
        clocks = rng.integers(0, 2, 2 + repeats) * STEP * clocked
        moved, *again = shifted(rng, drifts(name, rng, spreads), spreads, parts, clocks)
        found = with_laws(moved, [again] if again else [], 0.003)
        law, beyond = Student(found.scale.to_numpy(), found.freedom.to_numpy()), found.beyond
        smallest = law.chances(least) if least else 1.0
        alarms = holm(law.chances(beyond.to_numpy()), rate, smallest) & (beyond.abs() >= least)
        false += bool(alarms.any())
    assert false / ROUNDS <= rate + 3 * (rate * (1 - rate) / ROUNDS) ** 0.5


@pytest.mark.parametrize("repeats", [0, 2])
def test_a_shift_of_two_percent_is_found_with_a_power_of_95_percent(repeats: int) -> None:
    hits = 0
    for place in range(100):
        rng = np.random.default_rng([33, repeats, place])
        spreads = 0.002 * np.exp(rng.normal(0, 0.3, 40))
        moved, *again = shifted(rng, 0.09 * spreads, spreads, 0.0, np.zeros(2 + repeats))
        moved.loc[moved.index[7], ["middle", "beyond", "drift"]] += 0.02
        found = with_laws(moved, [again] if again else [], 0.003)
        law = Student(found.scale.to_numpy(), found.freedom.to_numpy())
        hits += bool(holm(law.chances(found.beyond.to_numpy()), 0.005)[7])
    assert hits >= 95


@pytest.mark.parametrize(
    ("unit", "ends"),
    [("s", (-0.01, 0.0)), ("B/cycle", (-0.01, 0.0)), ("cycle", (0.0, 0.01)), ("B/s", (0.0, 0.01)),
     ("1", (-0.01, 0.01)), ("tsc_cycle", (0.0, 0.01))],
)  # fmt: skip
def test_a_higher_clock_shortens_times_or_lengthens_them_in_cycles(
    unit: str, ends: tuple[float, float]
) -> None:
    assert explained(unit, 0.01) == ends
    assert explained(unit, -0.01) == (-ends[1], -ends[0])


@pytest.mark.parametrize(
    ("middle", "beyond", "drift_"),
    [(0.012, 0.004, 0.004), (-0.001, -0.001, -0.001), (0.007, 0.0, -0.001), (0.001, 0.0, 0.001),
     (0.004, 0.0, math.nan)],
)  # fmt: skip
def test_a_shift_within_the_range_of_the_clock_is_tested_as_none(
    middle: float, beyond: float, drift_: float
) -> None:
    (shift,) = changes.records(families(drift([middle] * 5), 0.008))
    assert (shift.beyond, shift.drift) == pytest.approx((beyond, drift_), nan_ok=True)


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
        for change in changes.records(compare(before, after).rows):
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
    slower = found.rows[found.rows.verdict == "slower"]
    assert set(slower.benchmark) == {"bench2"}
    assert len(slower) > 55


def test_runs_of_the_same_code_show_what_half_of_all_changes_hide() -> None:
    rng = np.random.default_rng(15)
    hurt = {(b, c): 0.02 + 0.1 * float(rng.random()) for b in range(6) for c in range(0, 60, 2)}
    before, after = sampled(QUIET, rng), sampled(QUIET, rng, name="after", changed=hurt)
    alone = compare(before, after).verdicts()["slower"]
    found = compare(before, after, same=[sampled(QUIET, rng, name="again")])
    assert found.verdicts()["slower"] > 160 > 2 * alone
    assert [[run.context.run for run in runs] for runs in found.repeats] == [["run", "again"]]


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


def first(unit: str, factor: float) -> Any:
    return compare(*pair_of(unit, factor)).rows.iloc[0]


def test_slower_and_faster_are_of_times_and_of_rates() -> None:
    assert [first("s", 1.2).verdict, first("s", 0.8).verdict] == ["slower", "faster"]
    assert [first("B/s", 1.2).verdict, first("B/s", 0.8).verdict] == ["faster", "slower"]
    assert [first("B", 1.2).verdict, first("B", 0.8).verdict] == ["changed", "changed"]
    assert first("s", 1.2).change == pytest.approx(0.2, abs=0.002)
    assert first("s", 1.2).low < 0.2 < first("s", 1.2).high


def test_an_interval_leaves_out_no_change_where_its_chance_is_below_5_percent() -> None:
    rng = np.random.default_rng(17)
    found = compare(sampled(QUIET, rng), sampled(QUIET, rng, name="after")).rows
    inside = (found.low < 0) & (found.high > 0)
    assert 0.01 < found.chance[~inside].max() <= 0.05 <= found.chance[inside].min()


def test_what_is_found_is_the_least_change_and_what_hides_one_in_ten() -> None:
    rng = np.random.default_rng(18)
    runs = sampled(QUIET, rng), sampled(QUIET, rng, name="after")
    for change in changes.records(compare(*runs, Settings(min_change=0.1)).rows):
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
    assert (1 + flagged.change).round(3).tolist() == [1.5, 1.2, 0.6, 0.7]


def test_the_rest_is_the_same_and_a_noisy_row_is_undecided() -> None:
    found = compare(*pair_of())
    assert found.verdicts() == {"slower": 1, "same": 59}
    assert [*found.flagged().case] == [found.before.rows[0].case]
    noisy = (60.0, 95.0, 100.0, 105.0, 140.0, 80.0, 120.0)
    before, after = pair_of()
    runs = [run_of([*run.rows, row("copy", 99, noisy)], run.context.run) for run in (before, after)]
    assert compare(runs[0], runs[1]).rows.verdict.iloc[-1] == "undecided"


def test_a_change_below_the_smallest_of_interest_is_no_alarm() -> None:
    slight = pair_of(factor=1.02)
    assert compare(*slight, Settings(wander=0.001)).rows.verdict[0] == "slower"
    settings = Settings(wander=0.001, min_change=0.05)
    assert compare(*slight, settings).rows.verdict[0] == "same"


def test_counts_are_compared_to_the_last_digit() -> None:
    def counted(value: float, name: str) -> Run:
        rows = [
            row(case=0, taken=[value], provenance="counted", unit="sector"),
            row(case=1, taken=[7.0], provenance="modelled", unit="sector"),
        ]
        return run_of(rows, name)

    found = compare(counted(100.0, "before"), counted(100.0000001, "after"))
    assert [*found.untimed.verdict] == ["changed", "same"]
    assert found.rows.empty


def test_the_clock_under_load_is_a_condition_and_no_result() -> None:
    def run(hertz: float, name: str) -> Run:
        return run_of([row(quantity="core_clock", unit="Hz", taken=[hertz] * 7), row(case=1)], name)

    found = compare(run(1.98e9, "before"), run(1.90e9, "after"))
    assert [*found.rows.quantity] == ["load_cycles"]
    assert [f"{one}" for one in found.differences if one.name.startswith("clock")] == [
        "clock under load, median over cases: 1.98\u00a0GHz against 1.90\u00a0GHz"
    ]


def test_invalid_rows_are_listed_and_never_compared() -> None:
    rows = [row(case=place) for place in range(4)]
    before = run_of([rows[0], replace(rows[1], valid=False), rows[2], rows[3]], "before")
    after = run_of([replace(rows[0], valid=False), replace(rows[1], valid=False), *rows[2:]], "b")
    found = compare(before, after)
    assert [*found.rows.before] == rows[2:]
    assert [*zip(found.untimed.case, found.untimed.reason, strict=True)] == [
        (rows[0].case, "invalid after"),
        (rows[1].case, "invalid before and after"),
    ]


def test_what_cannot_be_divided_or_has_another_unit_is_left_out_with_its_reason() -> None:
    zero = row(case=0, taken=[0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    before = run_of([zero, row(case=1)], "before")
    after = run_of([zero, row(case=1, unit="s")], "after")
    assert [*compare(before, after).untimed.reason] == [
        "a sample that is not above 0",
        "timed in cycle before, timed in s after",
    ]


def test_the_time_of_a_launch_whose_length_each_run_chooses_is_left_out() -> None:
    # Recorded repeats have times of 8.0 and 8.5 ms at one rate and one clock.
    rows = [row(benchmark=name, quantity="grid_time") for name in ("ceilings", "coalescing")]
    found = compare(run_of(rows, "before"), run_of(rows, "after"))
    assert [*found.rows.benchmark] == ["coalescing"]
    assert [*found.untimed.reason] == ["time of a launch whose length each run chooses"]


def test_the_benchmarks_whose_launches_have_a_chosen_length_are_known() -> None:
    sources = defaultdict[str, str](str)
    for file in (Path(__file__).parents[2] / "micro").rglob("*.[ch]*"):
        sources[file.stem] += file.read_text(encoding="utf-8")
    by_trial = re.compile("lengths_by_trial|size_by_trials")
    chosen = {name for name, text in sources.items() if by_trial.search(text)}
    assert {name for name in chosen if "grid_time" in sources[name]} == {*changes.CHOSEN}


def test_rows_of_one_run_alone_are_counted() -> None:
    before = run_of([row(case=place) for place in range(5)], "before")
    after = run_of([row(case=place) for place in range(3, 12)], "after")
    found = compare(before, after)
    assert (found.alone, len(found.rows)) == ((3, 7), 2)


def test_with_few_rows_a_large_change_is_still_found() -> None:
    found = compare(*pair_of(rows=3, factor=1.3))
    assert [*found.flagged().verdict] == ["slower"]
    assert [*found.flagged().before] == [found.before.rows[0]]
    assert found.rows.floor_rows[0] == 0


def test_rows_without_stored_samples_are_held_against_the_floor_alone() -> None:
    before, after = pair_of()
    one, two = (
        replace(run, rows=tuple(replace(each, taken=()) for each in run.rows))
        for run in (before, after)
    )
    assert [*compare(one, two).flagged().verdict] == ["slower"]


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


# --- whole runs -----------------------------------------------------------------------------------

RESULTS = Path(__file__).parents[2] / "results"
H200, H100 = RESULTS / "nvidia-h200", RESULTS / "nvidia-h100-80gb-hbm3"
REPEATS = {
    "h200": [H200 / f"nvidia-h200-20261126T{at}Z-f212fcd" for at in (191502, 192200, 192552)],
    "h100": [H100 / f"{H100.name}-20261126T{at}Z-f212fcd" for at in (184247, 184816, 185141)],
}
"""Runs of one build, three on each of two chips; the first of the H100 has a higher clock."""


@cache
def recorded(folder: Path) -> Run:
    return load_judged(folder)


@cache
def repeated(chip: str, third: int) -> Comparison:
    """Two recorded runs of a chip, and the other one as their repeat."""
    first, second, same = (recorded(REPEATS[chip][(third + at) % 3]) for at in (1, 2, 0))
    return compare(first, second, same=[same])


@pytest.mark.slow
@pytest.mark.parametrize("third", range(3))
@pytest.mark.parametrize("chip", REPEATS)
def test_recorded_repeats_of_one_chip_have_no_alarm(chip: str, third: int) -> None:
    found = repeated(chip, third)
    assert len(found.families) > 100
    for comparison in (found, compare(*found.both)):
        assert comparison.moved().empty
        assert comparison.flagged().empty


@pytest.mark.parametrize(
    ("device", "first", "second"),
    [
        (H200, "20261126T193134Z-f212fcd", "20261126T193151Z-f212fcd"),
        (H200, "20261126T193234Z-f212fcd", "20261126T193134Z-f212fcd"),
        (H200, "20261128T095332Z-ffda041", "20261128T095607Z-ffda041"),
        (H100, "20261127T024447Z-945f886", "20261127T024608Z-945f886"),
        pytest.param(
            H200, "20261126T192552Z-f212fcd", "20261126T193234Z-f212fcd", marks=pytest.mark.slow
        ),  # of two sweeps
    ],
)
def test_repeats_by_which_no_constant_was_chosen_have_no_alarm(
    device: Path, first: str, second: str
) -> None:
    before, after = (recorded(device / f"{device.name}-{name}") for name in (first, second))
    for comparison in (compare(before, after), compare(after, before)):
        assert len(comparison.rows) > 1400
        assert comparison.moved().empty
        assert comparison.flagged().empty


@pytest.mark.slow
@pytest.mark.parametrize(("chip", "power"), [("h200", 0.92), ("h100", 0.86)])
def test_two_percent_planted_in_a_family_of_recorded_repeats_is_found(
    chip: str, power: float
) -> None:
    # With a single repeat, and on the H100 a clock that moved between the runs. Host memory, whose
    # latency drifts by more than 1 %, is left out.
    hits, least = [], math.log1p(0.01)
    for found in (repeated(chip, third) for third in range(3)):
        law = Student(found.families.scale.to_numpy(), found.families.freedom.to_numpy())
        level = strictest(law.chances(least), found.settings.false_alarm / 2)
        ends = np.array([explained(unit, found.clock) for unit in found.families.unit])
        for planted in (math.log(1.02), -math.log(1.02)):
            moved = found.families.middle + planted
            beyond = (moved - moved.clip(*ends.T)).to_numpy()
            hit = (law.chances(beyond) <= level) & (np.abs(beyond) >= least)
            hits += hit[found.families.level != "mapped"].tolist()
    assert np.mean(hits) >= power


# --- methods, compared on recorded runs -----------------------------------------------------------


def recorded_pair(device: Path, build: str) -> tuple[Run, Run]:
    first, second = (recorded(folder) for folder in sorted(device.glob(f"*-{build}")))
    return first, second


def test_a_normal_law_raises_alarms_on_repeats_that_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Why rows have tails: Efron's null, and the variance component of Kalibera and Jones.
    pair = recorded_pair(H200, "5a66410")
    assert compare(*pair).flagged().empty
    monkeypatch.setattr(noise, "SHAPES", (2.0,))
    assert len(compare(*pair).flagged())


def test_a_standard_error_does_not_describe_the_median_of_two_modes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Why the order statistics of both medians must be apart: a chain in L2 whose samples are in
    # part of 300, in part of 367 cycles.
    pair = recorded_pair(H100, "c491cab")
    found = compare(*pair)
    assert (len(found.families) > 40, len(found.moved()), len(found.flagged())) == (True, 0, 0)
    monkeypatch.setattr(changes, "APART", 0.0)
    assert len(compare(*pair).flagged()) > 0


def test_students_law_finds_fewer_rows_of_the_recorded_pair() -> None:
    # Why the tails are Subbotin's and not those of Student's t, fitted to the same changes.
    found = compare(*moved_dram())
    sigmas = np.linalg.norm(
        [found.rows.floor_spread, found.rows.floor_shift, found.rows.error], axis=0
    )
    ratios = found.rows.log / sigmas
    freedom, _, scale = stats.t.fit(ratios[ratios.abs() < ratios.abs().quantile(0.95)], floc=0)
    law = Student(scale * sigmas, np.full(len(sigmas), freedom))
    least = law.chances(math.log1p(found.settings.min_change))
    alarms = holm(law.chances(found.rows.log.to_numpy()), found.settings.false_alarm / 2, least)
    assert alarms.sum() < len(found.flagged()) / 2


def moved_dram() -> tuple[Run, Run]:
    """Two recorded runs of two chips, the second of which loads faster out of DRAM."""
    names = ("20261121T230721Z-ee8608f", "20261121T235015Z-0683d2f")
    first, second = (recorded(H200 / f"nvidia-h200-{name}") for name in names)
    return first, second


@pytest.mark.parametrize(
    "repeats", [(), pytest.param(REPEATS["h200"], marks=pytest.mark.slow)], ids=["alone", "repeats"]
)
def test_the_recorded_pair_whose_dram_moved_has_a_sentence(repeats: Sequence[Path]) -> None:
    found = compare(*moved_dram(), same=[recorded(of) for of in repeats])
    moved = {
        (one.benchmark, one.quantity, one.level): one for one in changes.records(found.moved())
    }
    latency = moved["latency_vs_footprint", "load_cycles", "dram"]
    assert latency.verdict == "faster"
    assert latency.change == pytest.approx(-0.037, abs=0.001)
    assert latency.low < latency.change < latency.high < -0.03
    assert words.sentence(found, latency).replace(found.after.context.run, "B") == (
        "DRAM latency (latency_vs_footprint load_cycles) 3.7\u00a0% lower in B, "
        "every footprint (445 rows)"
    )
    assert not {key for key in moved if key[2] != "dram" and "past" not in key[2]}
    assert (
        words.sections([found])[0].notes[1].startswith("Families of rows that moved together: DRAM")
    )


def family_of(scales: list[float], name: str, unit: str = "cycle") -> Run:
    """24 benchmarks of 30 cases each, quiet, the cases of the first times `scales`."""
    rng = np.random.default_rng([34, *name.encode()])
    rows = []
    for bench in range(24):
        drift = rng.normal(0, 0.0005)
        for case in range(30):
            scale = scales[case % len(scales)] if bench == 0 else 1.0
            taken = 100 * scale * np.exp(drift + rng.normal(0, 0.002) + rng.normal(0, 0.002, 7))
            rows.append(row(f"bench{bench}", case, taken.tolist(), unit=unit, level="l2"))
    return run_of(rows, name)


@pytest.mark.parametrize("same", [0, 2])
def test_a_family_that_is_two_percent_slower_is_slower_though_no_row_is(same: int) -> None:
    again = [family_of([1.0], f"again{at}") for at in range(same)]
    found = compare(family_of([1.0], "a"), family_of([1.02], "b"), same=again)
    (moved,) = changes.records(found.moved())
    assert found.flagged().empty
    assert found.slower
    assert (moved.benchmark, moved.verdict, moved.alike, moved.rows) == ("bench0", "slower", 30, 30)
    assert moved.repeats == same
    assert moved.low < 0.02 < moved.high
    rates = compare(family_of([1.0], "a", "B/s"), family_of([1.02], "b", "B/s"), same=[])
    assert [*rates.moved().verdict] == ["faster"]
    assert not rates.slower


def test_a_family_whose_rows_part_did_not_move_as_a_whole() -> None:
    scales = [1.05, 1.05, 0.95]
    again = [family_of([1.0], f"again{at}") for at in range(3)]
    found = compare(family_of([1.0], "a"), family_of(scales, "b"), same=again)
    assert found.moved().empty
    (one,) = changes.records(found.families[found.families.benchmark == "bench0"])
    assert (one.alike, one.verdict) == (20, "undecided")
    assert one.chance < 0.005 / 24
    assert words.along(found, one) == "20 of 30 rows"


def test_families_of_few_rows_are_left_to_their_rows() -> None:
    rows = [row("few", case, level="dram") for case in range(4)]
    found = compare(run_of(rows, "a"), run_of(rows, "b"))
    assert (len(found.rows), len(found.families)) == (4, 0)


def clocked(clock: float, name: str, times: float = 1.0) -> Run:
    """The run of `family_of` at another clock, which half of the benchmarks follow."""
    run = family_of([times], name, "s")
    rows = [
        replace(one, value=factor * one.value, taken=tuple(factor * at for at in one.taken))
        for one in run.rows
        for factor in [1 / clock if int(one.benchmark[5:]) % 2 else 1.0]
    ]
    rows += [
        row(f"bench{bench}", case, [2e9 * clock] * 7, quantity="core_clock", unit="Hz", level="l2")
        for bench in range(24)
        for case in range(30)
    ]
    return run_of(rows, name)


@pytest.mark.parametrize("same", [0, 1, 2])
def test_what_another_clock_explains_is_no_alarm_and_what_it_does_not_is(same: int) -> None:
    again = [clocked(1.0, f"again{at}") for at in range(same)]
    before = clocked(1.0, "a")
    slow = compare(before, clocked(0.97, "b"), same=again)
    assert slow.moved().empty
    assert slow.flagged().empty
    (follows,) = changes.records(slow.families[slow.families.benchmark == "bench1"])
    assert follows.change == pytest.approx(1 / 0.97 - 1, abs=0.003)
    assert (follows.verdict, follows.chance) == ("undecided", 1.0)
    assert follows.found > 0.03
    assert any("clock under load" in warning for warning in words.warnings(slow))
    (clock,) = (note for note in words.sections([slow])[0].notes if note.startswith("The clock of"))
    assert clock.startswith("The clock of the second run is 3.0\u00a0% lower: of each family, only")
    moved = compare(before, clocked(0.97, "b", 1.055), same=again).moved()
    assert [(one.benchmark, one.verdict) for one in changes.records(moved)] == [
        ("bench0", "slower")
    ]


# --- conditions -----------------------------------------------------------------------------------


def test_a_device_is_identified_by_its_number_and_a_host_by_its_hardware() -> None:
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


def test_repeats_are_of_one_chip_and_code_and_follow_the_run_that_they_repeat() -> None:
    before, after = pair_of()
    first, second = (run_of(before.rows, name, device__uuid="GPU-2") for name in "12")
    again, late = (run_of(before.rows, name) for name in ("again", "late"))
    other = run_of(before.rows, "other", build__source_digest="sha256:ffff")
    found = compare(before, after, same=[first, again, second, late])
    names = [[run.context.run for run in runs] for runs in found.repeats]
    assert names == [["1", "2"], ["before", "again", "late"]]
    assert any("are of another chip (GPU-2)" in line for line in words.warnings(found))
    for alone in (other, first):
        with pytest.raises(RunError, match="without a repeat"):
            compare(before, after, same=[again, alone])
    changed = run_of(before.rows, "changed", build__source_digest="sha256:ffff")
    found = compare(before, changed, same=[other])
    assert [run.context.run for run in found.repeats[0]] == ["changed", "other"]


def test_a_repeat_of_other_conditions_is_named() -> None:
    before, after = pair_of()
    found = compare(before, after, same=[run_of(before.rows, "again", build__flags="-O0")])
    warning = "again is given as a repeat of before, but differs in strata.flags"
    assert any(line.startswith(warning) for line in words.warnings(found))


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
