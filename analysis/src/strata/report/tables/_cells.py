"""Cells of tables of n-body, and tables whose empty columns are left out."""

from collections.abc import Callable, Collection, Mapping, Sequence

from strata.ladder.rungs import GIGA, Cases, interactions
from strata.model import Cited, Sentence, Table, units
from strata.model.units import factor, number
from strata.run import Row

NONE: Sentence = ("–",)


def table(
    name: str,
    title: str,
    lines: Sequence[Mapping[str, Sentence]],
    *,
    words: Collection[str],
    blank: Collection[str] = (),
) -> Table | None:
    """A table of lines, each its cells by their heads; None without any.

    The columns `words` hold no numbers. One in which every cell is blank is left out, if it is not
    one of `blank`.
    """
    if not lines:
        return None
    header = [head for head in lines[0] if head in blank or any(one[head] != NONE for one in lines)]
    return Table(
        name=name,
        title=title,
        header=tuple(header),
        rows=tuple(tuple(line[head] for head in header) for line in lines),
        numeric=frozenset(at for at, head in enumerate(header) if head not in words),
    )


def told(row: Row | None, write: Callable[[float], str]) -> Sentence:
    """The value of a row, as it is written."""
    return (Cited(write(row.value), row),) if row else NONE


def over(row: Row | None, base: Row | None) -> Sentence:
    """How many times the value of another row; nothing where one of both is not valid."""
    if row is None or base is None or base.value <= 0 or not (row.valid and base.valid):
        return NONE
    return (Cited(factor(row.value / base.value), row),)


def rate(row: Row | None) -> Sentence:
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


def dram_bytes(row: Row, cases: Cases) -> Sentence:
    """A net count for each interaction; else the chip's of a step: all that the kernel does."""
    net, read = cases.get(row, "dram_bytes_per_interaction"), cases.get(row, "dram_read_bytes")
    pairs = interactions(row)
    return told(net, small) if net or not pairs else told(read, lambda value: small(value / pairs))


def fact(facts: Mapping[str, object], name: str) -> Sentence:
    """A fact of a case."""
    return NONE if facts.get(name) is None else (units.fact(name, facts[name]),)


def percent(value: float) -> str:
    """`24.3 %`."""
    return f"{value:.1f} %"


def small(value: float) -> str:
    """A net count for each of many: less than nothing is chance, and none of it is."""
    return scientific(value) if value > 0 else "0"


def scientific(value: float) -> str:
    """`4.1e-7`: what is small, in little room."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
