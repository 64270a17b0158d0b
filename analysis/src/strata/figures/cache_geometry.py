"""How large is each cache, how long are its lines, and does anybody say the same?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

from matplotlib.artist import Artist
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, hollow_key, invalid_note, legend_above
from strata.model.units import SPACE, size
from strata.run import Row

BENCHMARK = "cache_geometry"
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
"""Sizes first, then lines, then what a miss brings in: the order of the rows."""
QUANTITIES = ("size", "line", "sector")
COLOUR = {"size": "#0072B2", "line": "#009E73", "sector": "#D55E00"}
KIND = {"size": "size", "line": "line", "sector": "brought in by a miss"}
REPORTER = {
    "cuda_programming_guide": "guide",
    "operating_system": "system",
    "cudaDevAttrL2CacheSize": "driver",
    "cudaLimitMaxL2FetchGranularity": "driver",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one property; `low` and `high` bound the place of the change."""

    sought: str
    carveout: int
    found: Row
    low: float
    high: float
    confidence: float | None
    reported: Row | None

    @property
    def name(self) -> str:
        """What stands at its row of the figure."""
        name = PROPERTIES.get(self.sought, self.sought)
        shared = f", {self.carveout}{SPACE}KiB shared" if self.carveout else ""
        return name + shared


def prepare(rows: Sequence[Row]) -> Sequence[Finding]:
    """A finding for each case that found something."""
    own = [row for row in rows if row.benchmark == BENCHMARK]
    others = {(row.case, row.quantity): row for row in own}
    order = list(PROPERTIES)
    findings = []
    for row in own:
        name = row.params.get("property", "")
        if row.quantity not in QUANTITIES or row.provenance != "timed" or name not in order:
            continue
        low = others.get((row.case, "interval_low"))
        high = others.get((row.case, "interval_high"))
        confidence = others.get((row.case, "confidence"))
        carveout = row.params.get("carveout", "0")
        findings.append(
            Finding(
                sought=name,
                carveout=int(carveout) if carveout.isdecimal() else 0,
                found=row,
                low=min(row.value, low.value if low else row.minimum),
                high=max(row.value, high.value if high else row.maximum),
                confidence=confidence.value if confidence else None,
                reported=others.get((row.case, "reported")),
            )
        )
    return sorted(findings, key=lambda one: (order.index(one.sought), one.carveout))


def grid(findings: Sequence[Finding]) -> Grid:
    """One panel, a row for each finding."""
    return Grid(1, 1, width=7.6, height=1.3 + 0.27 * len(findings))


def _bytes(count: float) -> str:
    """A size as exactly as a line of it: 230.6 KiB, 128 B."""
    whole = round(count)
    return size(whole) if whole % 1024 == 0 or whole < 1024 else _fraction(whole)


def _fraction(count: int) -> str:
    scale, name = (2**20, "MiB") if count >= 2**20 else (2**10, "KiB")
    return f"{count / scale:.2f}".rstrip("0").rstrip(".") + f"{SPACE}{name}"


def _words(one: Finding) -> str:
    said = ""
    if one.reported:
        by = REPORTER.get(one.reported.method, "reported")
        said = f"  ({by}: {_bytes(one.reported.value)})"
    return _bytes(one.found.value) + said


