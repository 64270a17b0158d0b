"""How long does a dependent load take as its data grow from the first cache to all of memory?

Every level of the hierarchy is a step; the plateaus of the curve with most of them are labelled.
"""

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from strata.figures import _chase as chase
from strata.figures._plot import figure, prose
from strata.figures._style import GREY, QUIET, bytes_axis, in_column, parts, plain_log, points
from strata.model import atlas, ordered, plateaus
from strata.model.l2 import L2, l2
from strata.model.units import SPACE, count, quantity, short, size, unit_name
from strata.run import Run, beside

NAME = "latency_vs_footprint"
LOOKS = {
    "global_ca": ("global, cached in L1", "#0072B2", 3.6),
    "global_cg": ("global, past L1", "#D55E00", 2.3),
    "global_nc": ("global, read-only", "#56B4E9", 1.0),
    "shared": ("shared", "#009E73", 1.2),
    "constant": ("constant", "#E69F00", 1.2),
    "texture": ("texture", "#CC79A7", 1.2),
    "mapped": ("host memory, mapped", "#666666", 1.2),
    "memory": ("memory", "#0072B2", 1.2),
}
"""Name, colour and width: curves on top of each other all stay visible."""
EVICTED = "evicted before"
NEAR, ROOM, BROAD = 1.1, 1.5, 2**3.5
"""A curve within `NEAR` is on the plateau too; its label is above it if no curve is within `ROOM`,
and centred if its end is beyond `BROAD` times its beginning."""


def data(run: Run) -> pd.DataFrame:
    """The points of every space, at the most common stride; `attrs` has the marks of the axis."""
    rows = chase.rows(run, NAME, "space")
    loads = chase.lines(rows)
    loads = loads[loads.stride.isin(loads.stride.mode()[:1])].reset_index(drop=True)
    loads = loads.assign(plateau=float("nan"), _seconds=float("nan"), _half=False)
    cache = l2(run)
    for space, curve in parts(walked(loads), "curve"):
        known = {one.row.key: (level, one) for level, one in atlas.latencies(run, space).items()}
        for span in plateaus.find([*curve.footprint.map(float)], [*curve.value]):
            on = curve[span.start : span.stop + 1]
            latency, seconds = span.level, on.load_seconds.median()
            # A level of the hierarchy has the same latency here and everywhere else in the report.
            for level, of_level in (known[row.key] for row in on["_row"] if row.key in known):
                latency = of_level.shown.value
                seconds = of_level.time.value if of_level.time else seconds
                if level == "l2" and cache and cache.one:
                    on = on[on.footprint <= (cache.one.last.count("footprint") or 0)]
            loads.loc[on.index, ["plateau", "_seconds"]] = latency, seconds
    _mark_half_dram(loads, cache)
    data = chase.shown(loads, "load_seconds", "plateau")
    data.attrs["marks"] = _marks(loads, rows)
    return data


def _mark_half_dram(loads: pd.DataFrame, cache: L2 | None) -> None:
    """The points of which half is DRAM: a plateau that counters prove, however short it is."""
    if not cache or not cache.beyond:
        return
    curve = walked(loads)
    first, last = (row.count("footprint") or 0 for row in (cache.beyond.first, cache.beyond.last))
    here = curve[curve.curve.str.startswith("global_") & curve.footprint.between(first, last)]
    on = loads.plateau.isin(here.plateau.dropna()) | loads.index.isin(here.index)
    latency = cache.beyond.row.value
    loads.loc[on, ["plateau", "_seconds"]] = latency, here.load_seconds.median()
    loads["_half"] = on


def walked(loads: pd.DataFrame) -> pd.DataFrame:
    """The valid points of each space walked by one core, one of each footprint."""
    found = loads[loads.valid & (loads.cores == "one") & (loads.value > 0)]
    return found.drop_duplicates(["curve", "footprint"], keep="last")


def _marks(loads: pd.DataFrame, rows: pd.DataFrame) -> dict[str, float]:
    """The footprints to mark, of those drawn: the reported size of L2, the start of eviction."""
    over = beside(loads, rows, "footprint_over_l2")
    found = {"L2": float(np.rint((loads.footprint / over).median()))}
    walked_before = beside(loads, rows, "walked_before")
    last = loads.footprint[walked_before > 0].max()
    first = loads.footprint[walked_before <= 0].min()
    if last < first:
        found[EVICTED] = sqrt(last * first)
    return {
        name: at for name, at in found.items() if loads.footprint.min() < at < loads.footprint.max()
    }


