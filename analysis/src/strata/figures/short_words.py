"""What do uncoalesced accesses and short words cost a matrix addition, then and now?

Useful bandwidth of each kernel, by element, order and group; and the three speed-ups that van den
Braak, Mesman and Corporaal (2010) published for a GeForce 8800 GT, beside the same ratios here.
"""

from collections.abc import Sequence
from dataclasses import replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params
from strata.model.cases import CaseRows, by_case
from strata.reference import cite
from strata.run import Row, Run

METHODS = ("event_slope", "monotonic_slope")
"""Of what is drawn: on a GPU, and on a CPU."""
ORDERS = {"coalesced": "row by row", "uncoalesced": "column by column"}
"""Orders of threads, and what they are called of a loop on a CPU."""
COLOUR = {"coalesced": "#0072B2", "uncoalesced": "#D55E00"}
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


class Kernel(CaseRows):
    """One kernel: its time, and the bandwidth that follows from it."""

    @property
    def kind(self) -> tuple[int, str, int]:
        """Bytes of an element, order, bytes of a group."""
        return self.count("element"), self.text("order"), self.count("group")

    @property
    def time(self) -> Row:
        """Seconds of one addition."""
        row = self.row("kernel_time", *METHODS, provenance="timed")
        if row is None:
            raise KeyError("kernel_time")
        return row

    @property
    def bandwidth(self) -> Row | None:
        """Bytes of all matrices a second."""
        return self.row("useful_bandwidth", *METHODS, provenance="timed")

    @property
    def valid(self) -> bool:
        """Whether all that is known of it is."""
        return not c.any_invalid(self.time, self.bandwidth)


def items(run: Run) -> Sequence[Kernel]:
    """Times by events, or by a CPU's clock, in the order of the panels."""
    found = [
        Kernel(case.rows)
        for case in by_case(run.of("short_words"))
        if case.row("kernel_time", *METHODS, provenance="timed")
        and case.text("order") in ORDERS
        and case.text("access") in FORMS
    ]
    return sorted(found, key=lambda one: (*one.kind[:2], one.text("access"), one.kind[2]))


def ratio(kernels: Sequence[Kernel], place: int, group: int = 0) -> c.Mark | None:
    """A published ratio here, with the range of the samples; or with groups of so many bytes."""
    known = {one.kind: one.time for one in kernels if one.text("access") == "together"}
    _, _, slow_kind, fast_kind = SPEED_UPS[place]
    slow, fast = known.get(slow_kind), known.get((*fast_kind[:2], group or fast_kind[2]))
    if slow is None or fast is None:
        return None
    value, low, high = (
        slow.value / fast.value, slow.minimum / fast.maximum, slow.maximum / fast.minimum,
    )  # fmt: skip
    return c.Mark(place + 0.12, value, low, high, slow.valid and fast.valid, f"{value:.3g}×")


def chart(kernels: Sequence[Kernel]) -> c.Chart:
    """A panel for each width of element, and one for the ratios."""
    host = kernels[0].time.backend == "host"
    drawn = [row for one in kernels if (row := one.bandwidth)]
    scale, unit = c.scaled(max((row.maximum for row in drawn), default=1e12), "B/s", least=1e9)
    values = c.Axis(label=f"useful bandwidth ({unit})", scale="log")
    groups = c.Axis(
        label=f"group that {'a turn of the loop' if host else 'a thread'} takes (bytes)",
        scale="log2", limits=(0.85, 19), ticks=[1, 2, 4, 8, 16],
    )  # fmt: skip

    def panel(element: int, here: Sequence[Kernel]) -> c.Panel:
        layers = [
            c.Series(
                marks=[
                    c.mark(one.kind[2], row, scale)
                    for one in here
                    if (one.kind[1], one.text("access")) == (order, form) and (row := one.bandwidth)
                ],
                look=replace(look, colour=COLOUR[order]), spread="bar",
            )
            for order in ORDERS
            for form, (_, look) in FORMS.items()
        ]  # fmt: skip
        title = f"{8 * element}-bit elements"
        return c.Panel(layers=layers, places=groups, values=values, title=title)

    by_element = c.grouped(kernels, lambda one: one.kind[0])
    panels = [panel(element, here) for element, here in sorted(by_element.items())]
    panels.append(_ratios(kernels, "this CPU" if host else "this GPU"))
    keys = [
        c.Key(label=words if host else order, look=c.Look(colour=COLOUR[order], line="-"))
        for order, words in ORDERS.items()
        if any(one.kind[1] == order for one in kernels)
    ]
    keys += [
        c.Key(label=label, look=replace(look, colour=c.GREY))
        for form, (label, look) in FORMS.items()
        if any(one.text("access") == form for one in kernels)
    ]
    rows = c.wrapped(panels, 2)
    return c.Chart(rows=rows, width=7.6, height=0.9 + 2.3 * len(rows), keys=keys, share="all")


