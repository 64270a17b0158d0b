"""Cells of tables of n-body."""

from strata.ladder.rungs import GIGA
from strata.model import Cited, Sentence
from strata.model.units import number
from strata.run import Row

NONE: Sentence = ("–",)


def cell(row: Row | None, text: str) -> Sentence:
    """`text`, which is made of the row."""
    return (Cited(text, row),) if row else NONE


def rate_cell(row: Row | None) -> Sentence:
    """In 10⁹/s, with its interval; told where it is not valid."""
    if row is None:
        return NONE
    words = Cited(_giga(row.value), row)
    if not row.valid:
        return (words, " (invalid)")
    if row.ci_low is None or row.ci_high is None:
        return (words,)
    return (words, f" ({_giga(row.ci_low)}–{_giga(row.ci_high)})")


def _giga(value: float) -> str:
    """A CPU's rates are small numbers: three digits of them as well."""
    return number(value / GIGA) if value >= GIGA else f"{value / GIGA:.3f}"


def small(value: float) -> str:
    """A net count for each of many: less than nothing is chance, and none of it is."""
    return scientific(value) if value > 0 else "0"


def scientific(value: float) -> str:
    """`4.1e-7`: what is small, in little room."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
