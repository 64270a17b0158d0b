"""How near do matrix additions come to what memory allows, coalesced and grouped, or not?

Figure 3 of van den Braak, Mesman and Corporaal (2010), drawn again with this GPU's roofs and
kernels; beside them what the paper's Table II and section VI-C print for a GeForce 8800 GT.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from strata import reference
from strata.figures import AxesGrid, Figure, Grid, bandwidth_ceilings, flat
from strata.figures._palette import GREY, INK, hollow_key, invalid_note
from strata.model.units import short
from strata.reference.published import own_cost
from strata.run import Row

BENCHMARK = "short_words"
KEY = "vandenbraak2010access"
GIGA = 1e9
MATRICES = 3
"""Each element is read twice and written once."""
PUBLISHED_ELEMENTS = 512 * 512
PUBLISHED = "#D55E00"
LIMITS = (1 / 20, 1)
"""Additions per byte, left and right."""
ROOF_NAME = 0.26
"""Where the name of a roof ends: between the two columns of marks."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of the paper: what it is here, how it is drawn, and the time that is printed."""

    label: str
    element: int
    order: str
    group: int
    marker: str
    fill: str
    published_seconds: float | None


KERNELS = (
    Kernel("32 bits, uncoalesced", 4, "uncoalesced", 4, "o", "white", 2.06e-3),
    Kernel("32 bits, coalesced", 4, "coalesced", 4, "o", INK, 0.067e-3),
    Kernel("8 bits, uncoalesced, ungrouped", 1, "uncoalesced", 1, "*", "white", 1.020e-3),
    Kernel("8 bits, coalesced, ungrouped", 1, "coalesced", 1, "P", "white", 0.634e-3),
    Kernel("8 bits, uncoalesced, grouped", 1, "uncoalesced", 4, "*", "#a6a6a6", None),
    Kernel("8 bits, coalesced, grouped", 1, "coalesced", 4, "*", INK, 0.024e-3),
)
"""Circles and stars as in the paper's figure, white, grey and black; times from section VI-C."""


@dataclass(frozen=True, slots=True)
class Item:
    """A kernel, or (`kernel` None) a roof: additions per byte, and additions in a second.

    Of a roof of arithmetic `intensity` is None; of one of bandwidth `rate` is that of one addition
    per byte.
    """

    label: str
    kernel: Kernel | None
    intensity: float | None
    rate: float
    low: float
    high: float
    row: Row
    style: str = ""

    @property
    def published(self) -> float | None:
        """Additions in a second on the GeForce 8800 GT."""
        seconds = self.kernel.published_seconds if self.kernel else None
        return PUBLISHED_ELEMENTS / seconds if seconds else None


def _kernel(rows: Mapping[tuple[int, str, int], Row], kernel: Kernel) -> Item | None:
    row = rows.get((kernel.element, kernel.order, kernel.group))
    if row is None:
        return None
    per_byte = 1 / (MATRICES * kernel.element)
    return Item(
        kernel.label, kernel, per_byte, row.value * per_byte, row.minimum * per_byte,
        row.maximum * per_byte, row,
    )  # fmt: skip


def _roofs(rows: Sequence[Row]) -> list[Item]:
    """What arithmetic and DRAM allow, and what is left of DRAM for a word of each sector."""
    result = []
    best = own_cost(rows, "iadd3", chain=False)
    rate = next(
        (
            row
            for row in rows
            if best and (row.case, row.quantity) == (best.case, "operation_rate") and row.valid
        ),
        None,
    )
    if rate:
        result.append(
            Item("integer additions", None, None, rate.value, rate.minimum, rate.maximum, rate, "-")
        )
    whole = next(
        (
            one.row
            for one in bandwidth_ceilings.prepare(rows)
            if (one.level, one.grouped, one.coalesced) == ("dram", True, True) and one.row.valid
        ),
        None,
    )
    sector = next(
        (
            row
            for row in rows
            if (row.benchmark, row.quantity) == ("cache_geometry", "sector")
            and row.params.get("property") == "l1_sector"
            and row.valid
        ),
        None,
    )
    if whole is None:
        return result
    shares = {"DRAM": (1.0, "-")}
    if sector:
        shares["DRAM, 4 B of each sector"] = (4 / sector.value, "--")
        shares["DRAM, 1 B of each sector"] = (1 / sector.value, ":")
    for label, (share, style) in shares.items():
        ends = (whole.value * share, whole.minimum * share, whole.maximum * share)
        result.append(Item(label, None, 1.0, *ends, whole, style))
    return result


def prepare(rows: Sequence[Row]) -> Sequence[Item]:
    """Kernels and roofs of a run on a GPU that timed the paper's additions."""
    timed = {
        (int(row.params["element"]), row.params["order"], int(row.params["group"])): row
        for row in rows
        if row.benchmark == BENCHMARK
        and row.backend == "cuda"
        and (row.quantity, row.method) == ("useful_bandwidth", "event_slope")
        and row.params.get("access") == "together"
    }
    kernels = [item for kernel in KERNELS if (item := _kernel(timed, kernel))]
    return [*kernels, *_roofs(rows)] if kernels else ()


def grid(items: Sequence[Item]) -> Grid:  # noqa: ARG001  (every figure is asked alike)
    """One panel."""
    return Grid(1, 1, width=8.4, height=4.4)


def _flat_roof(items: Sequence[Item]) -> float:
    """Additions in a second that arithmetic allows."""
    return min(
        (one.rate for one in items if not one.kernel and one.intensity is None), default=1e30
    )


