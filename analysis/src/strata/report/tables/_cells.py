"""Cells of tables."""

from strata.model.cases import ratio
from strata.model.text import NONE, Sentence, cell
from strata.model.units import factor
from strata.run import Row


def over(row: Row | None, base: Row | None) -> Sentence:
    """The speed-up over another case; empty if either is invalid."""
    faster = ratio(row, base)
    return NONE if faster is None else cell(row, lambda _: factor(faster))


def percent(value: float) -> str:
    """`24.3 %`."""
    return f"{value:.1f} %"
