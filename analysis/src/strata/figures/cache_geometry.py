"""How large is each cache, how long are its lines, and do other sources agree?"""

from collections.abc import Sequence
from itertools import pairwise

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.model.cases import CaseRows, by_case
from strata.model.units import SPACE, size
from strata.run import Row, Run

PROPERTIES = {
    "l1_size": "L1",
    "l2_size": "L2, as one core sees it",
    "constant_l1_size": "constant L1",
    "constant_l15_size": "constant L1.5",
    "l1_line": "L1 line",
    "l2_line": "L2 line",
    "constant_l1_line": "constant L1 line",
    "l1_sector": "L1 fetch",
    "l2_sector": "L2 fetch",
}
"""Sizes first, then lines, then what a miss brings in: the order of the figure."""
LOOKS = {
    "size": ("size", c.Look("#0072B2", "o", size=5)),
    "line": ("line", c.Look("#009E73", "o", size=5)),
    "sector": ("brought in by a miss", c.Look("#D55E00", "o", size=5)),
}
STROKE = c.Look(marker="|", size=11)
REPORTERS = {"cuda_programming_guide": "guide", "operating_system": "system"}
"""Methods of what is reported; the others are calls of the driver."""


def items(run: Run) -> Sequence[CaseRows]:
    """The cases that found something."""
    cases = by_case(row for row in run.of("cache_geometry") if row.text("property") in PROPERTIES)
    known = [one for one in cases if any(one.row(kind, provenance="timed") for kind in LOOKS)]
    order = list(PROPERTIES).index
    return sorted(known, key=lambda one: (order(one.text("property")), one.count("carveout")))


def found(one: CaseRows) -> Row:
    """The property in bytes."""
    return next(row for row in one.rows if row.quantity in LOOKS and row.provenance == "timed")


def name(one: CaseRows) -> str:
    """The property, and the amount of shared memory if that is not the default."""
    shared = f", {one.count('carveout')}{SPACE}KiB shared" if one.count("carveout") else ""
    return PROPERTIES[one.text("property")] + shared


def exact(value: float) -> str:
    """A size with the precision of a line: 230.62 KiB, 128 B."""
    if value < 1024:
        return size(round(value))
    scale, unit = (2**20, "MiB") if value >= 2**20 else (2**10, "KiB")
    return f"{value / scale:.2f}".rstrip("0").rstrip(".") + f"{SPACE}{unit}"


def words(one: CaseRows) -> str:
    """The size and its sources."""
    row = one.row("reported")
    said = f"  ({REPORTERS.get(row.method, 'driver')}: {exact(row.value)})" if row else ""
    return exact(found(one).value) + said


def chart(cases: Sequence[CaseRows]) -> c.Chart:
    """Dots with the interval of the change; vertical strokes for reported values."""
    numbered = list(enumerate(cases))

    def mark(at: tuple[int, CaseRows]) -> c.Mark:
        row, low, high = found(at[1]), at[1].row("interval_low"), at[1].row("interval_high")
        ends = (low.value, high.value) if low and high else (row.minimum, row.maximum)
        return c.Mark(at[0], row.value, ends[0], ends[1], row.valid, row=row)

    dots = c.by_look(numbered, lambda at: found(at[1]).quantity, LOOKS, mark, spread="bar")
    strokes = [c.mark(at, row) for at, one in numbered if (row := one.row("reported"))]
    lines = [
        c.Rule(at + 0.5, c.Look(c.PALE, width=0.6), of="place")
        for at, (one, other) in enumerate(pairwise(found(one).quantity for one in cases))
        if one != other
    ]
    layers = [*lines, *dots, c.Series(strokes, STROKE, "reported", order=1.9)]
    places = c.names_axis([name(one) for one in cases])
    values = c.Axis("bytes", "log2", text=lambda value: size(round(value)))
    beside = [(at, words(one), c.INK if found(one).valid else c.GREY) for at, one in numbered]
    panel = c.Panel(layers, places, values, sideways=True, beside=beside)
    return c.Chart([[panel]], 7.6, 1.3 + 0.27 * len(cases))


def _caption(cases: Sequence[CaseRows]) -> str:
    known = [row.value for one in cases if (row := one.row("confidence"))]
    return prose(
        "Sizes: the largest footprint whose loads all hit. Lines: the longest stride that "
        "touches every line. Brought in by a miss: the distance at which a neighbour's load "
        "misses too. Dots: medians of the repetitions; bars: 95 % interval of the position of "
        "the change (bootstrap), at least one step of the scan; strokes: values from the "
        "programming guide, the driver or the operating system.",
        any(one.text("property") == "l2_size" and found(one).backend == "cuda" for one in cases)
        and "An L2 of two halves is larger than what one SM finds in it.",
        known and f"Every change has a confidence of at least {min(known):.4g}.",
    )


COLUMNS = (
    params("property")
    | {"carveout_kib": lambda one: one.count("carveout")}
    | attributes("quantity", of=found, bytes="value")
    | {"interval_low_bytes": lambda one: one.row("interval_low")}
    | {"interval_high_bytes": lambda one: one.row("interval_high")}
    | {"confidence": lambda one: one.row("confidence")}
    | attributes(of=lambda one: one.row("reported"), reported_bytes="value", reported_by="method")
)
FIGURE = Figure(
    "cache_geometry", "Sizes, lines and sectors of the caches", 7, items, chart, _caption, COLUMNS,
    row=found, label=name,
)  # fmt: skip
