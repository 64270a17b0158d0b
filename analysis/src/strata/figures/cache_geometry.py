"""How large is each cache, how long are its lines, and do other sources agree?"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import bytes_axis, marks, points
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
    "size": ("size", "#0072B2"),
    "line": ("line", "#009E73"),
    "sector": ("brought in by a miss", "#D55E00"),
}
REPORTERS = {"cuda_programming_guide": "guide", "operating_system": "system"}
"""Methods of what is reported; the others are calls of the driver."""


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


def ends(one: CaseRows) -> tuple[float, float]:
    """The interval of the change, or the range of the repetitions."""
    row, low, high = found(one), one.row("interval_low"), one.row("interval_high")
    return (low.value, high.value) if low and high else (row.minimum, row.maximum)


COLUMNS = (
    params("property")
    | {"carveout_kib": lambda one: one.count("carveout")}
    | attributes("quantity", of=found, bytes="value")
    | {"interval_low_bytes": lambda one: one.row("interval_low")}
    | {"interval_high_bytes": lambda one: one.row("interval_high")}
    | {"confidence": lambda one: one.row("confidence")}
    | attributes(of=lambda one: one.row("reported"), reported_bytes="value", reported_by="method")
    | {"_reported": lambda one: one.row("reported")}
    | {"_name": name, "_words": words, "_ends": ends}
    | {"_host": lambda one: found(one).backend == "host"}
)


def data(run: Run) -> pd.DataFrame:
    """The cases that found something."""
    cases = by_case(row for row in run.of("cache_geometry") if row.text("property") in PROPERTIES)
    known = [one for one in cases if any(one.row(kind, provenance="timed") for kind in LOOKS)]
    order = list(PROPERTIES).index
    known.sort(key=lambda one: (order(one.text("property")), one.count("carveout")))
    return table(known, COLUMNS, row=found, label=name)


def caption(data: pd.DataFrame) -> str:
    """What was found, and the least confidence."""
    known, halves = data.confidence.dropna(), (data.property == "l2_size") & ~data["_host"]
    return prose(
        "Sizes: the largest footprint whose loads all hit. Lines: the longest stride that "
        "touches every line. Brought in by a miss: the distance at which a neighbour's load "
        "misses too. Dots: medians of the repetitions; bars: 95 % interval of the position of "
        "the change (bootstrap), at least one step of the scan; strokes: values from the "
        "programming guide, the driver or the operating system.",
        halves.any() and "An L2 of two halves is larger than what one SM finds in it.",
        bool(len(known)) and f"Every change has a confidence of at least {min(known):.4g}.",
    )


@figure(
    "cache_geometry", "Sizes, lines and sectors of the caches", order=7, data=data, caption=caption
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Sizes above, lines and fetches below, each on an axis of its own."""
    small = data.quantity != "size"
    parts = [part.reset_index(drop=True) for _, part in data.groupby(small)]
    figure.set_figheight(1.0 + 0.3 * len(parts) + 0.22 * len(data))
    heights = [len(part) + 1 for part in parts]
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, part in zip(panels, parts, strict=True):
        for quantity, (label, colour) in LOOKS.items():
            here = part[part.quantity == quantity]
            if len(here):
                shown = marks(here["_row"], here.index)
                points(ax, shown, "value", "at", ls="", marker="o", c=colour, label=label)
                low, high = zip(*here["_ends"], strict=True)
                ax.hlines(here.index, low, high, color=colour, lw=1.2)
        rows = part["_reported"].dropna()
        if len(rows):
            shown = marks(rows, rows.index).assign(valid=True)
            points(ax, shown, "value", "at", ls="", marker="|", ms=11, c="k", label="reported")
        sizes = part[["bytes", "reported_bytes", "interval_high_bytes"]].astype(float)
        right, least, most = sizes.max(axis=1), sizes.min().min(), sizes.max().max()
        for at, (x, text) in enumerate(zip(right, part["_words"], strict=True)):
            ax.annotate(text, (x, at), (8, 0), textcoords="offset points", va="center")
        bytes_axis(ax, "")
        ax.set_xlim(least / 1.5, 1.5 * most * (most / least) ** 0.6)  # with room for words
        ax.set_yticks(range(len(part)), [*part["_name"]])
        ax.set_ylim(len(part) - 0.4, -0.6)
        ax.grid(axis="x")
    panels[-1].set_xlabel("bytes")
