"""Cells of n-body tables, and tables of a printed number beside the one of this run."""

from collections.abc import Iterable

from strata import reference
from strata.ladder.rungs import GIGA, Cases, interactions
from strata.model import units
from strata.model.cases import ratio
from strata.model.text import NONE, Sentence, Table, table, told
from strata.model.units import factor, number
from strata.run import Row

BREITBART = "breitbart2008structures"


def over(row: Row | None, base: Row | None) -> Sentence:
    """The speed-up over another case; empty if either is invalid."""
    faster = ratio(row, base)
    return NONE if faster is None else told(row, lambda _: factor(faster))


def rate(row: Row | None) -> Sentence:
    """In 10⁹/s, with its interval; marked if it is invalid."""
    if row is None or (row.valid and row.ci_low is None):
        return told(row, giga)
    spread = "–".join(map(giga, row.interval)) if row.valid else "invalid"
    return (*told(row, giga), f" ({spread})")


def giga(value: float) -> str:
    """Small rates, as of a CPU, also with three digits."""
    return number(value / GIGA) if value >= GIGA else f"{value / GIGA:.3f}"


def dram_bytes(row: Row, cases: Cases) -> Sentence:
    """A net count per interaction; otherwise the chip's per step: all that the kernel does."""
    net, read = cases.get(row, "dram_bytes_per_interaction"), cases.get(row, "dram_read_bytes")
    pairs = interactions(row)
    return told(net, small) if net or not pairs else told(read, lambda value: small(value / pairs))


def fact(row: Row, name: str, cases: Cases) -> Sentence:
    """A fact of the case of a row."""
    value = cases.facts[row.case].get(name)
    return NONE if value is None else (units.fact(name, value),)


def percent(value: float) -> str:
    """`24.3 %`."""
    return f"{value:.1f} %"


def small(value: float) -> str:
    """A net count per item, of many: a negative one is noise, and is shown as 0."""
    return scientific(value) if value > 0 else "0"


def scientific(value: float) -> str:
    """`4.1e-7`: short form of small numbers."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def redone(
    name: str, chapters: str, lines: Iterable[tuple[str, str, Sentence, str]]
) -> Table | None:
    """Questions of Breitbart (2008), the printed number, this run's, and its rung.

    None without a number of this run.
    """
    cells: list[dict[str, Sentence]] = [
        {"question": (question,), "GeForce 8800 GTS": (printed,), "here": here,
         "by": (rung,) if here != NONE else NONE}
        for question, printed, here, rung in lines
    ]  # fmt: skip
    if all(line["here"] == NONE for line in cells):
        return None
    title = f"{chapters} of Breitbart (2008) {reference.cite(BREITBART)}, redone"
    return table(name, title, cells, words=("question", "by"))
