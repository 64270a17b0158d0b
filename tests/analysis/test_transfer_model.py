"""Lines through transfers: known ones come back, and what cannot be known is not there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import t

from builders import case, load, measurement
from strata.model import transfer_model as tm

SIZES = tuple(4**power for power in range(1, 15))


def noisy(alpha: float, beta: float, spread: float, seed: int = 3) -> list[float]:
    generator = np.random.default_rng(seed)
    return [(alpha + beta * size) * (1 + spread * generator.standard_normal()) for size in SIZES]


def transfer(
    size: int,
    seconds: float | Sequence[float],
    *,
    gates: Sequence[tuple[str, str, str]] = (),
    **params: Any,
) -> dict[str, Any]:
    place = {"memory": "pinned", "direction": "to_device", "pieces": 1, "packing": "none"} | params
    samples = [seconds] if isinstance(seconds, int | float) else list(seconds)
    return case(
        [
            measurement("transfer_time", samples, unit="s", method="wall"),
            measurement("bandwidth", [size / one for one in samples], unit="B/s", method="wall"),
            measurement("transfer_time", [0.5 * one for one in samples], unit="s", method="event"),
        ],
        benchmark="transfers",
        params=place | {"bytes": size},
        gates=gates,
    )


def sweep(time: Callable[[int], float], **params: Any) -> list[dict[str, Any]]:
    return [transfer(size, time(size), **params) for size in SIZES]


def line(seconds: Sequence[float]) -> tm.Line:
    found = tm.fit(SIZES, seconds)
    assert found is not None
    return found


def exact(alpha: float, beta: float) -> tm.Line:
    return line([alpha + beta * size for size in SIZES])


def test_intervals_are_those_of_scipy() -> None:
    sizes, seconds = np.array(SIZES[:5], float), np.array(noisy(5e-6, 2e-8, 0.03)[:5])
    found = tm.fit(sizes.tolist(), seconds.tolist())
    assert found

    def model(x: Any, alpha: float, beta: float) -> Any:
        return alpha + beta * x

    best, covariance = curve_fit(model, sizes, seconds, (5e-6, 2e-8), sigma=seconds)
    reach = t.ppf(0.975, 3) * np.sqrt(np.diag(covariance))
    ends = [*found.alpha_interval, *found.beta_interval]
    wanted = np.column_stack([best - reach, best + reach]).ravel()
    assert ends == pytest.approx(wanted.tolist(), rel=1e-4)


def test_small_and_large_sizes_weigh_the_same() -> None:
    # A tenth of a second off at the far end must not drown the microseconds at the near one.
    seconds = [5e-6 + 1e-9 * size for size in SIZES]
    seconds[-1] *= 1.05
    assert line(seconds).alpha == pytest.approx(5e-6, rel=0.05)


@pytest.mark.parametrize(
    ("sizes", "seconds"),
    [
        ((4, 8, 16), (1.0, 1.0, 1.0)),
        ((4, 4, 4, 4), (1.0, 1.0, 1.0, 1.0)),
        ((4, 8, 16, 32), (1.0, 0.0, 1.0, 1.0)),
    ],
)
def test_too_little_gives_no_line(sizes: Sequence[int], seconds: Sequence[float]) -> None:
    assert tm.fit(sizes, seconds) is None


def test_a_crossing_is_where_the_lines_meet() -> None:
    many, packed = exact(1e-4, 2e-11), exact(1e-5, 1.1e-10)
    found = tm.break_even(many, packed)
    assert found is not None
    assert found.size == pytest.approx(1e6)
    assert found.interval.low == pytest.approx(1e6)
    assert tm.break_even(packed, many) is None  # packing is dearer from the first byte on
    assert tm.break_even(many, exact(1e-5, 1e-11)) is None  # it always pays


def test_the_interval_of_a_crossing_holds_the_truth() -> None:
    held = 0
    for seed in range(200):
        many = line(noisy(1e-4, 2e-11, 0.03, seed))
        packed = line(noisy(1e-5, 1.1e-10, 0.03, seed + 1000))
        found = tm.break_even(many, packed)
        assert found is not None
        assert found.interval.low <= found.size <= found.interval.high
        held += found.interval.low <= 1e6 <= found.interval.high
    assert 185 <= held < 198


def test_held_out_sizes_are_predicted_and_not_fitted(tmp_path: Path) -> None:
    out = tm.held_out(SIZES)
    lines = [
        transfer(
            size, (5e-6 + 2e-11 * size) * (1.5 if size == min(out) else 1.25 if size in out else 1)
        )
        for size in SIZES
    ]
    found = tm.points(load(tmp_path, lines).rows)
    assert {point.bytes for point in found if point.held_out} == out
    (fitted,) = tm.lines(found).values()
    assert fitted.alpha == pytest.approx(5e-6)
    assert tm.worst_prediction(found) == pytest.approx(1 / 3)


def test_invalid_points_are_neither_fitted_nor_held_out(tmp_path: Path) -> None:
    bad = SIZES[6]
    lines = [
        transfer(size, 1.0, gates=[("result", "failed", "wrong")])
        if size == bad
        else transfer(size, 5e-6 + 2e-11 * size)
        for size in SIZES
    ]
    found = tm.points(load(tmp_path, lines).rows)
    (fitted,) = tm.lines(found).values()
    assert fitted.alpha == pytest.approx(5e-6)
    assert bad not in fitted.sizes
    assert not next(point for point in found if point.bytes == bad).held_out


def test_break_evens_are_of_the_same_pieces(tmp_path: Path) -> None:
    cases = [
        *sweep(lambda size: 1e-4 + 2e-11 * size, pieces=16),
        *sweep(lambda size: 1e-5 + 1.1e-10 * size, pieces=16, packing="packed"),
        *sweep(lambda size: 1e-3 + 2e-11 * size, pieces=256),
    ]
    found = tm.break_evens(tm.points(load(tmp_path, cases).rows))
    assert set(found) == {("pinned", "to_device", 16)}
    assert found["pinned", "to_device", 16].size == pytest.approx(1e6)