def _ratios(kernels: Sequence[Kernel], here: str) -> c.Panel:
    """Published speed-ups, and beneath each the same ratio here."""
    published = [
        c.Mark(place - 0.12, value, words=f"{value}×")
        for place, (_, value, *_) in enumerate(SPEED_UPS)
    ]
    own = [ratio(kernels, place) for place in range(len(SPEED_UPS))]
    diamonds = c.Look(marker="D", size=5.5, colour="#b5a800")
    return c.Panel(
        layers=[
            c.Series(marks=published, look=diamonds, label="published, GeForce 8800 GT"),
            c.Series(
                marks=[one for one in own if one], look=c.Look(marker="o", size=5), label=here,
                spread="bar",
            ),
            *(
                c.Words(place=place + 0.12, value=1.1, text="not timed", across="left",
                        colour=c.GREY, size=7)
                for place, one in enumerate(own)
                if one is None
            ),
        ],
        places=c.names_axis([name for name, *_ in SPEED_UPS]),
        values=c.Axis(label="time of the slow kernel ÷ time of the fast one", scale="log",
                      limits=(1, 100), ticks=[1, 2, 5, 10, 20, 50, 100]),
        title="Speed-ups, then and now", sideways=True,
    )  # fmt: skip


def caption(kernels: Sequence[Kernel]) -> str:
    """What is drawn, where the published numbers are from, and what 16-byte groups would give."""
    wider = ratio(kernels, 1, 16)
    more = (
        f" Groups of 16 bytes make the second {wider.value:.3g}×." if wider and wider.valid else ""
    )
    if kernels[0].time.backend == "host":
        what = (
            "Additions of two matrices by every core, each its own: bytes of all matrices over the "
            "time of one addition more; medians, with the range of the samples. Coalesced: row by "
            "row; uncoalesced: column by column, where alone a group can be taken apart. "
        )
        size = "matrices of 2 MiB, three for each core, which is more than most L2 hold"
    else:
        what = (
            "Addition of two matrices: bytes of the three matrices over the time of one launch; "
            "medians, with the range of the samples. Coalesced: neighbouring threads take "
            "neighbouring groups. "
        )
        size = "matrices of 128 MiB, which no cache holds"
    return (
        f"{what}Last panel: speed-ups published by van den Braak, Mesman and Corporaal (2010), "
        f"section VI-C and Table II {cite('vandenbraak2010access')} (the last in the text only), "
        "for matrices of 512 × 512 elements (section III) on a GeForce 8800 GT of compute "
        f"capability 1.1, and the same ratios here, for {size}. They are: 32-bit elements from "
        "uncoalesced to coalesced (31×); 8-bit elements from uncoalesced and ungrouped to "
        "coalesced and grouped (43×); 8-bit elements coalesced, from ungrouped to grouped (26×). "
        "The paper does not say how many elements a group of these had; here it is four, the "
        f"larger of the two vectors that its section V-B allows.{more}"
    )


def _name(one: Kernel) -> str:
    element, order, group = one.kind
    return f"{element} B elements, {order}, {group} B {one.text('access')}"


FIGURE = Figure(
    name="short_words",
    title="Short words and uncoalesced accesses",
    order=64,
    items=items,
    chart=chart,
    caption=caption,
    columns={
        "element_bytes": lambda one: one.kind[0],
        "order": lambda one: one.kind[1],
        "group_bytes": lambda one: one.kind[2],
    }
    | params("access", of="time")
    | attributes(of="time", kernel_seconds="value", seconds_low="minimum", seconds_high="maximum")
    | attributes(useful_bandwidth="bandwidth", valid="valid")
    | attributes("case", of="time"),
    row=lambda one: one.time,
    invalid=lambda one: "" if one.valid else _name(one),
)
