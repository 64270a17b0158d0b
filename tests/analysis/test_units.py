"""Numbers as people read them."""

import pytest

from strata.model import units

NB = units.SPACE


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.36e12, "B/s", f"4.36{NB}TB/s"),
        (312e9, "B/s", f"312{NB}GB/s"),
        (999.96e9, "B/s", f"1.00{NB}TB/s"),
        (12.0, "B/s", f"12.0{NB}B/s"),
        (1.98e9, "Hz", f"1.98{NB}GHz"),
        (2.5e9, "1/s", f"2.50{NB}G/s"),
        (12.34e-6, "s", f"12.3{NB}µs"),
        (2.0, "s", f"2.00{NB}s"),
        (61.04, "cycle", f"61.04{NB}cycles"),
        (12345.6, "tsc_cycle", f"12{units.THIN}346{NB}TSC cycles"),
        (0.0, "cycle", f"0{NB}cycles"),
        (7.0, "sector", f"7.00{NB}sector"),
        (7.0, "1", "7.00"),
        (0.99852, "1", "0.9985"),
        (1.0, "1", "1"),
        (-2.5e9, "B/s", f"-2.50{NB}GB/s"),
    ],
)
def test_quantity(value: float, unit: str, text: str) -> None:
    assert units.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(28.0, "28"), (2.2857, "2.29"), (0.0, "0"), (1234567.0, f"1{units.THIN}234{units.THIN}567")],
)
def test_count_is_whole_where_it_can_be(value: float, text: str) -> None:
    assert units.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(46.8, "46.8"), (96.0, "96"), (311.4, "311"), (1234.4, "1234"), (12345, "12.3k"), (2e6, "2M")],
)
def test_short_fits_above_a_bar(value: float, text: str) -> None:
    assert units.short(value) == text


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (0.99e12, 1.02e12, "B/s", f"0.99–1.02{NB}TB/s"),
        (44.9, 49.1, "cycle", f"44.90–49.10{NB}cycles"),
        (0.9985, 1, "1", "0.9985–1"),
        (2e-10, 4e-10, "s", f"0.20–0.40{NB}ns"),
        (0.0, 0.0, "s", f"0–0{NB}s"),
        (None, None, "s", "–"),
    ],
)
def test_an_interval_has_the_unit_of_its_upper_end(
    low: float | None, high: float | None, unit: str, text: str
) -> None:
    assert units.interval(low, high, unit) == text


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("l2_bytes", 62914560, f"60{NB}MiB"),
        ("sm_clock_hz", 1980000000, f"1.98{NB}GHz"),
        ("globaltimer_step_seconds", 3.2e-08, f"32.0{NB}ns"),
        ("ecc", True, "yes"),
        ("serial", None, "unknown"),
        ("reasons", ["idle", "power"], "idle, power"),
        ("limits", {"max_hz": 2e9}, f"max_hz 2.00{NB}GHz"),
    ],
)
def test_fact_takes_its_unit_from_its_name(key: str, value: object, text: str) -> None:
    assert units.fact(key, value) == text
