"""What are the peak rates of arithmetic and of each memory level, and what should they be?

For memory, the ceilings of van den Braak, Mesman and Corporaal (2010, Fig. 3).
"""

from collections.abc import Sequence
from itertools import product
from statistics import median
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, hover, marks, plain_log, points
from strata.model import level_name, units
from strata.model.cases import by_case
from strata.reference import cite
from strata.run import Row, Run, grouped

RATES = ("flops_per_second", "operations_per_second")
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
TERA = 1e12
OTHERS = "other forms and numbers of warps"
CUT = ", cut at the limit, which single samples exceed by their timing error"


class Ceiling(NamedTuple):
    """The best rate of one kind of arithmetic, or of access to a level.

    `limit` is the rate that it cannot exceed, None if unknown. `share` is the ratio to that, or to
    grouped and coalesced accesses to the level, None if either is invalid. `others` are other
    forms.
    """

    level: str
    kind: str
    row: Row
    limit: float | None
    share: float | None
    others: tuple[Row, ...] = ()

    @property
    def form(self) -> str:
        """The form of the operands, or the best launch or pattern."""
        if not self.level:
            return self.row.text("form", "")
        if self.row.benchmark == "bandwidth":
            form = "{width} B, {in_flight} in flight, {blocks_per_sm} × {block_size} threads"
            return form.format(**self.row.params)
        return f"{self.row.text('width')} B, stride of {units.count(_stride(self.row))}"

    @property
    def words(self) -> str:
        """The rate and its share."""
        share = "" if self.share in (None, 1) else f" ({100 * self.share:.3g}{units.SPACE}%)"
        return units.quantity(self.row.value, self.row.unit) + share

    @property
    def high(self) -> float:
        """The largest sample, cut at the limit."""
        return max(min(self.row.maximum, self.limit or self.row.maximum), self.row.value)


def _stride(row: Row) -> int:
    return row.count("stride") or 1


def _rank(row: Row) -> tuple[float, ...]:
    return _stride(row), row.valid, row.value


def arithmetic_ceilings(run: Run) -> Sequence[Ceiling]:
    """The best valid row of each kind, over all forms; an invalid one if none is valid."""
    rates = [row for row in run.of("ceilings") if row.quantity in RATES]
    limits = {row.case: row.value for row in rates if row.provenance == "modelled"}
    found = []
    for kind in ARITHMETIC:
        timed = [r for r in rates if (r.text("arithmetic"), r.provenance) == (kind, "timed")]
        for best in sorted(timed, key=_rank)[-1:]:
            limit = limits.get(best.case) or None
            others = tuple(row for row in timed if row is not best and row.valid)
            found.append(Ceiling("", kind, best, limit, limit and best.value / limit, others))
    return found


def bandwidth_ceilings(rows: Sequence[Row]) -> Sequence[Ceiling]:
    """The best valid row of each kind of reading; an invalid one if none is valid.

    Both benchmarks read words in a row; the better launch counts. Of the strides only the widest is
    certainly uncoalesced: lanes of narrower ones may share a sector or a line.
    """
    best: dict[tuple[str, str], Row] = {}
    limits: dict[str, list[float]] = {}
    benchmarks = ("bandwidth", "stride_gather")
    read = [row for row in rows if row.benchmark in benchmarks and row.backend == "cuda"]
    for case in by_case(read):
        rate, share = case.row("bandwidth"), case.row("share_of_limit")
        if rate and share and share.value > 0:
            limits.setdefault(case.text("level"), []).append(rate.value / share.value)
        row = case.row("useful_bandwidth") or rate
        if row and (row.text("operation") == "read" or row.text("pattern") == "strided"):
            key = (case.text("level"), KINDS[case.count("width", WORD) > WORD, _stride(row) == 1])
            best[key] = max(best.get(key, row), row, key=_rank)
    found = []
    for level, kind in product(LEVELS, KINDS.values()):
        row, whole = best.get((level, kind)), best.get((level, KINDS[True, True]))
        if row:
            part = row.value / whole.value if whole and row.valid and whole.valid else None
            limit = median(limits[level]) if level in limits else None
            found.append(Ceiling(level, kind, row, limit, part))
    return found