def draw(findings: Sequence[Finding], axes: AxesGrid) -> None:
    """Dots with the interval of the change, an upright stroke for what is reported."""
    (panel,) = flat(axes)
    edges = [value for one in findings for value in (one.low, one.high)]
    edges += [one.reported.value for one in findings if one.reported]
    for place, one in enumerate(findings):
        colour = COLOUR[one.found.quantity]
        valid = one.found.valid
        if one.reported:
            panel.plot(
                [one.reported.value], [place], marker="|", markersize=11, markeredgewidth=1.4,
                color=INK, linestyle="none", zorder=2, label="_reported",
            )  # fmt: skip
        if valid:
            panel.hlines(place, one.low, one.high, color=colour, linewidth=2.4, zorder=3)
        panel.plot(
            [one.found.value], [place], marker="o", markersize=5, color=colour, linestyle="none",
            markerfacecolor=colour if valid else "white", markeredgewidth=0.9, zorder=4,
            label="_valid" if valid else "_invalid",
        )  # fmt: skip
        if place and findings[place - 1].found.quantity != one.found.quantity:
            panel.axhline(place - 0.5, color="#cccccc", linewidth=0.6, zorder=0)
    first, last = floor(log2(max(min(edges), 1))) - 1, ceil(log2(max(edges))) + 1
    step = max(1, -(-(last - first) // 8))
    ticks = [2.0**power for power in range(first, last + 1, step)]
    panel.set_xscale("log", base=2)
    panel.set_xlim(2.0**first, 2.0**last)
    panel.xaxis.set_major_locator(FixedLocator(ticks))
    panel.xaxis.set_major_formatter(FixedFormatter([size(int(value)) for value in ticks]))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("bytes")
    panel.set_ylim(len(findings) - 0.45, -0.55)
    panel.set_yticks(range(len(findings)), [2 * SPACE + one.name for one in findings])
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    # Labels of an axis, so that the layout keeps room for them.
    words = panel.secondary_yaxis("right")
    words.set_yticks(range(len(findings)), [_words(one) for one in findings])
    words.tick_params(axis="y", length=0, labelsize=7.5)
    words.spines["right"].set_visible(False)
    for label, one in zip(words.get_yticklabels(), findings, strict=True):
        label.set_color(INK if one.found.valid else GREY)
    layout = panel.figure.get_layout_engine()
    if isinstance(layout, ConstrainedLayoutEngine):
        # Names are some percent wider on paper than where the layout measures them.
        layout.set(w_pad=0.14)
    present = {one.found.quantity for one in findings}
    handles: list[Artist] = [
        Line2D([], [], color=COLOUR[quantity], marker="o", markersize=5, linewidth=2.4,
               label=KIND[quantity])
        for quantity in QUANTITIES
        if quantity in present
    ]  # fmt: skip
    if any(one.reported for one in findings):
        handles.append(
            Line2D([], [], color=INK, marker="|", markersize=10, markeredgewidth=1.4,
                   linestyle="none", label="reported")
        )  # fmt: skip
    if any(not one.found.valid for one in findings):
        handles.append(hollow_key())
    legend_above(panel, handles)


def caption(findings: Sequence[Finding]) -> str:
    """How a property is found, and how sure it is."""
    known = [one.confidence for one in findings if one.confidence is not None]
    least = (
        f" Every change is there with a confidence of {min(known):.4g} or more." if known else ""
    )
    seen = (
        " An L2 of two halves is larger than what one SM finds in it."
        if any(one.sought == "l2_size" and one.found.case.split("/")[2:3] == ["cuda"]
               for one in findings)
        else ""
    )  # fmt: skip
    return (
        "Sizes: the largest footprint all of whose loads hit. Lines: the longest stride that "
        "touches every line. Brought in by a miss: the distance at which a neighbour's load "
        "misses too. Dots: medians of the repetitions; bars: 95 % interval of the place of the "
        "change (bootstrap), one step of the scan at the least; strokes: what the programming "
        f"guide, the driver or the operating system says.{seen}{least}"
        + invalid_note(one.name for one in findings if not one.found.valid)
    )


def cells(one: Finding) -> tuple[object, ...]:
    """One line of the data file."""
    said = one.reported
    return (
        one.sought, one.carveout, one.found.quantity, one.found.value, one.low, one.high,
        one.confidence if one.confidence is not None else "", said.value if said else "",
        said.method if said else "", one.found.valid, one.found.case,
    )  # fmt: skip


FIGURE = Figure(
    name="cache_geometry",
    title="Sizes, lines and sectors of the caches",
    order=7,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "property", "carveout_kib", "quantity", "bytes", "interval_low_bytes",
        "interval_high_bytes", "confidence", "reported_bytes", "reported_by", "valid", "case",
    ),
    cells=cells,
    source=lambda one: one.found,
)  # fmt: skip
