"""The statistics of the comparison: errors of medians, laws of wander, floors, Holm's procedure."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.compare.wander import (
    LEAST,
    MIN_ROWS,
    SHAPES,
    Drift,
    Floor,
    Laws,
    caution,
    fit,
    floors,
    holm,
    median_error,
    strictest,
)


def law(scale: float, shape: float, shift: float) -> Laws:
    """The law of one row."""
    return Laws(np.array([scale]), np.array([shape]), shift)


SHARES = st.floats(1e-9, 0.9)
LAWS = st.builds(law, st.floats(1e-4, 1.0), st.sampled_from(SHAPES), st.floats(0.0, 1.0))


@pytest.mark.parametrize("count", [7, 15, 51])
def test_the_error_of_a_median_is_what_medians_of_repeated_samples_spread(count: int) -> None:
    rng = np.random.default_rng(count)
    samples = np.exp(rng.normal(1, 0.01, (2000, count)))
    spread = float(np.log(np.median(samples, axis=1)).std())
    errors = [median_error(one.tolist()) for one in samples]
    assert spread * 0.9 < np.mean(errors) < spread * 1.4


def test_neighbours_that_depend_on_each_other_widen_the_error() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.01, 400)
    chained = [noise[0]]
    for step in noise[1:]:
        chained.append(0.8 * chained[-1] + 0.6 * step)
    samples = np.exp(chained)
    shuffled = rng.permutation(samples)
    assert median_error(samples.tolist()) > 2 * median_error(shuffled.tolist())


def test_one_sample_and_equal_samples_have_no_error_of_their_own() -> None:
    assert median_error([3.0]) == 0.0
    assert median_error([3.0] * 40) == 0.0


@given(row=LAWS, chance=SHARES)
def test_reach_and_chance_undo_each_other(row: Laws, chance: float) -> None:
    reach = row.reach(chance)
    assert row.chances(reach)[0] == pytest.approx(chance, rel=2e-3)
    assert row.chances(reach * 1.5)[0] < chance


@pytest.mark.parametrize("shape", SHAPES)
def test_the_scale_of_a_law_is_one_sigma_whatever_the_shape(shape: float) -> None:
    reach = law(0.02, shape, 0.0).reach(math.erfc(1 / math.sqrt(2)))
    assert reach == pytest.approx(0.02, rel=1e-4)


@pytest.mark.parametrize("chance", [0.5, 0.05, 1e-4, 1e-8])
def test_of_normal_parts_the_law_is_normal(chance: float) -> None:
    expected = 5 * NormalDist().inv_cdf(1 - chance / 2)
    assert law(3.0, 2.0, 4.0).reach(chance) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_rows_are_no_more_often_far_out_than_the_law_says(shape: float, shift: float) -> None:
    rng = np.random.default_rng(3)
    count = 400_000
    own = rng.gamma(1 / shape, 1, count) ** (1 / shape) * rng.choice([-1, 1], count)
    own /= np.quantile(np.abs(own), math.erf(1 / math.sqrt(2)))
    moved = np.abs(own + rng.normal(0, shift, count))
    for chance in (0.05, 0.01, 0.001):
        beyond = float((moved > law(1.0, shape, shift).reach(chance)).mean())
        assert beyond < 1.2 * chance
        assert shift or beyond > 0.8 * chance


# --- floors ---------------------------------------------------------------------------------------


def test_the_fit_gives_back_spread_and_tails() -> None:
    rng = np.random.default_rng(5)
    none = np.zeros(4000)
    spread, shape = fit(rng.normal(0, 0.01, 4000), none, kept=1.0)
    assert spread == pytest.approx(0.01, rel=0.05)
    assert shape >= 1.6
    spread, shape = fit(rng.laplace(0, 0.01, 4000), none, kept=1.0)
    assert spread == pytest.approx(0.01 * 1.148, rel=0.05)
    assert 0.8 <= shape <= 1.0


def test_the_fit_leaves_out_what_the_samples_explain() -> None:
    rng = np.random.default_rng(6)
    errors = np.full(4000, 0.02)
    changes = rng.normal(0, 0.01, 4000) + rng.normal(0, 0.02, 4000)
    assert fit(changes, errors, kept=1.0)[0] == pytest.approx(0.01, rel=0.15)
    assert fit(rng.normal(0, 0.02, 4000), errors * 1.2, kept=1.0)[0] == pytest.approx(LEAST)


def test_one_row_in_thirty_that_changed_does_not_hide_itself() -> None:
    rng = np.random.default_rng(7)
    changes = rng.normal(0, 0.01, 300)
    calm = fit(changes, np.zeros(300), kept=0.95)
    changes[::30] += 0.3
    spread, shape = fit(changes, np.zeros(300), kept=0.95)
    assert spread == pytest.approx(calm[0], rel=0.1)
    assert shape == calm[1]
    assert fit(changes, np.zeros(300), kept=1.0)[1] < shape


def drift(changes: list[float], group: str = "one") -> Drift:
    return Drift(
        changes=np.array(changes),
        errors=np.zeros(len(changes)),
        groups=[((group, "fine"), ())] * len(changes),
    )


def test_a_group_of_too_few_rows_has_the_floor_of_a_coarser_one_or_the_assumed() -> None:
    rng = np.random.default_rng(8)
    many = drift(rng.normal(0, 0.02, 3 * MIN_ROWS).tolist(), "many")
    few = drift([0.001] * (MIN_ROWS - 1), "few")
    rows = [many.groups[0], few.groups[0]]
    fine, coarse = floors([many, few], rows, known=True, assumed=0.5)
    assert (fine.group, coarse.group) == (("many", "fine"), ())
    assert coarse.rows == 4 * MIN_ROWS - 1
    assert floors([few], rows[1:], known=True, assumed=0.5) == [Floor((), 0, 0.5, 1.0, 0.5)]


@pytest.mark.parametrize("known", [False, True])
def test_shifts_of_whole_groups_are_seen_apart_from_the_spread_within(*, known: bool) -> None:
    rng = np.random.default_rng(9)
    drifts = [
        drift((rng.normal(0, 0.02) + rng.normal(0, 0.003, 100)).tolist(), f"g{i}")
        for i in range(40)
    ]
    (floor,) = floors(drifts, drifts[3].groups[:1], known=known, assumed=0.5)
    assert floor.shift == pytest.approx(0.02 * caution(40), rel=0.4)
    assert floor.spread == pytest.approx(0.003, rel=0.4)


@pytest.mark.parametrize("known", [False, True])
def test_with_few_groups_the_shift_is_at_least_the_assumed(*, known: bool) -> None:
    (floor,) = floors([drift([0.0] * 30)], [()], known=known, assumed=0.007)
    assert floor.shift == 0.007


@pytest.mark.parametrize(("rows", "behind"), [(19, 0), (20, 20)])
def test_twenty_rows_are_enough_for_a_floor(rows: int, behind: int) -> None:
    one = drift([0.001] * rows)
    (floor,) = floors([one], one.groups[:1], known=True, assumed=0.5)
    assert floor.rows == behind


def test_caution_is_one_standard_error_of_a_median_deviation() -> None:
    sizes = np.abs(np.random.default_rng(10).normal(size=(4000, 51)))
    spreads = 1.4826 * np.median(sizes, axis=1)
    assert caution(51) - 1 == pytest.approx(spreads.std(), rel=0.05)


# --- deciding -------------------------------------------------------------------------------------


def test_holm_by_its_own_example() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.005]), 0.05).tolist() == [True, False, False, True]
    assert holm(np.empty(0), 0.05).tolist() == []


@given(st.lists(st.floats(1e-12, 1.0), max_size=60), st.floats(0.001, 0.3))
def test_holm_alarms_at_the_smallest_chances_and_between_bonferroni_and_none(
    listed: list[float], rate: float
) -> None:
    chances = np.array(listed)
    alarms = holm(chances, rate)
    inside, outside = chances[alarms], chances[~alarms]
    assert (inside <= rate).all()
    assert not inside.size or not outside.size or inside.max() <= outside.min()
    assert alarms[chances <= rate / max(len(listed), 1)].all()


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
    assert (holm(chances, rate) <= holm(chances, rate, least) | (chances > least)).all()


def test_alarms_of_reported_changes_keep_the_declared_rate() -> None:
    # Normal rows of very unequal sizes, of which only changes of at least 1 are reported.
    rng = np.random.default_rng(36)
    sigmas = np.exp(rng.uniform(-3, 1, 50))
    least = 2 * (1 - np.array([NormalDist(0, sigma).cdf(1.0) for sigma in sigmas]))
    false = 0
    for _ in range(3000):
        moved = rng.normal(0, sigmas)
        chances = np.array([2 * NormalDist().cdf(-abs(at)) for at in moved / sigmas])
        false += bool((holm(chances, 0.1, least) & (np.abs(moved) >= 1)).any())
    assert 0.08 < false / 3000 < 0.1 + 3 * (0.09 / 3000) ** 0.5
