"""Numbers for readers: a suitable unit, three or four digits, never an exponent."""

from typing import Any

THIN = "\u202f"  # narrow no-break space, between thousands
SPACE = "\u00a0"  # no-break space, between a number and its unit
MINUS = "\u2212"  # as wide as a plus

_PREFIXES = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
_RATES = {
    "B/s": "B/s", "Hz": "Hz", "1/s": "/s", "FLOP/s": "FLOP/s", "operation/s": "op/s",
    "cycle/s": "cycles/s",
}  # fmt: skip
_STEPS = {
    unit: [(scale, prefix + name) for prefix, scale in _PREFIXES.items()]
    for unit, name in _RATES.items()
}
_STEPS["s"] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
_STEPS |= {
    f"J/{work}": [(scale, f"{name}J/{word}") for scale, name in (
        (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"),
    )]
    for work, word in {
        "B": "B", "FLOP": "FLOP", "operation": "op", "instruction": "instruction",
        "interaction": "interaction", "cycle": "cycle",
    }.items()
}  # fmt: skip
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_UNITS = {"cycle": "cycles", "tsc_cycle": "TSC cycles", "1": ""}


def _thousands(text: str) -> str:
    """Replaces the commas between thousands by thin spaces; below 10 000 by nothing."""
    return text.replace(",", THIN if len(text.lstrip("-").partition(".")[0]) > 5 else "")


def number(value: float) -> str:
    """`value` with four significant digits, all integer digits, thousands separated."""
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    if magnitude < 0.1:
        return f"{value:.3g}"
    return _thousands(f"{value:,.{0 if magnitude >= 999.5 else 1 if magnitude >= 99.95 else 2}f}")


def count(value: float) -> str:
    """A count, or a ratio of counts: integers unchanged, others with two decimals."""
    return _thousands(f"{value:,.0f}") if value == round(value) else number(value)


def short(value: float) -> str:
    """`value` with three significant digits, short: 46.8, 311, 1234, 12.3k."""
    if abs(value) >= 9999.5:
        return f"{value / 1000:.3g}k" if abs(value) < 999_500 else f"{value / 1e6:.3g}M"
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def significant(value: float) -> str:
    """`value` of a size between 1 and 1000 with three significant digits."""
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def _step(size: float, unit: str) -> tuple[float, str]:
    steps = _STEPS[unit]
    return next((step for step in steps if size >= 0.9995 * step[0]), steps[-1])


def quantity(value: float, unit: str) -> str:
    """`value` with its unit: 4360000000000.0, "B/s" gives 4.36 TB/s."""
    if unit == "1" and abs(value) <= 1:
        return f"{value:.4g}"  # a share: 0.9985 is not 1.00
    if unit in _STEPS and (value or unit != "s"):
        scale, name = _step(abs(value), unit)
        return f"{significant(value / scale)}{SPACE}{name}"
    return f"{number(value)}{SPACE}{unit_name(unit)}".rstrip()


def interval(low: float | None, high: float | None, unit: str) -> str:
    """An interval in the unit that suits its larger end: 4.31–4.36 TB/s; a dash without one."""
    if low is None or high is None:
        return "–"
    size = max(abs(low), abs(high))
    if unit == "1" and size <= 1:
        return f"{low:.4g}–{high:.4g}"
    scaled = unit in _STEPS and (size or unit != "s")
    scale, name = _step(size, unit) if scaled else (1.0, unit_name(unit))
    return f"{number(low / scale)}–{number(high / scale)}{SPACE}{name}".rstrip()


def unit_name(unit: str) -> str:
    """The unit for axis labels and column heads."""
    return _UNITS.get(unit, unit)


def factor(value: float) -> str:
    """A ratio of two speeds: 3.44×."""
    return f"{value:.2f}×" if value < 9.995 else f"{value:.1f}×"


def size(count: int) -> str:
    """A size in bytes by powers of two: 62914560 gives 60 MiB."""
    scale, name = next(((s, n) for s, n in _BINARY if count >= s), (1, "B"))
    return f"{f'{count / scale:.1f}'.removesuffix('.0')}{SPACE}{name}"


def fact(key: str, value: Any) -> str:
    """A free-form fact of a context; the suffix of its name is the unit."""
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case int() if key.endswith("bytes"):
            return size(value)
        case int() | float() if key.endswith(("_seconds", "_hz")):
            return quantity(value, "Hz" if key.endswith("_hz") else "s")
        case float():
            return number(value)
        case list():
            return ", ".join(fact(key, item) for item in value)
        case dict():
            return ", ".join(f"{name} {fact(name, item)}" for name, item in value.items())
    return f"{value}"
