"""What do uncoalesced accesses and short words cost in a matrix addition, then and now?

Useful bandwidth of each kernel, by element, order and group; and the three speed-ups that van den
Braak, Mesman and Corporaal (2010) published for a GeForce 8800 GT, beside the same ratios here.
"""

from operator import attrgetter
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import hover, plain_log, points, scaled
from strata.model.cases import by_case
from strata.model.units import quantity
from strata.reference import cite
from strata.run import Row, Run

METHODS = ("event_slope", "monotonic_slope")
"""Of what is drawn: on a GPU, and on a CPU."""
ORDERS = {"coalesced": ("row by row", "#0072B2"), "uncoalesced": ("column by column", "#D55E00")}
"""Orders of threads, what they are called of a loop on a CPU, and their colours."""
FORMS = {
    "together": ("one access a group", {"ls": "-", "marker": "o", "ms": 4.2}),
    "apart": ("one access an element", {"ls": "--", "marker": "s", "ms": 3.4}),
}
SPEED_UPS = (
    ("32 bits\norder improved", 31, (4, "uncoalesced", 4), (4, "coalesced", 4)),
    ("8 bits\nboth improved", 43, (1, "uncoalesced", 1), (1, "coalesced", 4)),
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


COLUMNS: Columns = {
    **attributes(element_bytes="element", order="order", group_bytes="group", access="access"),
    **attributes(of="time", kernel_seconds="value", seconds_low="minimum", seconds_high="maximum"),
    **attributes(useful_bandwidth="bandwidth", valid="valid", _rate="bandwidth"),
}


def data(run: Run) -> pd.DataFrame:
    """Times by events, or by a CPU's clock, in the order of the panels."""
    found = []
    for case in by_case(run.of("short_words")):
        time = case.row("kernel_time", *METHODS, provenance="timed")
        rate = case.row("useful_bandwidth", *METHODS, provenance="timed")
        order, access = case.text("order"), case.text("access")
        if time and rate and order in ORDERS and access in FORMS:
            element, group = case.count("element"), case.count("group")
            found.append(Kernel(element, order, group, access, time, rate))
    found.sort(key=lambda one: (one.element, one.order, one.access, one.group))
    return table(found, COLUMNS, row=attrgetter("time"), label=_label)


def _label(one: Kernel) -> str:
    return f"{one.element} B elements, {one.order}, {one.group} B {one.access}"


class Ratio(NamedTuple):
    """A speed-up, with the range of the samples, and what it is divided from."""

    value: float
    low: float
    high: float
    valid: bool
    words: str


def ratio(data: pd.DataFrame, place: int, group: int = 0) -> Ratio | None:
    """A published ratio here, with the sample range; or with groups of the given bytes."""
    together = data[data.access == "together"]
    kinds = zip(together.element_bytes, together.order, together.group_bytes, strict=True)
    known = dict(zip(kinds, together["_row"], strict=True))
    _, _, slow_kind, fast_kind = SPEED_UPS[place]
    slow, fast = known.get(slow_kind), known.get((*fast_kind[:2], group or fast_kind[2]))
    if slow is None or fast is None:
        return None
    value = slow.value / fast.value
    low, high = slow.minimum / fast.maximum, slow.maximum / fast.minimum
    words = f"{value:.3g}×: {quantity(slow.value, slow.unit)} ÷ {quantity(fast.value, fast.unit)}"
    return Ratio(value, low, high, slow.valid and fast.valid, words)


def caption(data: pd.DataFrame) -> str:
    """What was added, and which ratios the last panel shows."""
    what = (
        "Addition of two matrices: bytes of the three matrices over the time of one launch; "
        "medians, with the range of the samples. Coalesced: adjacent threads take adjacent "
        "groups."
    )
    size = "matrices of 128 MiB, which no cache holds"
    if data["_row"][0].backend == "host":
        what = (
            "Addition of two matrices per core: bytes of all matrices over the time of one "
            "more addition; medians, with the range of the samples. Coalesced: row by row; "
            "uncoalesced: column by column, the only order in which a group can be split."
        )
        size = "matrices of 2 MiB, three per core, which is more than most L2 hold"
    wider = ratio(data, 1, 16)
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


@figure(
    "short_words", "Short words and uncoalesced accesses", order=64, data=data, caption=caption
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """One panel per element width, and one for the ratios."""
    host = data["_row"][0].backend == "host"
    scale, unit = scaled(max(row.maximum for row in data["_rate"]), "B/s", least=1e9)
    elements = sorted(data.element_bytes.unique())
    columns = 2 if figure.get_figwidth() > 5 else 1
    rows = -(-(len(elements) + 1) // columns)
    figure.set_figheight(0.7 + 2.1 * rows)
    panels = [*figure.subplots(rows, columns, squeeze=False).flat]
    for ax, element in zip(panels, elements, strict=False):
        here = data[data.element_bytes == element]
        for (order, access), of in here.groupby(["order", "access"], sort=False):
            (loop, colour), (form, look) = ORDERS[order], FORMS[access]
            shown = of.assign(rate=of.useful_bandwidth / scale)
            label = f"{loop if host else order}, {form}"
            points(ax, shown, "group_bytes", "rate", color=colour, label=label, **look)
            ends = ([getattr(row, end) / scale for row in of["_rate"]]
                    for end in ("minimum", "maximum"))  # fmt: skip
            ax.vlines(of.group_bytes, *ends, color=colour, lw=0.9)
        ax.set_xscale("log", base=2)
        ax.sharey(panels[0])
        groups = [1, 2, 4, 8, 16]
        ax.set_xticks(groups, groups)
        plain_log(ax)
        label = f"bytes that {'a turn of the loop' if host else 'a thread'} takes"
        ax.set(title=f"{8 * element}-bit elements", xlim=(0.85, 19), xlabel=label)
        ax.set_ylabel(f"useful bandwidth ({unit})")
    _draw_ratios(panels[len(elements)], data, "this CPU" if host else "this GPU")
    for ax in panels[len(elements) + 1 :]:
        ax.remove()


def _draw_ratios(ax: Axes, data: pd.DataFrame, here: str) -> None:
    """Published speed-ups, and below each the same ratio here."""
    found = [ratio(data, place) for place in range(len(SPEED_UPS))]
    theirs = [by for _, by, *_ in SPEED_UPS]
    places = [place - 0.14 for place in range(len(theirs))]
    label = "published, GeForce 8800 GT"
    (line,) = ax.plot(theirs, places, "D", color="#b5a800", ms=5.5, label=label)
    hover(line, [f"{by}×, published {cite('vandenbraak2010access')}" for by in theirs])
    texts = [(float(by), place, f"{by}×") for by, place in zip(theirs, places, strict=True)]
    for at, one in enumerate(found):
        place = at + 0.14
        if one is None:
            texts.append((1, place, "not timed"))
            continue
        shown = pd.DataFrame({"x": [one.value], "y": [place], "valid": one.valid})
        points(ax, shown.assign(_row=one.words), "x", "y", color="k", marker="o", ls="", label=here)
        ax.hlines(place, one.low, one.high, color="k", lw=0.9)
        texts.append((one.high, place, f"{one.value:.3g}×"))
    for x, y, words in texts:
        ax.annotate(words, (x, y), (6, 0), textcoords="offset points", va="center")
    plain_log(ax, "x")
    ax.set_yticks(range(len(SPEED_UPS)), [name for name, *_ in SPEED_UPS])
    ax.set(xlim=(1, 200), ylim=(len(SPEED_UPS) - 0.5, -0.5), title="Speed-ups, then and now")
    ax.set_xlabel("time of slow kernel ÷ fast one")
    ax.grid(axis="x")
