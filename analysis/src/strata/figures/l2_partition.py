"""Which half of L2 is whose, and what does crossing cost?

What every SM needs for a line of its own side and for one of the other. An SM's samples stand in
the record in the order of its number; the record holds none of this where L2 is one cache.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.model.units import SPACE, number, quantity
from strata.run import Row, Run

LINES = {
    "near": ("line whose home is on the SM's side", "#0072B2", "o"),
    "far": ("line whose home is on the other side", "#D55E00", "s"),
}
MEDIAN = c.Look(line="--", width=0.8)
BIN = 4.0
"""Cycles from one step of the histograms to the next."""


@dataclass(frozen=True, slots=True)
class Core:
    """One SM: cycles of its exchanges, the share of the lines that are near it, and the rows."""

    sm: int
    near: float
    far: float
    near_share: float | None
    rows: dict[str, Row]

    @property
    def crossing(self) -> float:
        """What the other side costs in cycles."""
        return self.far - self.near

    @property
    def row(self) -> Row:
        """The row of the far lines; that of the near ones is of the same case."""
        return self.rows["far_cycles"]

    @property
    def share(self) -> Row | None:
        """The shares of all SMs, where each has one."""
        return self.rows.get("near_share") if self.near_share is not None else None

    @property
    def valid(self) -> bool:
        """Whether both that are compared are."""
        return self.rows["near_cycles"].valid and self.row.valid


def items(run: Run) -> Sequence[Core]:
    """The SMs of the one case, where it found two sides."""
    rows = {row.quantity: row for row in run.of("l2_partition")}
    if not {"near_cycles", "far_cycles"} <= rows.keys():
        return ()
    near, far = rows["near_cycles"].taken, rows["far_cycles"].taken
    shares = rows["near_share"].taken if "near_share" in rows else [None] * len(near)
    return [Core(sm, *cells, rows) for sm, cells in enumerate(zip(near, far, shares, strict=True))]


def chart(cores: Sequence[Core]) -> c.Chart:
    """SM by SM, and beside it how many; beneath, where it was found, the side of each."""
    first, count = cores[0], len(cores)
    cycles = [value for core in cores for value in (core.near, core.far)]
    margin = max(0.06 * (max(cycles) - min(cycles)), BIN)
    ends = (min(cycles) - margin, max(cycles) + margin)
    each: list[c.Layer] = []
    many: list[c.Layer] = []
    for side, (label, colour, marker) in LINES.items():
        row, values = first.rows[f"{side}_cycles"], [getattr(core, side) for core in cores]
        marks = [c.Mark(sm, value, valid=row.valid) for sm, value in enumerate(values)]
        look = c.Look(colour=colour, marker=marker, size=3.2)
        each.append(c.Series(marks=marks, look=look, label=label))
        found = Counter(value // BIN for value in values)
        bins = [c.Mark(BIN * (step + 0.5), many, valid=row.valid) for step, many in found.items()]
        many.append(c.Bars(marks=bins, look=c.Look(colour=colour), thick=0.85 * BIN))
        if row.valid:
            each.append(c.Rule(at=row.value, look=MEDIAN))
            many.append(c.Rule(at=row.value, look=MEDIAN, of="place"))
    crossing = first.rows.get("crossing_cycles")
    if first.valid and crossing and crossing.valid:
        near, far, middle = first.rows["near_cycles"].value, first.row.value, (count - 1) / 2
        cost = f"crossing: {quantity(crossing.value, crossing.unit)} (median of the SMs)"
        each.append(c.Arrow(start=(middle, near), end=(middle, far)))
        each.append(
            c.Words(place=middle, value=(near + far) / 2, text=cost, dx=6, across="left", size=8)
        )
    sms = c.Axis(
        label="SM (in the order of their numbers)", limits=(-0.02 * count - 0.5, 1.02 * count - 0.5)
    )
    both: list[c.Panel | None] = [
        c.Panel(
            layers=each,
            places=sms,
            values=c.Axis(label="exchange with a word in L2 (cycles)", limits=ends),
            title="each SM",
        ),
        c.Panel(
            layers=many,
            places=c.Axis(limits=ends[::-1], text=lambda _: ""),
            values=c.Axis(label=f"SMs (in {BIN:g} cycles)", zero=True, most=4),
            title="all SMs",
            sideways=True,
        ),
    ]
    keys = [c.Key(label="median of the SMs", look=MEDIAN)]
    if not first.share:
        return c.Chart(rows=[both], width=8.4, height=3.3, widths=(3, 1), keys=keys)
    shares = [
        c.Mark(core.sm, 100 * core.near_share, valid=first.share.valid)
        for core in cores
        if core.near_share is not None
    ]
    low, high = min(one.value for one in shares), max(one.value for one in shares)
    room = max(0.6 * (high - low), 1)
    beneath = c.Panel(
        layers=[c.Series(marks=shares, look=c.Look(colour="#009E73", marker="o", size=2.8))],
        places=sms,
        values=c.Axis(label="lines near (%)", limits=(low - room, high + room)),
    )
    return c.Chart(
        rows=[both, [beneath, None]], width=8.4, height=4.3, widths=(3, 1), heights=(3.4, 1),
        keys=keys,
    )  # fmt: skip


def caption(cores: Sequence[Core]) -> str:
    """What is exchanged, what crossing costs, and the witness that counts."""
    first = cores[0]
    crossing = first.rows.get("crossing_cycles")
    fabric = first.rows.get("fabric_sectors_per_access")
    words = (
        "Atomic exchanges, which are done where a line has its home, each waiting for the one "
        f"before; one thread on each of {len(cores)} SMs. Points: medians over the lines near an "
        "SM, and over those far from it."
    )
    if first.valid and crossing and crossing.valid:
        words += (
            f" Crossing costs {quantity(crossing.value, crossing.unit)} in the median, "
            f"{number(crossing.minimum)} to {number(crossing.maximum)} by SM."
        )
    if fabric and fabric.valid:
        words += (
            f" Counted between the halves: {number(fabric.value)} sectors an exchange, near and "
            "far together."
        )
    if first.share:
        words += " Beneath: share of the lines that are near; SMs with one share are on one side."
    counts = sorted(Counter(core.near_share for core in cores if core.near_share).items())
    if first.share and first.share.valid and len(counts) == 2:
        (share, small), (_, large) = counts
        words += (
            f" {small} SMs are on the side with {number(100 * share)}{SPACE}% of the lines near "
            f"them, {large} on the other."
        )
    return words


def invalid(core: Core) -> str:
    """What of the case is not valid, said once, of the first SM."""
    drawn = (core.rows["near_cycles"], core.row, core.share) if core.sm == 0 else ()
    return "; ".join(f"{row.quantity} ({row.reasons})" for row in drawn if row and not row.valid)


FIGURE = Figure(
    name="l2_partition",
    title="The halves of L2, and the way between them",
    order=8,
    items=items,
    chart=chart,
    caption=caption,
    columns={"sm": lambda core: core.sm}
    | attributes(near_cycles="near", far_cycles="far", crossing_cycles="crossing")
    | {
        "near_share": lambda core: core.near_share,
        "near_share_valid": lambda core: core.share.valid if core.share else None,
    }
    | attributes("valid", case="row.case"),
    invalid=invalid,
)
