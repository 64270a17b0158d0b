"""What do uncoalesced accesses and short words cost a matrix addition, then and now?

Useful bandwidth of each kernel, by element, order and group; and the three speed-ups that van den
Braak, Mesman and Corporaal (2010) published for a GeForce 8800 GT, beside the same ratios here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, hollow_key, invalid_note
from strata.reference import cite
from strata.run import Row

BENCHMARK = "short_words"
ELEMENTS = (1, 2, 4)
_COLOUR = {"coalesced": "#0072B2", "uncoalesced": "#D55E00"}
_FORM: Mapping[str, tuple[Literal["-", "--"], str, float]] = {
    "together": ("-", "o", 4.2),
    "apart": ("--", "s", 3.4),
}
_CPU_ORDER = {"coalesced": "row by row", "uncoalesced": "column by column"}
METHODS = frozenset({"event_slope", "monotonic_slope"})
"""Of what is drawn: on a GPU, and on a CPU."""
TERA, GIGA = 1e12, 1e9
_PUBLISHED = "#000000"
_APART = 0.12
"""Of the published mark and the measured one, up and down."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its time, and the bandwidth that follows from it."""

    element: int
    order: str
    group: int
    access: str
    time: Row
    bandwidth: Row | None

    @property
    def on_a_cpu(self) -> bool:
        """Whose orders are those of a loop, and not of threads."""
        return self.time.backend == "host"

    @property
    def name(self) -> str:
        """How a caption speaks of it."""
        return f"{self.element} B elements, {self.order}, {self.group} B {self.access}"


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """A published ratio of times, and the kernels between which it was taken."""

    label: str
    value: float
    slow: tuple[int, str, int]
    """Element, order and group in bytes."""
    fast: tuple[int, str, int]


SPEED_UPS = (
    SpeedUp("32 bits\norder mended", 31, (4, "uncoalesced", 4), (4, "coalesced", 4)),
    SpeedUp("8 bits\nboth mended", 43, (1, "uncoalesced", 1), (1, "coalesced", 4)),
    SpeedUp("8 bits\ngrouped", 26, (1, "coalesced", 1), (1, "coalesced", 4)),
)
"""Section VI-C; the first two stand in Table II as well."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of medians, with the range that the samples allow."""

    value: float
    low: float
    high: float
    valid: bool


def prepare(rows: Sequence[Row]) -> Sequence[Kernel]:
    """Times by events, or by a CPU's clock, in the order of the panels."""
    timed = [
        row
        for row in rows
        if row.benchmark == BENCHMARK and row.provenance == "timed" and row.method in METHODS
    ]
    bandwidths = {row.case: row for row in timed if row.quantity == "useful_bandwidth"}
    kernels = [
        Kernel(
            element=int(row.params["element"]),
            order=row.params["order"],
            group=int(row.params["group"]),
            access=row.params["access"],
            time=row,
            bandwidth=bandwidths.get(row.case),
        )
        for row in timed
        if row.quantity == "kernel_time"
        and row.params.get("order") in _COLOUR
        and row.params.get("access") in _FORM
    ]
    return sorted(kernels, key=lambda one: (one.element, one.order, one.access, one.group))


def _elements(kernels: Sequence[Kernel]) -> list[int]:
    return sorted({kernel.element for kernel in kernels})


def ratio(kernels: Sequence[Kernel], speed_up: SpeedUp, group: int | None = None) -> Ratio | None:
    """The published ratio here; of another group where the fast kernel takes `group`."""
    known = {
        (one.element, one.order, one.group): one.time for one in kernels if one.access == "together"
    }
    element, order, published = speed_up.fast
    slow, fast = known.get(speed_up.slow), known.get((element, order, group or published))
    if slow is None or fast is None:
        return None
    return Ratio(
        slow.value / fast.value,
        slow.minimum / fast.maximum,
        slow.maximum / fast.minimum,
        slow.valid and fast.valid,
    )


