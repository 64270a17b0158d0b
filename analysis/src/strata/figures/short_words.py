"""What do uncoalesced accesses and short words cost in a matrix addition, then and now?

Useful bandwidth of each kernel, by element, order and group; and the three speed-ups that van den
Braak, Mesman and Corporaal (2010) published for a GeForce 8800 GT, beside the same ratios here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model.cases import by_case
from strata.model.units import quantity
from strata.reference import cite
from strata.run import Row, Run

METHODS = ("event_slope", "monotonic_slope")
"""Of what is drawn: on a GPU, and on a CPU."""
ORDERS = {"coalesced": ("row by row", "#0072B2"), "uncoalesced": ("column by column", "#D55E00")}
"""Orders of threads, what they are called of a loop on a CPU, and their colours."""
FORMS = {
    "together": ("one access a group", c.Look(line="-", marker="o", size=4.2)),
    "apart": ("one access an element", c.Look(line="--", marker="s", size=3.4)),
}
SPEED_UPS = (
    ("32 bits\norder mended", 31, (4, "uncoalesced", 4), (4, "coalesced", 4)),
    ("8 bits\nboth mended", 43, (1, "uncoalesced", 1), (1, "coalesced", 4)),
    ("8 bits\ngrouped", 26, (1, "coalesced", 1), (1, "coalesced", 4)),
)
"""Section VI-C: name, ratio of times, element, order and group in bytes of the slow kernel and of
the fast one. The first two stand in Table II as well."""


class Kernel(NamedTuple):
    """One kernel: bytes per element and group, seconds per addition, bytes per second."""

    element: int
    order: str
    group: int
    access: str
    time: Row
    bandwidth: Row

    @property
    def valid(self) -> bool:
        """Whether everything known about it is valid."""
        return self.time.valid and self.bandwidth.valid


def items(run: Run) -> Sequence[Kernel]:
    """Times by events, or by a CPU's clock, in the order of the panels."""
    found = []
    for case in by_case(run.of("short_words")):
        time = case.row("kernel_time", *METHODS, provenance="timed")
        rate = case.row("useful_bandwidth", *METHODS, provenance="timed")
        order, access = case.text("order"), case.text("access")
        if time and rate and order in ORDERS and access in FORMS:
            element, group = case.count("element"), case.count("group")
            found.append(Kernel(element, order, group, access, time, rate))
    return sorted(found, key=lambda one: (one.element, one.order, one.access, one.group))


def ratio(kernels: Sequence[Kernel], place: int, group: int = 0) -> c.Mark | None:
    """A published ratio here, with the sample range; or with groups of the given bytes."""
    together = [one for one in kernels if one.access == "together"]
    known = {(one.element, one.order, one.group): one.time for one in together}
    _, _, slow_kind, fast_kind = SPEED_UPS[place]
    slow, fast = known.get(slow_kind), known.get((*fast_kind[:2], group or fast_kind[2]))
    if slow is None or fast is None:
        return None
    value = slow.value / fast.value
    low, high = slow.minimum / fast.maximum, slow.maximum / fast.minimum
    words, valid = f"{value:.3g}×", slow.valid and fast.valid
    told = f"{words}: {quantity(slow.value, slow.unit)} ÷ {quantity(fast.value, fast.unit)}"
    return c.Mark(place + 0.12, value, low, high, valid, words, told=told)


def chart(kernels: Sequence[Kernel]) -> c.Chart:
    """One panel per element width, and one for the ratios."""
    host = kernels[0].time.backend == "host"
    scale, unit = c.scaled(max(one.bandwidth.maximum for one in kernels), "B/s", least=1e9)
    values = c.Axis(f"useful bandwidth ({unit})", "log")
    label = f"group that {'a turn of the loop' if host else 'a thread'} takes (bytes)"
    groups = c.Axis(label, "log2", limits=(0.85, 19), ticks=[1, 2, 4, 8, 16])
    looks = {
        (order, form): ("", replace(look, colour=colour))
        for order, (_, colour) in ORDERS.items()
        for form, (_, look) in FORMS.items()
    }

    def mark(one: Kernel) -> c.Mark:
        return c.mark(one.group, one.bandwidth, scale)

    panels = []
    for element, here in sorted(c.grouped(kernels, lambda one: one.element).items()):
        layers = c.by_look(here, lambda one: (one.order, one.access), looks, mark, spread="bar")
        panels.append(c.Panel(layers, groups, values, f"{8 * element}-bit elements"))
    rows = c.wrapped([*panels, _ratios(kernels, "this CPU" if host else "this GPU")], 2)
    orders, forms = {one.order for one in kernels}, {one.access for one in kernels}
    keys = [
        c.Key(words if host else order, c.Look(colour, line="-"))
        for order, (words, colour) in ORDERS.items()
        if order in orders
    ]
    keys += [
        c.Key(label, replace(look, colour=c.GREY))
        for form, (label, look) in FORMS.items()
        if form in forms
    ]
    return c.Chart(rows, 7.6, 0.9 + 2.3 * len(rows), keys=keys, share="all")


