"""How large is each cache, how long are its lines, and do other sources agree?"""

import pandas as pd
from matplotlib.figure import Figure

from strata.figures import _style
from strata.figures._plot import columns, figure, in_order, prose, rows_of
from strata.figures._style import in_column, listed, marks, note, points, series, stacked
from strata.model.units import SPACE, size
from strata.run import Run, beside

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
    "size": ("size", "#0072B2", "o"),
    "line": ("line", "#009E73", "o"),
    "sector": ("brought in by a miss", "#D55E00", "o"),
}
REPORTERS = {"cuda_programming_guide": "guide", "operating_system": "system"}
"""Methods of what is reported; the others are calls of the driver."""


def data(run: Run) -> pd.DataFrame:
    rows = rows_of(run, "cache_geometry", property="", carveout=0)
    rows = rows[rows.property.isin(PROPERTIES)]
    found = rows[rows.quantity.isin(LOOKS) & (rows.provenance == "timed")].drop_duplicates("case")
    lines = in_order(found, "property", "carveout", property=PROPERTIES)
    low, high = (beside(lines, rows, name) for name in ("interval_low", "interval_high"))
    both = low.notna() & high.notna()
    carveouts = lines.carveout.map(lambda kib: f", {kib}{SPACE}KiB shared" if kib else "")
    lines = lines.assign(
        interval_low_bytes=low,
        interval_high_bytes=high,
        confidence=beside(lines, rows, "confidence"),
        reported_bytes=beside(lines, rows, "reported"),
        reported_by=beside(lines, rows, "reported", "method"),
        _reported=beside(lines, rows, "reported", "_row"),
        _low=low.where(both, lines.minimum),
        _high=high.where(both, lines.maximum),
        _label=[*map("".join, zip(lines.property.map(PROPERTIES), carveouts, strict=True))],
    )
    return columns(
        lines.rename(columns={"value": "bytes", "carveout": "carveout_kib"}), "property",
        "carveout_kib", "quantity", "bytes", "interval_low_bytes", "interval_high_bytes",
        "confidence", "reported_bytes", "reported_by",
    )  # fmt: skip


def exact(value: float) -> str:
    """A size with the precision of a line: 230.62 KiB, 128 B."""
    scale, unit = (2**20, "MiB") if value >= 2**20 else (2**10, "KiB")
    words = f"{value / scale:.2f}".rstrip("0").rstrip(".") + f"{SPACE}{unit}"
    return words if value >= 1024 else size(round(value))


def caption(data: pd.DataFrame) -> str:
    known = data.confidence.dropna()
    on_gpu = data["_row"][0].backend == "cuda"
    return prose(
        "Sizes: the largest footprint whose loads all hit. Lines: the longest stride that "
        "touches every line. Brought in by a miss: the distance at which a neighbour's load "
        "misses too. Dots: medians of the repetitions; bars: 95 % interval of the position of "
        "the change (bootstrap), at least one step of the scan; strokes: values from the "
        "programming guide, the driver or the operating system.",
        on_gpu and "l2_size" in {*data.property}
        and "An L2 of two halves is larger than what one SM finds in it.",
        bool(len(known)) and f"Every change has a confidence of at least {min(known):.4g}.",
    )  # fmt: skip


@figure("cache_geometry", "Sizes, lines and sectors of the caches", 7, data, caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    data = data.rename(columns={"_low": "low", "_high": "high"})
    narrow = in_column(figure)
    sections = [part.reset_index(drop=True) for _, part in data.groupby(data.quantity != "size")]
    for ax, part in zip(stacked(figure, map(len, sections), 0.24), sections, strict=True):
        part["at"] = part.index
        series(ax, part, "quantity", LOOKS, "bytes", "at", "x", ls="")
        rows = part["_reported"].dropna()
        shown = marks(rows, rows.index).assign(valid=True)
        points(ax, shown, "value", "at", ls="", marker="|", ms=11, c="k", label="reported")
        sizes = part[["bytes", "reported_bytes"]].assign(high=part.high.where(part.valid))
        for line in part.assign(right=sizes.max(axis=1)).to_dict("records"):
            words = exact(line["bytes"])
            if pd.notna(line["reported_bytes"]) and not narrow:
                reporter = REPORTERS.get(line["reported_by"], "driver")
                words += f"  ({reporter}: {exact(line['reported_bytes'])})"
            note(ax, words, line["right"], line["at"], (8, 0))
        _style.bytes_axis(ax, "bytes")
        if narrow:  # beside the names there is room for few
            ax.xaxis.get_major_locator().set_params(numticks=3)  # type: ignore[call-arg]
        least, most = sizes.min().min(), sizes.max().max()
        ax.set_xlim(least / 1.5, 1.5 * most * (most / least) ** 0.6)  # with room for words
        listed(ax, part["_label"])