def steps(data: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The plateaus of each curve that has any: ends in bytes, `level`, `words`, and `where`."""
    points = walked(data.rename(columns={"footprint_bytes": "footprint", "load_cycles": "value"}))
    found = {}
    for name in ordered(points.curve, tuple(LOOKS)):
        curve = points[points.curve == name]
        runs = (curve.plateau != curve.plateau.shift()).cumsum()
        known = [part for _, part in curve.groupby(runs) if part.plateau.notna().all()]
        if known:
            found[name] = pd.DataFrame([_step(part, curve) for part in known])
    return found


def _step(on: pd.DataFrame, curve: pd.DataFrame) -> dict[str, Any]:
    first, last = on.footprint.iloc[[0, -1]]
    level, seconds, half = on[["plateau", "_seconds", "_half"]].iloc[0]
    cycles = short(level) if level >= 99.95 else count(level)
    time = f" ({quantity(seconds, 's')})" if pd.notna(seconds) else ""
    words = f"{cycles}{SPACE}{unit_name(on.unit.iloc[0])}{time}" + ", half DRAM" * bool(half)
    where = "throughout" if first == curve.footprint.iloc[0] else f"from {size(first)} on"
    where = where if last == curve.footprint.iloc[-1] else f"to {size(last)}"
    return {"first": first, "last": last, "level": level, "words": words, "where": where}


def labelled(found: dict[str, pd.DataFrame]) -> str:
    """The space with most plateaus; the levels of textures, in the same caches, are not counted."""
    return max(found, key=lambda space: (space != "texture", len(found[space])), default="")


def caption(data: pd.DataFrame) -> str:
    several = ", or nearest to farthest SM where every SM loads, each with one load in flight"
    each = "; ".join(
        f"{LOOKS.get(space, (space,))[0]} {', '.join(here.words + ' ' + here['where'])}"
        for space, here in steps(data).items()
    )
    return prose(
        "Time of one dependent load, in random order over slots of "
        f"{size(data.stride_bytes.iloc[0])}, "
        "against the footprint of the chain. Lines: medians; bands: range of the samples"
        f"{several if (data.cores == 'several').any() else ''}.",
        each and f"Plateaus: {each}.",
        EVICTED in data.attrs["marks"]
        and "A chase starts with what two laps left in the caches; right of the mark (several "
        "times the L2) everything was evicted instead, and every page visited.",
    )


@figure(NAME, "Latency of every level of the hierarchy", 5, data, caption, size=(7, 4.2))
def draw(data: pd.DataFrame, ax: Axes) -> None:
    data, narrow = data[data.load_cycles > 0], in_column(ax)
    alone = {*data.curve[data.cores == "one"]}
    for space in ordered(data.curve, tuple(LOOKS)):
        name, colour, width = LOOKS.get(space, (space, "k", 1.2))
        for several, here in data[data.curve == space].groupby(data.cores != "one"):
            look = {"color": colour, "lw": width, "ms": 1.6, "ls": "--" if several else "-"}
            look["label"] = "" if several and space in alone else name
            points(ax, here, "footprint_bytes", "load_cycles", "band", marker="o", **look)
    if (data.cores != "one").any():
        ax.plot([], [], "k--", label="every SM at once")
    bytes_axis(ax, "footprint of the chain")
    plain_log(ax)
    ax.set_ylabel(f"{unit_name(data.unit.iloc[0])} per load")
    ax.margins(y=0.1)
    for name, at in data.attrs["marks"].items():
        ax.axvline(at, color=GREY, ls=":", lw=0.8)
        words = f"{name} " if name == EVICTED else f"{name} ({size(at)}) "
        along = ax.get_xaxis_transform()
        ax.text(at, 0.02, words, color=QUIET, rotation=90, ha="right", transform=along)
    found = steps(data)
    curve = labelled(found)
    for first, last, level, words, _ in found[curve].itertuples(index=False) if curve else ():
        near = data.load_cycles[data.footprint_bytes.between(first, last)] / level
        short_step = last < BROAD * first
        if short_step and narrow:
            continue
        over = not short_step and not near[near > NEAR].min() < ROOM
        ax.annotate(
            words.partition(" (")[0] if narrow else words.replace(" (", "\n("),
            (first if short_step else sqrt(first * last), level),
            (6 if short_step else 0, 5 if over else -5), textcoords="offset points", weight="bold",
            ha="left" if short_step else "center", va="bottom" if over else "top",
            color=LOOKS.get(curve, ("", "k"))[1],
            bbox={"fc": "white", "lw": 0, "alpha": 0.7, "pad": 0.5},
        )  # fmt: skip
