"""Which SMs and lines belong to which half of L2, and what does crossing cost?

The samples are SMs in the order of their numbers; there are none if L2 is one cache.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model.units import SPACE, number, quantity
from strata.run import Row, Run

LINES = {
    "near": ("line whose home is on the SM's side", "#0072B2", "o"),
    "far": ("line whose home is on the other side", "#D55E00", "s"),
}
MEDIAN = c.Look(line="--", width=0.8)
BIN = 4.0
"""Cycles from one step of the histograms to the next."""


class Core(NamedTuple):
    """One SM: cycles of its exchanges, the share of lines near it, and the rows."""

    sm: int
    near: float
    far: float
    near_share: float | None
    rows: dict[str, Row]

    @property
    def row(self) -> Row:
        """The row of the far lines; that of the near ones is from the same case."""
        return self.rows["far_cycles"]

    @property
    def drawn(self) -> list[Row]:
        """The drawn rows of the case."""
        names = ("near_cycles", "far_cycles", "near_share")
        return [self.rows[name] for name in names if name in self.rows]

    @property
    def valid(self) -> bool:
        """Whether everything drawn is valid."""
        return all(row.valid for row in self.drawn)

    @property
    def crossing(self) -> Row | None:
        """The cost of crossing, if it and the two compared rows are valid."""
        rows = [self.rows.get(f"{way}_cycles") for way in ("crossing", "near", "far")]
        return rows[0] if all(row and row.valid for row in rows) else None


def items(run: Run) -> Sequence[Core]:
    """The SMs of the single case, if it found two sides."""
    rows = {row.quantity: row for row in run.of("l2_partition")}
    if not {"near_cycles", "far_cycles"} <= rows.keys():
        return ()
    # A sample is an SM; those of the first visit come first.
    sms = run.context.device.sm_count
    near, far = (rows[f"{side}_cycles"].taken[:sms] for side in LINES)
    shares = rows["near_share"].taken[:sms] if "near_share" in rows else [None] * len(near)
    return [Core(sm, *cells, rows) for sm, cells in enumerate(zip(near, far, shares, strict=True))]


def chart(cores: Sequence[Core]) -> c.Chart:
    """SM by SM, with a histogram beside it; below, the side of each, if it was found."""
    first, count = cores[0], len(cores)
    each: list[c.Layer] = []
    many: list[c.Layer] = []
    for side, (label, colour, marker) in LINES.items():
        row, values = first.rows[f"{side}_cycles"], [getattr(core, side) for core in cores]
        marks = [c.Mark(sm, at, valid=row.valid, row=row) for sm, at in enumerate(values)]
        each.append(c.Series(marks, c.Look(colour, marker, size=3.2), label))
        bins = Counter(BIN * (value // BIN + 0.5) for value in values).items()
        told = f"{{}} SMs, {side}: {{:g}} cycles ± {BIN / 2:g}".format
        bars = [c.Mark(at, sms, valid=row.valid, told=told(sms, at)) for at, sms in bins]
        many.append(c.Bars(bars, c.Look(colour), thick=0.85 * BIN))
        if row.valid:
            each.append(c.Rule(row.value, MEDIAN))
            many.append(c.Rule(row.value, MEDIAN, of="place"))
    if crossing := first.crossing:
        at, (near, far) = (count - 1) / 2, [first.rows[f"{side}_cycles"].value for side in LINES]
        cost = f"crossing: {quantity(crossing.value, crossing.unit)} (median of the SMs)"
        each.append(c.Arrow((at, near), (at, far)))
        each.append(c.Words(at, fmean((near, far)), cost, 6, across="left", size=8))
    cycles = [value for core in cores for value in (core.near, core.far)]
    margin = max(0.06 * (max(cycles) - min(cycles)), BIN)
    low, high = min(cycles) - margin, max(cycles) + margin
    ends = (-0.02 * count - 0.5, 1.02 * count - 0.5)
    numbers = c.Axis("SM (in the order of their numbers)", limits=ends)
    exchanges = c.Axis("exchange with a word in L2 (cycles)", limits=(low, high))
    upward = c.Axis(limits=(high, low), text=lambda _: "")
    sms_axis = c.Axis(f"SMs (in {BIN:g} cycles)", zero=True, most=4)
    beside = c.Panel(many, upward, sms_axis, "all SMs", sideways=True)
    rows: list[list[c.Panel | None]] = [[c.Panel(each, numbers, exchanges, "each SM"), beside]]
    if share := first.rows.get("near_share"):
        each_share = enumerate(share.taken)
        shares = [c.Mark(sm, 100 * by, valid=share.valid, row=share) for sm, by in each_share]
        look, near_axis = c.Look("#009E73", "o", size=2.8), c.Axis("lines near (%)", room=0.6)
        rows.append([c.Panel([c.Series(shares, look)], numbers, near_axis), None])
    keys, height = [c.Key("median of the SMs", MEDIAN)], 2.3 + len(rows)
    return c.Chart(rows, 8.4, height, keys=keys, widths=(3, 1), heights=(3.4, 1))


def _caption(cores: Sequence[Core]) -> str:
    rows, crossing = cores[0].rows, cores[0].crossing
    share, fabric = rows.get("near_share"), rows.get("fabric_sectors_per_access")
    counts = sorted(Counter(core.near_share for core in cores if core.near_share).items())
    sides = ""
    if share and share.valid and len(counts) == 2:
        (near, small), (_, large) = counts
        side = f"the side with {number(100 * near)}{SPACE}% of the lines near them"
        sides = f"{small} SMs are on {side}, {large} on the other."
    return prose(
        "Atomic exchanges, which are executed at the home of a line, each waiting for the "
        f"previous one; one thread on each of {len(cores)} SMs. Points: medians over the lines "
        "near an SM, and over those far from it.",
        crossing
        and f"Crossing costs {quantity(crossing.value, crossing.unit)} (median), "
        f"{number(crossing.minimum)} to {number(crossing.maximum)} by SM.",
        fabric
        and fabric.valid
        and f"Counted between the halves: {number(fabric.value)} sectors per exchange, near "
        "and far together.",
        _loads(rows),
        share and "Below: share of near lines; SMs with the same share are on one side.",
        sides,
    )


def _loads(rows: dict[str, Row]) -> str:
    """Latencies of loads from L2 and from memory, if they were timed."""

    def both(kind: str) -> list[str]:
        found = [rows.get(f"{side}_{kind}_cycles") for side in LINES]
        valid = [number(row.value) for row in found if row and row.valid]
        return valid if len(valid) == len(found) else []

    load, dram = both("load"), both("dram")
    first_touch = fmean(rows[f"{side}_load_cycles"].value for side in LINES) if load else 0.0
    return prose(
        load
        and f"A load of a line without a copy in the other half takes {load[0]} cycles near "
        f"and {load[1]} far (medians over SMs): {number(first_touch)} on average at first touch.",
        dram
        and f"A load served by memory takes {dram[0]} cycles behind the SM's own side of L2 "
        f"and {dram[1]} behind the other (medians over SMs). Before such a load all SMs "
        "read four times the size of L2, which evicts its line; its page was touched "
        "before.",
    )


def label(core: Core) -> str:
    """The invalid parts of the case, reported once, for the first SM."""
    drawn = [] if core.sm else core.drawn
    return "; ".join(f"{row.quantity} ({row.reasons})" for row in drawn if not row.valid)


COLUMNS = (
    attributes(sm="sm", near_cycles="near", far_cycles="far")
    | {"crossing_cycles": lambda core: core.far - core.near}
    | attributes(near_share="near_share")
    | attributes(of=lambda core: core.rows.get("near_share"), near_share_valid="valid")
)
TITLE = "The halves of L2, and crossing between them"
FIGURE = Figure("l2_partition", TITLE, 8, items, chart, _caption, COLUMNS, label=label)