def grid(kernels: Sequence[Kernel]) -> Grid:
    """A panel for each width of element and one for the ratios, in two columns."""
    rows = (len(_elements(kernels)) + 2) // 2
    return Grid(rows, 2, width=7.6, height=0.9 + 2.3 * rows)


def _on_a_cpu(kernels: Sequence[Kernel]) -> bool:
    return any(one.on_a_cpu for one in kernels)


def _scale(kernels: Sequence[Kernel]) -> tuple[float, str]:
    most = max((one.bandwidth.maximum for one in kernels if one.bandwidth), default=TERA)
    return (TERA, "TB/s") if most >= TERA else (GIGA, "GB/s")


def _bandwidths(kernels: Sequence[Kernel], panel: Axes, element: int) -> None:
    """Lines: medians of valid kernels, with the range of the samples. Hollow: invalid."""
    scale, unit = _scale(kernels)
    for order, colour in _COLOUR.items():
        for access, (line, marker, size) in _FORM.items():
            here = [
                (one.group, one.bandwidth)
                for one in kernels
                if (one.element, one.order, one.access) == (element, order, access)
                and one.bandwidth is not None
            ]
            valid = [(group, row) for group, row in here if row.valid]
            if valid:
                panel.vlines(
                    [group for group, _ in valid], [row.minimum / scale for _, row in valid],
                    [row.maximum / scale for _, row in valid], color=colour, linewidth=1.0,
                )  # fmt: skip
                panel.plot(
                    [group for group, _ in valid], [row.value / scale for _, row in valid],
                    color=colour, linestyle=line, linewidth=1.1, marker=marker, markersize=size,
                    label="_valid",
                )  # fmt: skip
            invalid = [(group, row.value / scale) for group, row in here if not row.valid]
            if invalid:
                panel.plot(
                    *zip(*invalid, strict=True), linestyle="none", color=colour, marker=marker,
                    markersize=size, markerfacecolor="white", markeredgewidth=0.8, zorder=4,
                    label="_invalid",
                )  # fmt: skip
    panel.set_title(f"{8 * element}-bit elements")
    panel.set_xscale("log", base=2)
    panel.set_xlim(0.85, 19)
    panel.xaxis.set_major_locator(FixedLocator([1, 2, 4, 8, 16]))
    panel.xaxis.set_major_formatter("{x:.0f}")
    panel.xaxis.set_minor_locator(NullLocator())
    taker = "a turn of the loop" if _on_a_cpu(kernels) else "a thread"
    panel.set_xlabel(f"group that {taker} takes (bytes)")
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_ylabel(f"useful bandwidth ({unit})")


def _ratios(kernels: Sequence[Kernel], panel: Axes) -> None:
    """Diamonds: published. Disks: here; hollow with an invalid kernel."""
    for place, speed_up in enumerate(SPEED_UPS):
        above, below = place - _APART, place + _APART
        panel.plot(
            [speed_up.value], [above], linestyle="none", marker="D", markersize=5.5,
            color=_PUBLISHED, markerfacecolor="#f0e442", markeredgewidth=0.9, label="_published",
        )  # fmt: skip
        panel.annotate(
            f"{speed_up.value:g}×", (speed_up.value, above), textcoords="offset points",
            xytext=(0, 6), ha="center", fontsize=7, color=INK,
        )  # fmt: skip
        here = ratio(kernels, speed_up)
        if here is None:
            panel.text(1.1, below, "not timed", va="center", color=GREY, fontsize=7)
            continue
        panel.plot([here.low, here.high], [below, below], color=INK, linewidth=1.2)
        panel.plot(
            [here.value], [below], linestyle="none", marker="o", markersize=5, color=INK,
            markerfacecolor=INK if here.valid else "white",
            label="_valid" if here.valid else "_invalid", zorder=3,
        )  # fmt: skip
        panel.annotate(
            f"{here.value:.3g}×", (here.value, below), textcoords="offset points",
            xytext=(0, -12), ha="center", fontsize=7, color=INK,
        )  # fmt: skip
    panel.set_title("Speed-ups, then and now")
    panel.set_xscale("log")
    panel.set_xlim(1, 100)
    panel.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100]))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.grid(visible=True)
    panel.yaxis.grid(visible=False)
    panel.set_xlabel("time of the slow kernel ÷ time of the fast one")
    panel.set_ylim(len(SPEED_UPS) - 0.4, -0.6)
    panel.yaxis.set_major_locator(FixedLocator(range(len(SPEED_UPS))))
    panel.set_yticklabels([speed_up.label for speed_up in SPEED_UPS])


