"""Families of rows: false alarms at the declared rate, a shift of 2 % found, recorded pairs."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from scipy import stats

from compare_runs import row, run_of
from strata.compare import Comparison, compare, wander, words
from strata.compare.families import Key, Law, Shift, explained, laws
from strata.compare.wander import holm, strictest
from strata.model.truth import load_run
from strata.run import Run

KEYS: tuple[Key, ...] = tuple(("micro", "bench", f"quantity{at}", "dram") for at in range(40))
RATE = 0.1
ROUNDS = 500
AT_MOST = RATE + 3 * (RATE * (1 - RATE) / ROUNDS) ** 0.5
"""What the alarms stay below in 99.9 % of all cases: 0.14."""


ALSO = [pytest.param(name, marks=pytest.mark.fuzz) for name in ("alike", "hardly")]


def shifted(
    rng: np.random.Generator, runs: int, sigmas: np.ndarray, spreads: np.ndarray
) -> list[dict[Key, Shift]]:
    """The shifts of each later run against the first, of families that drift by `sigmas` a run."""
    of = rng.normal(0, sigmas, (runs, len(sigmas)))
    spread = spreads * rng.uniform(0.8, 1.25, of.shape)
    return [
        {key: Shift(*both) for key, *both in zip(KEYS, of[at] - of[0], spread[at], strict=True)}
        for at in range(1, runs)
    ]


def alarms(moved: dict[Key, Shift], found: dict[Key, Law], rate: float) -> np.ndarray:
    chances = [law.chance(moved[key].middle) for key, law in found.items()]
    return np.asarray(holm(np.array(chances), rate))


def drifts(name: str, rng: np.random.Generator, spreads: np.ndarray) -> np.ndarray:
    """How far families drift: in proportion to their spread, or more unlike, or not at all."""
    if name == "unlike":
        return spreads * 0.3 * np.exp(rng.normal(0, 0.5, len(KEYS)))
    if name == "as supposed":
        return spreads * 0.3 * np.sqrt(4 / rng.chisquare(4, len(KEYS)))
    return spreads * {"alike": 0.3, "hardly": 0.01}[name]


@pytest.mark.parametrize("repeats", [0, 1, 2])
@pytest.mark.parametrize("name", ["as supposed", "unlike", *ALSO])
def test_families_of_the_same_code_alarm_at_most_at_the_declared_rate(
    name: str, repeats: int
) -> None:
    false = 0
    for place in range(ROUNDS):
        rng = np.random.default_rng([31, repeats, place])
        spreads = 0.002 * np.exp(rng.normal(0, 1.0, len(KEYS)))
        moved, *again = shifted(rng, 2 + repeats, drifts(name, rng, spreads), spreads)
        found = laws(moved, [again] if again else [], 0.003)
        false += bool(alarms(moved, found, RATE).any())
    assert false / ROUNDS <= AT_MOST


STEP = 0.0076
"""A step of the clock of an H100."""


@pytest.mark.parametrize("repeats", [0, 1, 2])
@pytest.mark.parametrize("least", [0.0, 0.01])
@pytest.mark.parametrize("name", ["as supposed", *ALSO])
def test_families_that_follow_the_clock_in_part_alarm_at_most_at_the_declared_rate(
    name: str, least: float, repeats: int
) -> None:
    # Each run has one of two clocks; families follow it fully, by half, in any part, or not at all.
    false = 0
    for place in range(ROUNDS):
        rng = np.random.default_rng([35, repeats, place])
        spreads = 0.002 * np.exp(rng.normal(0, 1.0, len(KEYS)))
        parts = rng.choice([0.0, 0.5, 1.0, rng.uniform()], len(KEYS))
        runs = shifted(rng, 2 + repeats, drifts(name, rng, spreads), spreads)
        steps = rng.integers(0, 2, 2 + repeats) * STEP
        moved, *again = (
            {
                key: Shift(one.middle + part * clock, one.spread, explained("cycle", clock))
                for (key, one), part in zip(run.items(), parts, strict=True)
            }
            for run, clock in zip(runs, steps[1:] - steps[0], strict=True)
        )
        found = laws(moved, [again] if again else [], 0.003)
        beyond = np.array([moved[key].beyond for key in found])
        chances = [law.chance(at) for law, at in zip(found.values(), beyond, strict=True)]
        smallest = np.array([law.chance(least) for law in found.values()])
        alarms = holm(np.array(chances), RATE, smallest) & (np.abs(beyond) >= least)
        false += bool(alarms.any())
    assert false / ROUNDS <= AT_MOST


@pytest.mark.parametrize(
    ("unit", "ends"),
    [("s", (-0.01, 0.0)), ("B/cycle", (-0.01, 0.0)), ("cycle", (0.0, 0.01)), ("B/s", (0.0, 0.01)),
     ("1", (-0.01, 0.01)), ("operation/cycle", (-0.01, 0.0)), ("tsc_cycle", (0.0, 0.01))],
)  # fmt: skip
def test_a_higher_clock_shortens_times_or_lengthens_them_in_cycles(
    unit: str, ends: tuple[float, float]
) -> None:
    assert explained(unit, 0.01) == ends
    assert explained(unit, -0.01) == (-ends[1], -ends[0])
    assert explained(unit, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("middle", "beyond", "drift"),
    [(0.012, 0.004, 0.004), (-0.001, -0.001, -0.001), (0.007, 0.0, -0.001), (0.001, 0.0, 0.001),
     (0.004, 0.0, None)],
)  # fmt: skip
def test_a_shift_within_what_the_clock_explains_is_tested_as_none(
    middle: float, beyond: float, drift: float | None
) -> None:
    shift = Shift(middle, 0.001, (0.0, 0.008))
    assert shift.beyond == pytest.approx(beyond)
    assert shift.drift == (None if drift is None else pytest.approx(drift))


def test_a_sign_test_over_rows_would_call_every_drift_a_change() -> None:
    # Why the run is the unit: 60 rows that drift together by less than they spread.
    rng = np.random.default_rng(32)
    alike = [
        abs((rng.normal(rng.normal(0, 0.003), 0.002, 60) > 0).sum() - 30) > 15 for _ in range(200)
    ]
    assert np.mean(alike) > 0.5  # of which a fair coin has 0.006 %


@pytest.mark.parametrize("repeats", [0, 2])
def test_a_shift_of_two_percent_is_found_with_a_power_of_95_percent(repeats: int) -> None:
    hits = 0
    for place in range(300):
        rng = np.random.default_rng([33, repeats, place])
        spreads = 0.002 * np.exp(rng.normal(0, 0.3, len(KEYS)))
        moved, *again = shifted(rng, 2 + repeats, drifts("alike", rng, 0.3 * spreads), spreads)
        moved[KEYS[7]] = moved[KEYS[7]]._replace(middle=moved[KEYS[7]].middle + 0.02)
        found = laws(moved, [again] if again else [], 0.003)
        hits += bool(alarms(moved, found, 0.005)[7])
    assert hits / 300 >= 0.95


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
    return load_run(folder)


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
    assert not compare(*found.both).moved()
    assert len(found.families) > 100
    assert not found.moved()
    assert not found.flagged()


@pytest.mark.slow
@pytest.mark.parametrize(("chip", "power"), [("h200", 0.92), ("h100", 0.86)])
def test_two_percent_planted_in_a_family_of_recorded_repeats_is_found(
    chip: str, power: float
) -> None:
    # With a single repeat, and on the H100 a clock that moved between the runs. Host memory, whose
    # latency drifts by more than 1 %, is left out.
    hits = []
    for third in range(3):
        found = repeated(chip, third)
        smallest = np.array([of.law.chance(np.log(1.01)) for of in found.families])
        level = strictest(smallest, found.settings.false_alarm / 2)
        for of in (of for of in found.families if of.key[3] != "mapped"):
            ends = explained(of.rows[0].unit, found.clock)
            for planted in (np.log(1.02), -np.log(1.02)):
                beyond = Shift(np.log1p(of.change) + planted, 0.0, ends).beyond
                hits.append(of.law.chance(beyond) <= level and abs(beyond) >= np.log(1.01))
    assert np.mean(hits) >= power


def test_a_normal_law_raises_alarms_on_repeats_that_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Why rows have tails: Efron's null, and the variance component of Kalibera and Jones.
    one, two = (recorded(of) for of in sorted(H200.glob("*-5a66410")))
    assert not compare(one, two).flagged()
    monkeypatch.setattr(wander, "SHAPES", (2.0,))
    assert compare(one, two).flagged()


def test_no_family_moved_between_two_recorded_chips_of_one_build() -> None:
    one, two = sorted(H100.glob("*-c491cab"))
    found = compare(recorded(one), recorded(two))
    assert len(found.families) > 40
    assert not found.moved()


def moved_dram() -> tuple[Run, Run]:
    """Two recorded runs of two chips, the second of which loads faster out of DRAM."""
    names = ("20261121T230721Z-ee8608f", "20261121T235015Z-0683d2f")
    one, two = (recorded(H200 / f"nvidia-h200-{name}") for name in names)
    return one, two


def test_students_law_finds_half_as_many_rows_of_the_recorded_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Why the tails are Subbotin's and not those of Smyth's moderated t.
    found = len(compare(*moved_dram()).flagged())
    monkeypatch.setattr(wander, "LAW", stats.t)
    monkeypatch.setattr(wander, "SHAPES", (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 50.0))
    assert 0 < len(compare(*moved_dram()).flagged()) < found / 2


@pytest.mark.parametrize(
    "repeats", [(), pytest.param(REPEATS["h200"], marks=pytest.mark.slow)], ids=["alone", "repeats"]
)
def test_the_recorded_pair_whose_dram_moved_is_told_in_a_sentence(repeats: Sequence[Path]) -> None:
    found = compare(*moved_dram(), same=[recorded(of) for of in repeats])
    moved = {one.key[1:]: one for one in found.moved()}
    latency = moved["latency_vs_footprint", "load_cycles", "dram"]
    assert latency.verdict == "faster"
    assert latency.change == pytest.approx(-0.037, abs=0.001)
    assert latency.low < latency.change < latency.high < -0.03
    assert words.sentence(latency, "B") == (
        "DRAM latency (latency_vs_footprint load_cycles) 3.7\u00a0% lower in B, "
        "every footprint (445 rows)"
    )
    assert not {key for key in moved if key[2] != "dram" and "past" not in key[2]}
    assert words.section(found).notes[1].startswith("Families of rows that moved together: DRAM")


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
    assert [one.key[1] for one in found.moved()] == ["bench0"]
    assert not found.flagged()
    assert found.slower
    (moved,) = found.moved()
    assert (moved.verdict, moved.alike, len(moved.rows)) == ("slower", 30, 30)
    assert moved.repeats == same
    assert moved.low < 0.02 < moved.high
    rates = compare(family_of([1.0], "a", "B/s"), family_of([1.02], "b", "B/s"), same=[])
    assert [one.verdict for one in rates.moved()] == ["faster"]
    assert not rates.slower


def test_a_family_whose_rows_part_did_not_move_as_a_whole() -> None:
    scales = [1.05, 1.05, 0.95]
    again = [family_of([1.0], f"again{at}") for at in range(3)]
    found = compare(family_of([1.0], "a"), family_of(scales, "b"), same=again)
    assert not found.moved()
    one = next(one for one in found.families if one.key[1] == "bench0")
    assert (one.alike, one.verdict) == (20, "undecided")
    assert one.chance < 0.005 / 24
    assert words.along(one) == "20 of 30 rows"


def test_families_of_few_rows_are_left_to_their_rows() -> None:
    rows = [row("few", case, level="dram") for case in range(4)]
    found = compare(run_of(rows, "a"), run_of(rows, "b"))
    assert (len(found.changes), found.families) == (4, ())


def clocked(clock: float, name: str, times: float = 1.0) -> Run:
    """The run of `family_of` at another clock, which half of the benchmarks follow."""
    run = family_of([times], name, "s")
    rows = [
        structs.replace(one, value=factor * one.value, taken=tuple(factor * at for at in one.taken))
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
    assert not slow.moved()
    assert not slow.flagged()
    follows = next(one for one in slow.families if one.key[1] == "bench1")
    assert follows.change == pytest.approx(1 / 0.97 - 1, abs=0.003)
    assert (follows.verdict, follows.chance) == ("undecided", 1.0)
    assert follows.found > 0.03
    assert any("clock under load" in told for told in words.warnings(slow))
    (told,) = (note for note in words.section(slow).notes if note.startswith("The clock of"))
    assert told.startswith("The clock of the second run is 3.0\u00a0% lower: of each family, only")
    moved = compare(before, clocked(0.97, "b", 1.055), same=again).moved()
    assert [(one.key[1], one.verdict) for one in moved] == [("bench0", "slower")]
