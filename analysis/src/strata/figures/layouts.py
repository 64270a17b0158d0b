"""What does a warp-read cost in each memory layout: time, bandwidth, traffic, and at which level?

Useful bytes are those of the requested fields (28 or 16 per particle), not the moved ones.
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby, product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures import _style
from strata.figures._plot import columns, figure, of_items, prose
from strata.figures._style import GREY, NOTE, hover, mark_rows, pale, parts, points, series, si_axis
from strata.model import FIELDS, LEVELS, Bar, Point, curves, fields_name, latency_bars, level_name
from strata.model.counted import GENERATIONS, level_shares, moved
from strata.model.layouts import COUNTED
from strata.model.names import ordered
from strata.model.units import short, unit_name
from strata.run import Run

LAYOUTS = {
    "aos": ("#D55E00", "o"), "soa": ("#0072B2", "s"), "aoas": ("#E69F00", "^"),
    "soaoas": ("#009E73", "D"), "aosoa32": ("#CC79A7", "v"),
}  # fmt: skip


def _place(item: Bar | Point) -> str:
    return f"{level_name(item.level)} {item.layout}, {fields_name(item.fields)}"


def by_layout(
    figure: Figure, data: pd.DataFrame, rows: str, line: float = 0.17
) -> Iterator[tuple[Axes, str, pd.DataFrame]]:
    """A panel for each value of the column `rows` and set of fields, with a line per layout.

    Yields the panel, the value and its data, whose column `at` is the line.
    """
    layouts, fields = ordered(data.layout, tuple(LAYOUTS)), ordered(data.fields, FIELDS)
    values = [*data[rows].unique()]
    figure.set_figheight(0.8 + (0.35 + line * len(layouts)) * len(values))
    panels = figure.subplots(len(values), len(fields), squeeze=False, sharex="row", sharey=True)
    data = data.assign(at=data.layout.map(layouts.index))
    for ax, (value, field) in zip(panels.flat, product(values, fields), strict=True):
        ax.set(yticks=range(len(layouts)), yticklabels=layouts, ylim=(len(layouts) - 0.4, -0.6))
        ax.grid(visible=False, axis="y")
        ax.grid(axis="x")
        ax.set_ylabel(level_name(value), weight="bold")
        yield ax, value, data[(data[rows] == value) & (data.fields == field)]
        ax.label_outer(remove_inner_ticks=False)
        ax.tick_params(labelbottom=True)
    for ax, field in zip(panels[0], fields, strict=True):
        ax.set_title(fields_name(field).replace(" and ", "\nand "))


def _bars(ax: Axes, data: pd.DataFrame, value: str, low: str, high: str) -> None:
    colours = [LAYOUTS.get(name, (GREY,))[0] for name in data.layout]
    mark_rows(ax.barh(data["at"], data[value], 0.7, color=colours), data)
    ends = data[[value, high]].max(axis=1)
    ax.hlines(data["at"], data[low].fillna(data[value]), ends, color="k", lw=0.9)
    _style.beside_marks(ax, data[value].map(short), ends, data["at"])
    ax.set_xlim(0, max(ax.get_xlim()[1], 1.2 * ends.max()))


# --- one warp at a time ---------------------------------------------------------------------------


def data_alone(run: Run) -> pd.DataFrame:
    return columns(
        of_items(latency_bars(run.of("layout_read")), _place, "cycles"),
        "fields", "layout", "unit", level="residency", median="value", p5="_item.p5.value",
        p95="_item.p95.value", arithmetic="_item.arithmetic.value", _inner="_item.arithmetic",
    )  # fmt: skip


def _caption_alone(data: pd.DataFrame) -> str:
    row = data["_row"][0]
    core = "core" if row.backend == "host" else "SM"
    where = {"one": f" on one {core}", "all": f" on every {core}"}.get(row.text("cores"), "")
    return (
        "Time of one warp-read (32 particles, one per lane) by memory layout, one warp at a time"
        f"{where}. Bars: median over warps; whiskers: 5th to 95th percentile; hatched: the part "
        "for sums and address arithmetic, not loads."
    )


@figure("layout_latency", "Latency of a warp-read by memory layout", 10, data_alone, _caption_alone)
def draw_alone(data: pd.DataFrame, figure: Figure) -> None:
    for ax, _, here in by_layout(figure, data, "level"):
        _bars(ax, here, "median", "p5", "p95")
        inner = here[here.valid & here.arithmetic.notna()]
        part = inner[["arithmetic", "median"]].min(axis=1)
        look: dict[str, Any] = {"fc": "none", "ec": "#333333", "hatch": "/////", "lw": 0}
        hatched = ax.barh(inner["at"], part, 0.7, label="arithmetic", **look)
        for bar, row in zip(hatched, inner["_inner"], strict=True):
            hover(bar, [row])
        ax.set_xlabel(f"{unit_name(data.unit[0])} per warp-read")


# --- more and more warps --------------------------------------------------------------------------


def data(quantity: str, run: Run) -> pd.DataFrame:
    """A line for each layout and number of warps, with the counts of its case."""
    found = curves(run.of("layout_read"), quantity)
    lines = of_items(found, lambda point: f"{_place(point)}, {point.warps} warps")
    for name in COUNTED:
        rows = [point.counted.get(name) for point in found]
        lines[name] = pd.Series([row and row.value for row in rows], dtype=float)
    return columns(
        lines, "fields", "layout", "warps_per_sm", "block_size", "unit", "value", *COUNTED,
        level="residency", low="_item.low", high="_item.high",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    row = data["_row"][0]
    what = "warps on each SM" if row.backend == "cuda" else "chains that each core interleaves"
    return prose(
        "Useful bandwidth (bytes of the requested fields): medians; bands: range of the samples;"
        if row.quantity == "useful_bandwidth"
        else "Time of one warp-read, with several warps their mean by Little's law; bands: 5th to "
        "95th percentile by the warps' clocks;",
        f"against the number of {what}, {row.text('cores')} at work, each at the block size of its "
        "best useful bandwidth.",
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Sets of fields one below the other, levels side by side, one line per layout.

    Bandwidths are linear from zero, so that a plateau looks like one; times are logarithmic and on
    one axis, so that saturation is a slope of one.
    """
    row = data["_row"][0]
    times, narrow = row.quantity != "useful_bandwidth", _style.in_column(figure)
    fields, levels = ordered(data.fields, FIELDS), ordered(data.level, LEVELS)
    figure.set_figheight(0.7 + 2.1 * len(fields))
    share: Any = "all" if times else "col"
    panels = figure.subplots(len(fields), len(levels), squeeze=False, sharey=share)
    label = f"{unit_name(row.unit)} per warp-read" if times else "useful bandwidth (B/s)"
    for (field, level), ax in zip(product(fields, levels), panels.flat, strict=True):
        here = data[(data.fields == field) & (data.level == level)]
        series(ax, here, "layout", LAYOUTS, "warps_per_sm", "value", "band")
        _style.values_axis(ax, data.warps_per_sm, 8 if narrow else 2)
        if not narrow or level == levels[len(levels) // 2]:
            ax.set_xlabel("chains per core" if row.backend == "host" else "warps per SM")
        ax.set_title(level_name(level))
        if level == levels[0]:
            ax.set_ylabel(f"{fields_name(field)}\n{label}", labelpad=6)  # letters of browsers vary
    for column in panels.T:
        if times:
            _style.plain_log(column[0])
        else:
            si_axis(column[0])
            most = data.value[data.level == levels[[*panels[0]].index(column[0])]].max()
            column[0].set_ylim(0, 1.1 * most)


for name, title, order, quantity in (
    ("latency_vs_warps", "Latency under load", 12, "warp_read_cycles"),
    ("bandwidth_vs_warps", "Useful bandwidth", 11, "useful_bandwidth"),
):
    figure(name, title, order=order, data=partial(data, quantity), caption=caption)(draw)


# --- traffic, by the rules of GPU generations and as counted --------------------------------------


def data_moved(run: Run) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "fields": ratio.fields, "generation": ratio.generation, "layout": ratio.layout,
            "provenance": ratio.row.provenance, "method": ratio.row.method, "low": ratio.low,
            "high": ratio.high, "moved_over_used": ratio.ratio, "valid": ratio.row.valid,
            "case": ratio.row.case, "_counted": ratio.counted, "_row": ratio.row,
            "_label": f"{ratio.layout}, {fields_name(ratio.fields)}",
        }
        for ratio in moved(run.rows)
    )  # fmt: skip