def _ratios(kernels: Sequence[Kernel], here: str) -> c.Panel:
    """Published speed-ups, and below each the same ratio here."""
    places = range(len(SPEED_UPS))
    told = f"{{}}×, published {cite('vandenbraak2010access')}".format
    both = [(at - 0.12, by) for at, (_, by, *_) in enumerate(SPEED_UPS)]
    published = [c.Mark(at, by, words=f"{by}×", told=told(by)) for at, by in both]
    own = [ratio(kernels, place) for place in places]
    theirs, ours = c.Look("#b5a800", "D", size=5.5), c.Look(marker="o", size=5)
    layers: list[c.Layer] = [
        c.Series(published, theirs, "published, GeForce 8800 GT"),
        c.Series([one for one in own if one], ours, here, "bar"),
    ]
    layers += [
        c.Words(place + 0.12, 1.1, "not timed", across="left", colour=c.GREY, size=7)
        for place in places
        if not own[place]
    ]
    ticks, label = [1, 2, 5, 10, 20, 50, 100], "time of the slow kernel ÷ time of the fast one"
    values = c.Axis(label, "log", (1, 100), ticks=ticks)
    names = c.names_axis([name for name, *_ in SPEED_UPS])
    return c.Panel(layers, names, values, "Speed-ups, then and now", sideways=True)


def _caption(kernels: Sequence[Kernel]) -> str:
    what = (
        "Addition of two matrices: bytes of the three matrices over the time of one launch; "
        "medians, with the range of the samples. Coalesced: adjacent threads take adjacent "
        "groups."
    )
    size = "matrices of 128 MiB, which no cache holds"
    if kernels[0].time.backend == "host":
        what = (
            "Addition of two matrices per core: bytes of all matrices over the time of one "
            "more addition; medians, with the range of the samples. Coalesced: row by row; "
            "uncoalesced: column by column, the only order in which a group can be split."
        )
        size = "matrices of 2 MiB, three per core, which is more than most L2 hold"
    wider = ratio(kernels, 1, 16)
    return prose(
        what,
        "Last panel: speed-ups published by van den Braak, Mesman and Corporaal (2010), "
        f"section VI-C and Table II {cite('vandenbraak2010access')} (the last in the text "
        "only), for matrices of 512 × 512 elements (section III) on a GeForce 8800 GT of "
        f"compute capability 1.1, and the same ratios here, for {size}. They are: 32-bit "
        "elements from uncoalesced to coalesced (31×); 8-bit elements from uncoalesced and "
        "ungrouped to coalesced and grouped (43×); 8-bit elements coalesced, from ungrouped "
        "to grouped (26×). The paper does not give the number of elements in these groups; "
        "here it is four, the larger of the two vectors that its section V-B allows.",
        wider and wider.valid and f"Groups of 16 bytes increase the second to {wider.value:.3g}×.",
    )


FIGURE = Figure(
    "short_words", "Short words and uncoalesced accesses", 64, items, chart, _caption,
    attributes(element_bytes="element", order="order", group_bytes="group", access="access")
    | attributes(of="time", kernel_seconds="value", seconds_low="minimum", seconds_high="maximum")
    | attributes(useful_bandwidth="bandwidth"),
    row=lambda one: one.time,
    label=lambda one: f"{one.element} B elements, {one.order}, {one.group} B {one.access}",
)  # fmt: skip
