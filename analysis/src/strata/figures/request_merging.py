"""How many requests reach L2 when several SMs request the same line?

Beside the counts, a model: up to four SMs share a request.
"""

from collections.abc import Sequence
from itertools import cycle
from math import ceil
from operator import attrgetter
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model.cases import CaseRows, by_case
from strata.model.truth.counts import BOUND
from strata.model.units import SPACE, number
from strata.run import Row, Run

SHARERS = 4
"""SMs that share a request, by the model."""
MERGED = 1 - BOUND
"""Requests below this share were merged; the plausibility rule uses the same limit."""
PAIR = 2
COUNTED = c.Look(c.INK, "o", size=4.6)
MODEL = c.Look(c.GREY, line="-", width=0.8)


class Point(NamedTuple):
    """One case: the share of its requests that L2 received, and the cycles between the loads."""

    sms: int
    delay: int
    row: Row
    apart: Row
    case: CaseRows

    @property
    def valid(self) -> bool:
        """Whether both are valid."""
        return self.row.valid and self.apart.valid


def modelled(sms: int) -> float:
    """The share if up to four SMs that load simultaneously share a request."""
    return ceil(sms / SHARERS) / sms


def items(run: Run) -> Sequence[Point]:
    """The counted cases, by SMs and by delay."""
    points = (
        Point(case.count("sms"), case.count("delay"), share, apart, case)
        for case in by_case(run.of("request_merging"))
        if (share := case.row("l2_sectors_per_missed_sector"))
        and (apart := case.row("delay_cycles"))
    )
    return sorted(points, key=lambda one: (one.sms, one.delay))


def later(points: Sequence[Point]) -> dict[int, list[Point]]:
    """The points of each number of SMs with several delays."""
    by_sms = c.grouped(points, lambda one: one.sms)
    return {sms: here for sms, here in by_sms.items() if any(one.delay for one in here)}


def chart(points: Sequence[Point]) -> c.Chart:
    """Simultaneous loads by the number of SMs; beside them by the cycles between the loads."""

    def marked(place: float, one: Point) -> c.Mark:
        return c.Mark(place, 100 * one.row.value, valid=one.valid, row=one.row)

    at_once = [one for one in points if one.delay == 0]
    counts = range(1, 1 + max((one.sms for one in at_once), default=1))
    model = [c.Mark(sms, 100 * modelled(sms)) for sms in counts]
    left = [
        c.Series(model, MODEL, f"one request for every {SHARERS} SMs", order=1),
        c.Series([marked(one.sms, one) for one in at_once], COUNTED, "counted, all at once"),
    ]
    right = [
        c.Series(
            [marked(one.apart.value, one) for one in here],
            c.Look(colour, "s", "-", 4.2),
            f"counted, {sms} SMs",
        )
        for (sms, here), colour in zip(later(points).items(), cycle(c.COLOURS), strict=False)
    ]
    shares = c.Axis("requests that reach L2 (%)", limits=(0, 108), ticks=range(0, 101, 25))
    number_of_sms = c.Axis("SMs that load the same line at once", ticks=counts)
    delay = c.Axis("cycles from the first SM's load to the others'")
    return c.Chart([[c.Panel(left, number_of_sms, shares), c.Panel(right, delay, shares)]], 7.6, 3)


def _caption(points: Sequence[Point]) -> str:
    valid = [one for one in points if one.valid]
    most = max((one for one in valid if one.delay == 0), key=lambda one: one.sms, default=None)
    pairs = [(one.apart.value, one.row.value < MERGED) for one in valid if one.sms == PAIR]
    merged = max((cycles for cycles, merged in pairs if merged), default=None)
    alone = min((cycles for cycles, merged in pairs if not merged), default=None)
    return prose(
        most
        and f"When {most.sms} SMs request one line at the same time, "
        f"{number(100 * most.row.value)}{SPACE}% of their requests reach L2: the others "
        "are merged on the way, and one answer serves several SMs.",
        merged is not None
        and alone is not None
        and merged < alone
        and f"Requests of two SMs merge if they are {merged:.0f} cycles apart, but not if they are "
        f"{alone:.0f} apart.",
        "SMs of one GPC repeatedly load a line past L1, each time a line that none of them "
        "has loaded yet. Share: sectors that L2 received over sectors that missed L1, both "
        "counted; 100 % means that nothing was merged. Left: all SMs load at once; grey line: "
        f"a model in which up to {SHARERS} SMs share a request. Right: one SM loads first, the "
        "others the given number of cycles later (medians, by the clocks of the SMs).",
        any(sms > PAIR for sms in later(points))
        and "The others load together, so their own requests may merge however late they are.",
    )


FIGURE = Figure(
    "request_merging", "Requests of several SMs for the same line", 22, items, chart, _caption,
    attributes("sms", delay_asked_cycles="delay")
    | {
        "delay_cycles": attrgetter("apart"),
        "share_that_reaches_l2": attrgetter("row"),
        "share_by_model": lambda one: None if one.delay else modelled(one.sms),
        "first_load_cycles": lambda one: one.case.row("first_load_cycles"),
        "other_load_cycles": lambda one: one.case.row("other_load_cycles"),
    },
    label=lambda one: f"{one.sms} SMs, delay of {one.delay} cycles",
)  # fmt: skip