def _caption_moved(data: pd.DataFrame) -> str:
    return prose(
        "Bytes moved per byte used by a warp that reads 32 particles, by memory layout. Bars: "
        "by the published rules of each generation (compute capability; those with the same "
        "values together); 1.0-1.1 is that of the 8800 GTX of Siegel et al. 2009 (Figures 10 and "
        "11). Dashed: nothing is moved without being used.",
        "Diamonds: 32 bytes per sector that the loads of layout_read requested from L1, counted "
        "on this device in its L2 cases (median; lines: range over cases)."
        if data["_counted"].any()
        else "No counts are available for comparison.",
    )


def _periods(data: pd.DataFrame) -> dict[str, str]:
    """The name of each generation: that of all adjacent ones with the same values."""
    ruled = data[~data["_counted"]].groupby("generation")["moved_over_used"].apply(tuple)
    names: dict[str, str] = {}
    for _, some in groupby(filter(ruled.__contains__, GENERATIONS), ruled.__getitem__):
        alike = [*some]
        first, last = alike[0].partition("-")[0], alike[-1].rpartition("-")[2]
        name = f"{first}-{last}" if len(alike) > 1 else alike[0]
        name = f"{first} and later" if alike[-1] == GENERATIONS[-1] else name
        names |= dict.fromkeys(alike, name)
    return names