RANGE = {"low": "row.minimum", "high": "row.maximum"}
FLOPS: Columns = {
    **attributes(arithmetic="kind", unit="row.unit", measured="row", limit="limit", **RANGE),
    **attributes("form", share_of_limit="share", valid="row.valid"),
    "_one": lambda one: one,
}
BYTES: Columns = {
    **attributes("level", "form", ceiling="kind", benchmark="row.benchmark"),
    "width_bytes": lambda one: one.row.text("width"),
    **attributes(bytes_per_second="row", limit_bytes_per_second="limit", **RANGE),
    **attributes(share_of_grouped_and_coalesced="share"),
    "_one": lambda one: one,
}


def arithmetic(run: Run) -> pd.DataFrame:
    """The ceiling of each kind of arithmetic."""
    return table(arithmetic_ceilings(run), FLOPS, label=lambda one: one.row.case.partition("/")[2])


def bandwidth(run: Run) -> pd.DataFrame:
    """The ceilings of each level."""
    found = bandwidth_ceilings(run.rows)
    return table(
        found, BYTES, label=lambda one: f"{level_name(one.level)}, {one.kind} ({one.form})"
    )


def arithmetic_caption(data: pd.DataFrame) -> str:
    """What was measured, and the limits."""
    if data["_row"][0].backend == "host":
        return (
            "Fused multiply-adds in registers, with the CPU's widest vectors, every core at "
            "work. Marks: medians; lines: range of the samples. No published limit applies to a "
            "CPU that is detected at run time."
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
    """The kinds of accesses, and the limits."""
    dram = data.limit_bytes_per_second[data.level == "dram"].dropna()
    return prose(
        "Read ceilings, after the roofline of van den Braak, Mesman and Corporaal (2010, Fig. "
        f"3; there the words have 8 bits) {cite('vandenbraak2010access')}: accesses of 8 or 16 "
        "bytes (words of 4 bytes in groups) or of 4 (ungrouped), by adjacent lanes "
        "(coalesced) or at the largest measured distance (uncoalesced). Marks: the best launch "
        f"or pattern of each kind; lines: range of the samples{CUT}; per cent: of the highest "
        "ceiling of the level.",
        len(dram)
        and "Strokes: bus width times clock for device memory ("
        f"{units.quantity(dram.iloc[0], 'B/s')}), bytes per cycle times the measured clock for L1.",
    )


def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A panel per level, or one for arithmetic, on one axis; strokes are limits."""
    levels = grouped(data["_one"], lambda one: one.level)
    figure.set_figheight(0.8 + 0.3 * len(levels) + 0.36 * len(data))
    heights = [len(ones) for ones in levels.values()]
    panels = figure.subplots(len(levels), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for ax, (level, ones) in zip(panels, levels.items(), strict=True):
        at, rows = range(len(ones)), pd.Series([one.row for one in ones])
        look = {"c": "#0072B2", "marker": "o", "ms": 5, "ls": "", "label": "best measured"}
        points(ax, marks(rows, at, TERA), "value", "at", **look)
        ends = [row.minimum / TERA for row in rows], [one.high / TERA for one in ones]
        ax.hlines(at, *ends, color="#0072B2", lw=0.9)
        for place, one in enumerate(ones):
            others = marks(pd.Series(one.others), [place + 0.25] * len(one.others), TERA)
            look = {"c": GREY, "marker": ".", "ls": "", "label": OTHERS if one.others else ""}
            points(ax, others, "value", "at", **look)
            spot = (one.row.value / TERA, place)
            ax.annotate(one.words, spot, (0, 6), textcoords="offset points", size=7, ha="center")
            if one.limit:
                (stroke,) = ax.plot(one.limit / TERA, place, "k|", ms=10, label="limit")
                hover(stroke, [f"limit: {units.quantity(one.limit, one.row.unit)}"])
        names = [ARITHMETIC.get(one.kind, one.kind).replace(" and ", "\nand ") for one in ones]
        ax.set(yticks=at, yticklabels=names, ylim=(len(ones) - 0.5, -0.8))
        ax.grid(axis="x")
        ax.set_title(level and level_name(level))
        ax.label_outer()
    if "level" in data:
        plain_log(ax, "x", (1,))
        ax.margins(x=0.25)
    else:
        ax.set_xlim(0, 1.2 * ax.dataLim.x1)
    ax.set_xlabel(
        "useful bandwidth (TB/s)"
        if "level" in data
        else "operations (10¹²/s; a multiply-add is two)"
    )


for name, title, order, data, caption in (
    ("ceilings", "Ceilings of arithmetic", 71, arithmetic, arithmetic_caption),
    ("bandwidth_ceilings", "Ceilings of bandwidth", 20, bandwidth, bandwidth_caption),
):
    figure(name, title, order=order, data=data, caption=caption)(draw)
