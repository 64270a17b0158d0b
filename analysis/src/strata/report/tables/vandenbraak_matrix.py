"""What do coalescing and grouping bring a matrix addition, then and now?

The matrix rows of Table II of van den Braak, Mesman and Corporaal (2010), and the third ratio of
their section VI-C.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from strata import reference
from strata.model import Cited, Sentence, Table
from strata.model.units import factor, quantity
from strata.report.tables import ReportTable
from strata.run import Row, Run

KEY = "vandenbraak2010access"
NONE: Sentence = ("–",)
WIDEST = 16
Place = tuple[int, str, int]
"""Bits of an element / 8, order, bytes of a group."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of the paper as it is printed, and the kernels here that it is about."""

    name: str
    original: str
    with_the_tool: str
    speed_up: str
    slow: Place
    fast: Place


ROWS = (
    Printed(
        "Matrix addition 32 bit", "2.06 ms", "0.067 ms", "31×",
        (4, "uncoalesced", 4), (4, "coalesced", 4),
    ),
    Printed(
        "Matrix addition 8-bit", "1.02 ms", "0.024 ms", "43×",
        (1, "uncoalesced", 1), (1, "coalesced", 4),
    ),
    Printed(
        "Matrix addition 8-bit, coalesced before (section VI-C)", "0.634 ms", "0.024 ms", "26×",
        (1, "coalesced", 1), (1, "coalesced", 4),
    ),
)  # fmt: skip


def _kernels(run: Run) -> Mapping[Place, Row]:
    """Times of a launch by events, of groups taken in one access, on a GPU."""
    return {
        (int(row.params["element"]), row.params["order"], int(row.params["group"])): row
        for row in run.rows
        if row.benchmark == "short_words"
        and row.backend == "cuda"
        and (row.quantity, row.method) == ("kernel_time", "event_slope")
        and row.params.get("access") == "together"
    }


def _time(row: Row | None) -> Sentence:
    if row is None:
        return NONE
    words = Cited(quantity(row.value, row.unit), row)
    return (words,) if row.valid else (words, " (invalid)")


def _line(kernels: Mapping[Place, Row], printed: Printed) -> tuple[Sentence, ...]:
    slow, fast = kernels.get(printed.slow), kernels.get(printed.fast)
    element, order, _ = printed.fast
    return (
        (printed.name,),
        (printed.original,),
        (printed.with_the_tool,),
        (printed.speed_up,),
        _time(slow),
        _time(fast),
        _over(slow, fast),
        _over(slow, kernels.get((element, order, WIDEST))),
    )


def _over(slow: Row | None, fast: Row | None) -> Sentence:
    """The ratio of two times; nothing of an invalid one."""
    if slow is None or fast is None or not (slow.valid and fast.valid) or fast.value <= 0:
        return NONE
    return (Cited(factor(slow.value / fast.value), fast),)


def make(run: Run) -> Table | None:
    """The paper's rows beside this GPU's kernels; None where none of them was timed on a GPU."""
    kernels = _kernels(run)
    lines = tuple(_line(kernels, printed) for printed in ROWS)
    if all(line[4] == line[5] == NONE for line in lines):
        return None
    return Table(
        name="vandenbraak_matrix",
        title=(
            "Table II of van den Braak, Mesman and Corporaal (2010), its matrix rows: a GeForce "
            f"8800 GT {reference.cite(KEY)} and this GPU, with matrices of 128 MiB"
        ),
        header=(
            "kernel", "8800 GT, original", "with the tool", "speed-up", "here, original",
            "mended as the tool does", "speed-up here", "with groups of 16 B",
        ),
        rows=lines,
        numeric=frozenset(range(1, 8)),
    )  # fmt: skip


TABLE = ReportTable(order=12, make=make)