@figure("bytes_moved", "Bytes moved per byte used", 14, data_moved, _caption_moved)
def draw_moved(data: pd.DataFrame, figure: Figure) -> None:
    periods = _periods(data)
    data = data.assign(period=[periods.get(one, one) for one in data.generation])
    for ax, _, here in by_layout(figure, data, "period"):
        ruled, counts = here[~here["_counted"]], here[here["_counted"]]
        _bars(ax, ruled.drop_duplicates("layout"), "moved_over_used", "low", "high")
        look = {"color": "black", "marker": "D", "ls": "", "label": "counted here"}
        points(ax, counts, "moved_over_used", "at", "x", **look if len(counts) else {})
        ax.axvline(1, color=GREY, ls="--", lw=0.7)
        ax.set(xlabel="bytes moved ÷ used", xlim=(0, 1.2 * data.moved_over_used.max()))


# --- proof of the level ---------------------------------------------------------------------------

SHARES = {"l1_hit_share": "hit L1", "l2_hit_share": "hit L2", "dram_share": "from DRAM"}
INVALID = {"color": "#b03a00", "style": "italic"}


def data_proof(run: Run) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "level": share.level, "fields": share.fields, "layout": share.layout,
            "counted": share.counted.value,
            "predicted": share.predicted.value if share.predicted else None,
            "share": share.name, "valid": share.counted.valid, "case": share.counted.case,
            "_row": share.counted,
            "_label": f"{level_name(share.level)} {share.layout}, {fields_name(share.fields)}, "
                      f"{share.counted.text('warps_per_sm')} warps, {SHARES[share.name]}",
        }
        for share in level_shares(run.of("layout_read"))
    )  # fmt: skip


def _percent(values: "pd.Series[float]") -> str:
    """The smallest and the largest share; one number if they agree."""
    return "–".join(dict.fromkeys(f"{round(100 * end)}" for end in (values.min(), values.max())))


@figure(
    "level_proof", "Proof of the level", order=45, data=data_proof,
    caption="Where the reads of layout_read were served, as counted, in percent: the range over "
    "the cases of a level, set of fields and layout. Hit L1: share of the sectors requested from "
    "L1; hit L2: share of those that missed L1; from DRAM: bytes read from memory over bytes that "
    "missed L1. In brackets: L1 hits that the level and the layout predict, because a layout that "
    "touches a sector twice hits L1 by itself. Orange: some cases are invalid.",
)  # fmt: skip
def draw_proof(data: pd.DataFrame, figure: Figure) -> None:
    for ax, _, here in by_layout(figure, data, "level", line=0.29):
        for (at, share), cases in parts(here, ["at", "share"]):
            x, words = list(SHARES).index(share), _percent(cases.counted)
            bad = (~cases.valid).sum()
            shown = f"{SHARES[share]}: {words} % in {len(cases)} cases"
            if cases.predicted.notna().any():
                words += f"\n({_percent(cases.predicted)})"
            shade = pale("#0072B2", 0.3 * min(max(cases.counted.median(), 0), 1))
            (cell,) = ax.barh(at, 1, 0.94, x - 0.5, color=shade, gid="shade")
            hover(cell, [shown + (f", {bad} of them invalid" if bad else "")])
            look: dict[str, Any] = INVALID if bad else {}
            ax.text(x, at, words, ha="center", va="center", size=NOTE, linespacing=1, **look)
        ax.set(xlim=(-0.5, 2.5), xlabel="share (%)")
        ax.set_xticks(range(3), [name.replace(" ", "\n") for name in SHARES.values()])