def draw(kernels: Sequence[Kernel], axes: AxesGrid) -> None:
    """Elements first, the ratios last."""
    on_a_cpu = _on_a_cpu(kernels)
    names = _CPU_ORDER if on_a_cpu else {}
    elements = _elements(kernels)
    panels = flat(axes)
    for panel, element in zip(panels, elements, strict=False):
        _bandwidths(kernels, panel, element)
    drawn = [row for one in kernels if (row := one.bandwidth) is not None]
    if drawn:
        scale, _ = _scale(kernels)
        low = min(row.minimum for row in drawn) / scale
        high = max(row.maximum for row in drawn) / scale
        for panel in panels[: len(elements)]:
            panel.set_ylim(low / 1.3, high * 1.3)
    _ratios(kernels, panels[len(elements)])
    for panel in panels[len(elements) + 1 :]:
        panel.set_visible(False)
    handles = [
        Line2D([], [], color=_COLOUR[order], linewidth=1.4, label=names.get(order, order))
        for order in _COLOUR
        if any(one.order == order for one in kernels)
    ]
    handles += [
        Line2D([], [], color=GREY, linestyle=line, marker=marker, markersize=size, label=label)
        for access, (line, marker, size), label in (
            ("together", _FORM["together"], "one access a group"),
            ("apart", _FORM["apart"], "one access an element"),
        )
        if any(one.access == access for one in kernels)
    ]
    handles += [
        Line2D(
            [], [], linestyle="none", marker="D", markersize=5.5, color=_PUBLISHED,
            markerfacecolor="#f0e442", label="published, GeForce 8800 GT",
        ),
        Line2D(
            [], [], linestyle="none", marker="o", markersize=5, color=INK,
            label="this CPU" if on_a_cpu else "this GPU",
        ),
    ]  # fmt: skip
    ratios = [ratio(kernels, speed_up) for speed_up in SPEED_UPS]
    if any(not row.valid for row in drawn) or any(one and not one.valid for one in ratios):
        handles.append(hollow_key())
    panels[0].figure.legend(handles=handles, loc="outside upper center", ncols=4)


def caption(kernels: Sequence[Kernel]) -> str:
    """What is drawn, where the published numbers are from, and what 16-byte groups would give."""
    wider = ratio(kernels, SPEED_UPS[1], 16)
    more = (
        f" Groups of 16 bytes make the second {wider.value:.3g}×." if wider and wider.valid else ""
    )
    if _on_a_cpu(kernels):
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
        + invalid_note(
            one.name
            for one in kernels
            if not one.time.valid or (one.bandwidth is not None and not one.bandwidth.valid)
        )
    )


def cells(kernel: Kernel) -> tuple[object, ...]:
    """One line of the data file."""
    time, bandwidth = kernel.time, kernel.bandwidth
    return (
        kernel.element, kernel.order, kernel.group, kernel.access, time.value, time.minimum,
        time.maximum, bandwidth.value if bandwidth else "",
        time.valid and (bandwidth is None or bandwidth.valid), time.case,
    )  # fmt: skip


def source(kernel: Kernel) -> Row:
    """The row of its time."""
    return kernel.time


FIGURE = Figure(
    name="short_words",
    title="Short words and uncoalesced accesses",
    order=64,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "element_bytes", "order", "group_bytes", "access", "kernel_seconds", "seconds_low",
        "seconds_high", "useful_bandwidth", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
