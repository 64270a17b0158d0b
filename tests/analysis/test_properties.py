"""Properties: the knees of any staircase are found, and none where there is none."""

from itertools import pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strata.model.plateaus import OCTAVES, STEP, TOLERANCE, find, noise

STEPS = 8
"""Points of an octave, as the sweeps have them."""


def grid(octaves: float, steps: int = STEPS) -> list[float]:
    """Footprints in bytes from 1 KiB on, evenly spaced on a logarithmic axis."""
    return [1024 * 2 ** (place / steps) for place in range(round(octaves * steps) + 1)]


@st.composite
def staircases(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Levels that rise, and for each but the last how many octaves it lasts."""
    count = draw(st.integers(2, 5))
    first = draw(st.floats(1.0, 400.0))
    rises = draw(st.lists(st.floats(1.4, 10.0), min_size=count - 1, max_size=count - 1))
    lengths = draw(st.lists(st.floats(1.5, 6.0), min_size=count, max_size=count))
    levels = [first]
    for rise in rises:
        levels.append(levels[-1] * rise)
    return levels, lengths


def staircase(
    levels: list[float], lengths: list[float], steps: int = STEPS
) -> tuple[list[float], list[float], list[float]]:
    """The places of a staircase, its values there, and its knees: the last place of a level."""
    edges = np.cumsum(lengths)
    xs = grid(float(edges[-1]), steps)
    ys = [
        levels[min(int(np.searchsorted(edges, log2(x / 1024), side="left")), len(levels) - 1)]
        for x in xs
    ]
    true = [x for (x, y), (_, after) in pairwise(zip(xs, ys, strict=True)) if after > y]
    return xs, ys, true


def noisy(ys: list[float], share: float, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    return [float(y) for y in np.array(ys) * (1 + rng.uniform(-share, share, len(ys)))]


@given(staircases(), st.floats(0, 0.02), st.integers(0, 2**31), st.integers(6, 16))
def test_a_staircase_gives_back_its_knees(
    stairs: tuple[list[float], list[float]], share: float, seed: int, steps: int
) -> None:
    levels, lengths = stairs
    xs, ys, true = staircase(levels, lengths, steps)
    found = find(xs, noisy(ys, share, seed))
    assert len(found) == len(levels)
    for one, level in zip(found, levels, strict=True):
        assert one.level == pytest.approx(level, rel=share + 1e-9)
    for (one, other), place in zip(pairwise(found), true, strict=True):
        assert abs(log2(one.last / place)) <= 1.001 / steps
        assert other.first >= one.last


@given(staircases(), st.floats(0, 0.02), st.integers(0, 2**31))
def test_a_ramp_between_two_levels_belongs_to_neither(
    stairs: tuple[list[float], list[float]], share: float, seed: int
) -> None:
    levels, lengths = stairs
    low, high = levels[:2]
    octaves = lengths[0]
    xs = grid(3 * octaves)
    place = [log2(x / 1024) / octaves for x in xs]
    ys = [low * (high / low) ** min(max(p - 1, 0), 1) for p in place]
    found = find(xs, noisy(ys, share, seed))
    # What is as steep as a tolerance an octave may be read as a step on the way, never as none.
    assert found[0].first == xs[0]
    assert found[-1].last == xs[-1]
    assert found[0].level == pytest.approx(low, rel=STEP)
    assert found[-1].level == pytest.approx(high, rel=STEP)
    assert all(one.last < other.first for one, other in pairwise(found))


@given(st.floats(1.0, 1000.0), st.floats(0, 0.05), st.integers(0, 2**31), st.floats(2, 26))
@example(2263.0, 0.05, 1, 18.0)
def test_a_flat_noisy_line_has_no_knee(
    level: float, share: float, seed: int, octaves: float
) -> None:
    xs = grid(octaves)
    found = find(xs, noisy([level] * len(xs), share, seed))
    assert len(found) <= 1


@given(staircases(), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_units_of_either_axis_change_nothing(
    stairs: tuple[list[float], list[float]], across: float, along: float
) -> None:
    xs, ys, _ = staircase(*stairs)
    one = find(xs, ys)
    other = find([across * x for x in xs], [along * y for y in ys])
    assert [(p.start, p.stop) for p in one] == [(p.start, p.stop) for p in other]


@pytest.mark.parametrize(("least", "next_", "taken"), [(98.0, 104.0, 0), (97.4, 102.4, 1)])
def test_a_plateau_ends_at_half_the_tolerance_from_its_level(
    least: float, next_: float, taken: int
) -> None:
    flat = [least, *[100.0] * 20]
    ys = [*flat, next_, *[300.0] * 20]
    assert next_ / least > 1 + TOLERANCE > next_ / 100
    one, other = find([1024 * 2 ** (place / STEPS) for place in range(len(ys))], ys)
    assert (one.start, one.stop, one.level) == (0, len(flat) - 1 + taken, 100)
    assert (other.start, other.level) == (len(flat) + 1, 300)


def test_slopes_short_stretches_and_few_points_have_no_plateau() -> None:
    xs = grid(4)
    assert find(xs, [x**0.5 for x in xs]) == ()
    (one,) = find(xs, [10.0 if log2(x / 1024) < OCTAVES / 2 else 100.0 for x in xs])
    assert one.level == 100.0
    assert find([], []) == find([1, 2, 4], [5, 5, 5]) == ()
    assert noise([1.0, 2.0, 1.0]) == 0


@pytest.mark.parametrize(
    ("xs", "ys", "message"),
    [
        ([1.0, 2.0], [1.0], "2 positions of 1 points"),
        ([0.0, 1.0], [1.0, 1.0], "not positive"),
        ([1.0, 2.0], [1.0, float("nan")], "not positive"),
        ([2.0, 2.0], [1.0, 1.0], "do not ascend"),
    ],
)
def test_what_is_no_curve_is_refused(xs: list[float], ys: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find(xs, ys)
