"""What are the peak rates of arithmetic and of each memory level, and what should they be?

For memory, the ceilings of van den Braak, Mesman and Corporaal (2010, Fig. 3).
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, in_order, prose, rows_of, worded
from strata.figures._style import (
    GREY,
    hover,
    listed,
    marks,
    note,
    parts,
    plain_log,
    points,
    stacked,
)
from strata.model import atlas, level_name, units
from strata.reference import cite
from strata.run import Run, beside, tidy

ARITHMETIC = {
    "fp32": "fp32",
    "fp64": "fp64",
    "fp16x2": "fp16, packed",
    "bf16x2": "bf16, packed",
    "int32": "int32",
    "int8_dp4a": "int8, dp4a",
}
LEVELS = ("dram", "l2", "l1")
WORD = 4
"""Bytes; a wider access is a group of words."""
KINDS = {
    (True, True): "grouped and coalesced",
    (False, True): "ungrouped",
    (True, False): "uncoalesced",
    (False, False): "uncoalesced and ungrouped",
}
"""By whether words are grouped and lanes coalesced, from the highest ceiling to the lowest."""
BEST = KINDS[True, True]
TERA = 1e12
OTHERS = "other forms and numbers of warps"
CUT = ", cut at the limit, which single samples exceed by their timing error"
LAUNCH = "{width} B, {in_flight} in flight, {blocks_per_sm} × {block_size} threads"


def arithmetic(run: Run) -> pd.DataFrame:
    """The best valid row of each kind, over all forms; an invalid one if none is valid."""
    rows = rows_of(run, "ceilings", arithmetic="", form="")
    rates = rows[rows.quantity.isin(atlas.RATES)]
    timed = rates[(rates.provenance == "timed") & rates.arithmetic.isin(ARITHMETIC)]
    ranked = timed.sort_values(["valid", "value"], kind="stable")
    best = ranked.drop_duplicates("arithmetic", keep="last")
    best = in_order(best, "arithmetic", arithmetic=ARITHMETIC)
    others = timed[timed.valid & ~timed["_row"].isin(best["_row"])]
    modelled = rates[(rates.provenance == "modelled") & (rates.value > 0)]
    limit = modelled.set_index("case").value.reindex(best.case).set_axis(best.index)
    shown = [[*others["_row"][others.arithmetic == kind]] for kind in best.arithmetic]
    best = best.assign(
        limit=limit,
        share=best.value / limit,
        _others=pd.Series(shown, best.index, dtype=object),
        _label=[case.partition("/")[2] for case in best.case],
    )
    return columns(
        best, "arithmetic", "unit", measured="value", limit="limit", low="minimum", high="maximum",
        form="form", share_of_limit="share",
    )  # fmt: skip


def bandwidth(run: Run) -> pd.DataFrame:
    """The best valid row of each kind of reading; an invalid one if none is valid.

    Of the strides only the widest is certainly uncoalesced: lanes of narrower ones may share a
    sector or a line. The highest ceiling of a level is that of `atlas.bandwidths`, as everywhere.
    """
    axes = {"level": "", "operation": "", "pattern": "", "width": WORD, "stride": 1}
    found = [rows_of(run, name, **axes) for name in ("bandwidth", "stride_gather")]
    rows = pd.concat(found, ignore_index=True)
    rows = rows[(rows.backend == "cuda") & rows.level.isin(LEVELS)]
    rates = rows[rows.quantity == "bandwidth"].drop_duplicates("case")
    limits = rates.value / beside(rates, rows, "share_of_limit").where(lambda share: share > 0)
    read = rows[rows.quantity.isin(["useful_bandwidth", "bandwidth"])]
    read = read.sort_values("quantity", ascending=False, kind="stable").drop_duplicates("case")
    read = read[(read.operation == "read") | (read.pattern == "strided")]
    kinds = zip(read.width > WORD, read.stride == 1, strict=True)
    read = read.assign(kind=[KINDS[bool(grouped), bool(near)] for grouped, near in kinds])
    read = read.sort_values(["stride", "valid", "value"], kind="stable")
    read["form"] = [
        LAUNCH.format(**row.params)
        if row.benchmark == "bandwidth"
        else f"{row.text('width')} B, stride of {units.count(row.count('stride') or 1)}"
        for row in read["_row"]
    ]
    peaks = {level: best.row for level, best in atlas.bandwidths(run, "read").items()}
    other_kinds = {*read.case[read.kind != BEST]}
    known = [
        level for level in peaks
        if level in {*read.level[read.kind == BEST]} and peaks[level].case not in other_kinds
    ]  # fmt: skip
    top = tidy(peaks[level] for level in known).assign(level=known, kind=BEST)
    forms = dict(zip(read.case, read.form, strict=True))
    top["form"] = [forms.get(row.case, f"by {row.benchmark}") for row in top["_row"]]
    best = pd.concat([read, top]).drop_duplicates(["level", "kind"], keep="last")
    best = in_order(best, "level", "kind", level=LEVELS, kind=KINDS.values())
    whole = best[(best.kind == BEST) & best.valid].set_index("level").value
    best = best.assign(
        limit=best.level.map(limits.groupby(rates.level).median()),
        share=(best.value / best.level.map(whole)).where(best.valid),
        name=best.level.map(level_name),
    )
    best["_label"] = worded(best, "{name}, {kind} ({form})")
    return columns(
        best, "level", "form", ceiling="kind", benchmark="benchmark", width_bytes="width",
        bytes_per_second="value", limit_bytes_per_second="limit", low="minimum", high="maximum",
        share_of_grouped_and_coalesced="share",
    )  # fmt: skip


def arithmetic_caption(data: pd.DataFrame) -> str:
    if data["_row"][0].backend == "host":
        return (
            "Fused multiply-adds in registers, with the CPU's widest vectors, every core at "
            "work. Marks: medians; lines: range of the samples."
        )
    silent = ", ".join(data.arithmetic[data.limit.isna()].map(ARITHMETIC.get))
    return prose(
        "Multiply-adds in registers, every SM at work, without tensor cores; in brackets the "
        f"share of the limit. Marks: medians; lines: range of the samples{CUT}. Strokes: results "
        "per cycle of the CUDA C++ Best Practices Guide (Throughput of Native Arithmetic "
        "Instructions) × SMs × the clock under this load.",
        silent and f"No limit is published for {silent}.",
    )


def bandwidth_caption(data: pd.DataFrame) -> str:
    dram = data.limit_bytes_per_second[data.level == "dram"].dropna()
    return prose(
        "Read ceilings, after the roofline of van den Braak, Mesman and Corporaal (2010, Fig. "
        f"3) {cite('vandenbraak2010access')}: accesses of 8 or 16 bytes (words of 4 bytes in "
        "groups) or of 4 (ungrouped), by adjacent lanes (coalesced) or at the largest measured "
        "distance (uncoalesced). Marks: the best launch or pattern of each kind; lines: range of "
        f"the samples{CUT}; per cent: of the highest ceiling of the level.",
        len(dram)
        and "Strokes: bus width times clock for device memory ("
        f"{units.quantity(dram.iloc[0], 'B/s')}), bytes per cycle times the measured clock for L1.",
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    of_memory = "level" in data
    names = {
        "ceiling": "name", "bytes_per_second": "value", "limit_bytes_per_second": "limit",
        "share_of_grouped_and_coalesced": "share", "arithmetic": "name", "measured": "value",
        "share_of_limit": "share",
    }  # fmt: skip
    data = data.rename(columns=names).assign(unit=[row.unit for row in data["_row"]])
    most = data.high.clip(upper=data.limit.fillna(np.inf)).clip(lower=data.value)
    data = data.assign(high=most / TERA, low=data.low / TERA, at=data.value / TERA)
    data = data if of_memory else data.assign(level="")
    found = [(level, part.reset_index(drop=True)) for level, part in parts(data, "level")]
    panels = stacked(figure, [len(part) for _, part in found], 0.36)
    right = 1.2 * data[["at", "high"]].max().max()
    for ax, (level, part) in zip(panels, found, strict=True):
        if of_memory:
            plain_log(ax, "x", (1,))
            ax.set(title=level_name(level), xlim=(data["at"].min() / 2, 2 * right))
        else:
            ax.set_xlim(0, max(right, 1.1 * data.limit.max() / TERA))
        _draw_part(ax, part)
        listed(ax, [ARITHMETIC.get(name, name).replace(" and ", "\nand ") for name in part.name])
        ax.set_ylim(len(part) - 0.5, -0.8)
    words = "useful bandwidth (TB/s)" if of_memory else "operations (10¹²/s; a multiply-add is two)"
    panels[-1].set_xlabel(words)


def _draw_part(ax: Axes, part: pd.DataFrame) -> None:
    part["line"] = part.index
    look = {"c": "#0072B2", "marker": "o", "ms": 5, "ls": "", "label": "best measured"}
    points(ax, part, "at", "line", "x", **look)
    for line in part.to_dict("records"):
        if others := line.get("_others"):
            shown = marks(pd.Series(others), [line["line"] + 0.25] * len(others), TERA)
            points(ax, shown, "value", "at", c=GREY, marker=".", ls="", label=OTHERS)
        share = line["share"]
        words = units.quantity(line["value"], line["unit"])
        words += "" if pd.isna(share) or share == 1 else f" ({100 * share:.3g}{units.SPACE}%)"
        # Words begin or end at the mark near an edge, so that they stay inside.
        place = (ax.transData + ax.transAxes.inverted()).transform((line["at"], 0))[0]
        side = "left" if place < 1 / 3 else "right" if place > 2 / 3 else "center"
        note(ax, words, line["at"], line["line"], (0, 5), ha=side)
        if pd.notna(line["limit"]):
            (stroke,) = ax.plot(line["limit"] / TERA, line["line"], "k|", ms=10, label="limit")
            hover(stroke, [f"limit: {units.quantity(line['limit'], line['unit'])}"])


for name, title, order, data, caption in (
    ("ceilings", "Ceilings of arithmetic", 71, arithmetic, arithmetic_caption),
    ("bandwidth_ceilings", "Ceilings of bandwidth", 20, bandwidth, bandwidth_caption),
):
    figure(name, title, order=order, data=data, caption=caption)(draw)