def draw(items: Sequence[Item], axes: AxesGrid) -> None:
    """Roofs as lines, kernels as the paper's marks; orange: the paper's own."""
    (panel,) = flat(axes)
    left, right = LIMITS
    top = _flat_roof(items)
    kernels = [one for one in items if one.kernel]
    for one in items:
        if one.kernel:
            continue
        if one.intensity is None:
            panel.axhline(one.rate / GIGA, color=INK, linewidth=1.1, label="_roof")
            place, words = (left * 1.06, one.rate / GIGA), one.label
        else:
            bend = min(right, top / one.rate)
            panel.plot(
                [left, bend], [left * one.rate / GIGA, bend * one.rate / GIGA], color=INK,
                linewidth=1.1, linestyle=one.style, label="_roof",
            )  # fmt: skip
            place, words = (ROOF_NAME, ROOF_NAME * one.rate / GIGA), one.label
        panel.annotate(
            words, place, xytext=(0, 4), textcoords="offset points", fontsize=7, color=INK,
            va="bottom", ha="left" if one.intensity is None else "right",
        )  # fmt: skip
    for one in kernels:
        _mark(panel, one)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlim(left, right)
    lowest = [one.low for one in items if one.kernel] + [one.published or 1e30 for one in kernels]
    highest = [one.high for one in kernels] + [one.rate for one in items if one.intensity is None]
    panel.set_ylim(min(lowest) / GIGA / 2.5, max(highest) / GIGA * 2.5)
    panel.xaxis.set_major_locator(FixedLocator([1 / 12, 1 / 3, 1]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(_fraction))
    panel.yaxis.set_major_locator(LogLocator(10))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_xlabel("additions per byte of DRAM (32-bit elements 1/12, 8-bit elements 1/3)")
    panel.set_ylabel("additions (10⁹/s)")
    _legend(panel, kernels)


def _fraction(value: float, _: int) -> str:
    return f"1/{1 / value:.0f}" if value < 1 else f"{value:.0f}"


def _mark(panel: Axes, one: Item) -> None:
    """This GPU's kernel, and below it the paper's."""
    if one.kernel is None or one.intensity is None:
        return
    size = 10 if one.kernel.marker == "*" else 6.5
    valid = one.row.valid
    panel.plot(
        [one.intensity], [one.rate / GIGA], linestyle="none", marker=one.kernel.marker,
        markersize=size, color=INK if valid else GREY,
        markerfacecolor=one.kernel.fill if valid else "white", markeredgewidth=1,
        label="_valid" if valid else "_invalid", zorder=4,
    )  # fmt: skip
    panel.annotate(
        short(one.rate / GIGA), (one.intensity, one.rate / GIGA), xytext=(9, 0),
        textcoords="offset points", va="center", fontsize=7, color=INK,
    )  # fmt: skip
    if one.published:
        fill = PUBLISHED if one.kernel.fill == INK else one.kernel.fill
        panel.plot(
            [one.intensity], [one.published / GIGA], linestyle="none", marker=one.kernel.marker,
            markersize=size, color=PUBLISHED, markerfacecolor=fill, markeredgewidth=1,
            label="_published", zorder=3,
        )  # fmt: skip
        panel.annotate(
            short(one.published / GIGA), (one.intensity, one.published / GIGA), xytext=(9, 0),
            textcoords="offset points", va="center", fontsize=7, color=PUBLISHED,
        )  # fmt: skip


def _legend(panel: Axes, kernels: Sequence[Item]) -> None:
    handles = [
        Line2D(
            [], [], linestyle="none", marker=one.kernel.marker, color=INK, markeredgewidth=1,
            markersize=9 if one.kernel.marker == "*" else 6, markerfacecolor=one.kernel.fill,
            label=one.label,
        )
        for one in kernels
        if one.kernel
    ]  # fmt: skip
    handles.append(
        Line2D([], [], linestyle="none", marker="s", color=PUBLISHED, markersize=6,
               label=f"GeForce 8800 GT {reference.cite(KEY)}")
    )  # fmt: skip
    if any(not one.row.valid for one in kernels):
        handles.append(hollow_key())
    panel.figure.legend(handles=handles, loc="outside upper center", ncols=3)


def caption(items: Sequence[Item]) -> str:
    """What is counted, what the roofs are, and where the paper's numbers are from."""
    roofs = [one for one in items if not one.kernel]
    words = (
        "Additions of two matrices in a second against additions for each byte that must move, one "
        "addition an element (the paper counts operations, which may be those of the index as "
        "well)."
    )
    if roofs:
        words += (
            " Lines: the best rate of integer additions, and the best bandwidth of DRAM; dashed "
            "and dotted: what is left of it if of every sector that moves one 32-bit or one 8-bit "
            "word is used, which caches can mend."
        )
    return (
        f"{words} Black, grey and white: this GPU, matrices of 128 MiB, groups of four elements. "
        f"Orange: a GeForce 8800 GT as printed in {reference.cite(KEY)}, section VI-C and Table II "
        "(2.06 and 0.067 ms of 32-bit elements, 1.020, 0.634 and 0.024 ms of 8-bit ones), over the "
        "512 × 512 elements of its section III; values that its Figure 3 shows and the text does "
        "not print are not drawn."
        + invalid_note(one.label for one in items if one.kernel and not one.row.valid)
    )


def cells(item: Item) -> tuple[object, ...]:
    """One line of the data file."""
    return (
        item.label, item.kernel is None, "" if item.intensity is None else item.intensity,
        item.rate, item.low, item.high, item.published or "", item.row.valid, item.row.case,
    )  # fmt: skip


def source(item: Item) -> Row:
    """The bandwidth of a kernel, or what a roof is made of."""
    return item.row


FIGURE = Figure(
    name="vandenbraak_roofline",
    title="Figure 3 of van den Braak, Mesman and Corporaal (2010), redone",
    order=65,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "name", "is_roof", "additions_per_byte", "additions_per_second", "low", "high",
        "published_additions_per_second", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
