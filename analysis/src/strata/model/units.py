"""Numbers as people read them: the unit that fits, three or four digits, never an exponent."""

from typing import Any

THIN = "\u202f"  # narrow no-break space, between thousands
SPACE = "\u00a0"  # no-break space, between a number and its unit

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))

_UNITS = {"cycle": "cycles", "tsc_cycle": "TSC cycles", "1": ""}
_SCALED = {
    "B/s": "B/s",
    "Hz": "Hz",
    "1/s": "/s",
    "FLOP/s": "FLOP/s",
    "operation/s": "op/s",
}


def number(value: float) -> str:
    """`value` with four significant digits, all digits before the point, thousands set apart."""
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    decimals = 0 if magnitude >= 999.5 else 1 if magnitude >= 99.95 else 2
    if magnitude < 0.1:
        return f"{value:.3g}"
    text = f"{value:,.{decimals}f}"
    return text.replace(",", THIN if magnitude >= 9999.5 else "")


def count(value: float) -> str:
    """A number of things, or their ratio: whole numbers as they are, others with two decimals."""
    if value == round(value):
        return f"{value:,.0f}".replace(",", THIN if abs(value) >= 10_000 else "")
    return number(value)


def tick(value: float) -> str:
    """A round number on an axis: no trailing zeros, thousands set apart from 10 000 on."""
    text = f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return text.replace(",", THIN if abs(value) >= 10_000 else "")


def short(value: float) -> str:
    """`value` with three significant digits in little room: 46.8, 311, 1234, 12.3k."""
    if abs(value) >= 9999.5:
        return f"{value / 1000:.3g}k" if abs(value) < 999_500 else f"{value / 1e6:.3g}M"
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def span(low: float, high: float) -> str:
    """An interval without its unit: 44.9–49.1."""
    return f"{number(low)}–{number(high)}"


def scaled_span(low: float, high: float, unit: str) -> str:
    """An interval in the unit and prefix that suit its upper end: 4.31–4.36 TB/s."""
    magnitude = max(abs(low), abs(high))
    if unit == "1" and magnitude <= 1:
        return f"{low:.4g}–{high:.4g}"
    steps = _PREFIXES if unit in _SCALED else _SMALL if unit == "s" else ()
    scale = next((step for step, _ in steps if magnitude >= 0.9995 * step), 1.0)
    return span(low / scale, high / scale) if scale != 1.0 else span(low, high)


def significant(value: float) -> str:
    """`value` of a size between 1 and 1000 with three significant digits."""
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def quantity(value: float, unit: str) -> str:
    """`value` with its unit: 4360000000000.0, "B/s" gives 4.36 TB/s."""
    magnitude = abs(value)
    if unit in _SCALED:
        scale, prefix = next(((s, p) for s, p in _PREFIXES if magnitude >= 0.9995 * s), (1.0, ""))
        return f"{significant(value / scale)}{SPACE}{prefix}{_SCALED[unit]}"
    if unit == "s" and magnitude > 0:
        scale, name = next(((s, n) for s, n in _SMALL if magnitude >= 0.9995 * s), _SMALL[-1])
        return f"{significant(value / scale)}{SPACE}{name}"
    if unit == "1" and magnitude <= 1:
        return f"{value:.4g}"  # a share: 0.9985 is not 1.00
    return f"{number(value)}{SPACE}{_UNITS.get(unit, unit)}".rstrip()


def unit_name(unit: str) -> str:
    """The unit as an axis label or a column head has it."""
    return _UNITS.get(unit, unit)


def factor(value: float) -> str:
    """A ratio of two speeds: 3.44×."""
    return f"{value:.2f}×" if value < 9.995 else f"{value:.1f}×"


def size(count: int) -> str:
    """A size in bytes by powers of two: 62914560 gives 60 MiB."""
    scale, name = next(((s, n) for s, n in _BINARY if count >= s), (1, "B"))
    text = f"{count / scale:.1f}".removesuffix(".0")
    return f"{text}{SPACE}{name}"


def fact(key: str, value: Any) -> str:
    """A free fact of a context; the ending of its name tells the unit."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and key.endswith("bytes"):
        return size(value)
    if isinstance(value, int | float) and key.endswith("_seconds"):
        return quantity(value, "s")
    if isinstance(value, int | float) and key.endswith("_hz"):
        return quantity(value, "Hz")
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return ", ".join(fact(key, item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {fact(name, item)}" for name, item in value.items())
    return f"{value}"
