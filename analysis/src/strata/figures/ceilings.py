"""What are the peak rates of arithmetic and of each memory level, and what should they be?

For memory, the ceilings of van den Braak, Mesman and Corporaal (2010, Fig. 3).
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import inf
from statistics import median
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import level_name, units
from strata.model.cases import by_case
from strata.reference import cite
from strata.run import Row, Run

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
NEAR, LANES = 0.03, (0.0, -0.2, 0.2)
"""Values that lie closer, as a share of the bar, are drawn in these lanes of it."""
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
        """The rate, its share, and the form if there are others."""
        share = "" if self.share in (None, 1) else f"  ({100 * self.share:.3g}{units.SPACE}%)"
        form = f"  {self.form}" if self.others else ""
        return units.quantity(self.row.value, self.row.unit) + share + form


def _stride(row: Row) -> int:
    return row.count("stride") or 1


def _rank(row: Row) -> tuple[float, ...]:
    return _stride(row), row.valid, row.value


def arithmetic(run: Run) -> Sequence[Ceiling]:
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


def bandwidth(rows: Sequence[Row]) -> Sequence[Ceiling]:
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


def _panel(level: str, here: Sequence[Ceiling]) -> c.Panel:
    """Bars from zero, with a vertical stroke for the limit."""
    bars = [c.mark(place, one.row, TERA, most=one.limit) for place, one in enumerate(here)]
    limited = [(at, one.limit, one.row.unit) for at, one in enumerate(here) if one.limit]
    told = "limit: {}".format
    limits = [c.Mark(at, x / TERA, told=told(units.quantity(x, unit))) for at, x, unit in limited]
    others = [mark for place, one in enumerate(here) for mark in _others(place, one)]
    words = []
    for bar, one in zip(bars, here, strict=True):
        limit = (one.limit or 0) / TERA
        end = limit if bar.furthest < limit < 1.6 * bar.furthest else bar.furthest
        words.append(c.Mark(bar.place, end, words=one.words))
    dot = c.Look(marker="o", size=3.6, hollow=True)
    layers = (
        c.Bars(bars, c.Look("#0072B2"), "best measured", "bar"),
        c.Series(limits, c.Look(marker="|", size=16), "what lanes or pins allow"),
        c.Series(others, dot, "other forms and numbers of warps"),
        c.Series(words, c.Look(), words_size=7.5),
    )
    label = "operations (10¹²/s; a multiply-add is two)"
    values = c.Axis("useful bandwidth (TB/s)" if level else label, zero=True)
    names = [ARITHMETIC.get(one.kind, f"{one.kind}\n({one.form})") for one in here]
    most = f", at most {units.quantity(here[0].limit, 'B/s')}" if here[0].limit else ""
    title = level and level_name(level) + most
    shown = [layer for layer in layers if layer.marks]
    return c.Panel(shown, c.names_axis(names), values, title, sideways=True)


def _others(place: int, one: Ceiling) -> Iterator[c.Mark]:
    """The other forms on their bar; close values are moved apart to stay visible."""
    lane, last = 0, -inf
    for row in sorted(one.others, key=lambda row: row.value):
        lane = lane + 1 if row.value < last + NEAR * one.row.value else 0
        yield c.mark(place + LANES[lane % len(LANES)], row, TERA)
        last = row.value


def chart(ceilings: Sequence[Ceiling]) -> c.Chart:
    """One panel per level, or one for arithmetic."""
    levels = c.grouped(ceilings, lambda one: one.level)
    rows = [[_panel(*group)] for group in levels.items()]
    height = 0.6 + 0.6 * len(levels) + 0.35 * len(ceilings)
    return c.Chart(rows, 8.0, height, heights=[len(here) + 0.5 for here in levels.values()])


def _arithmetic_caption(ceilings: Sequence[Ceiling]) -> str:
    if ceilings[0].row.backend == "host":
        return (
            "Fused multiply-adds in registers, with the CPU's widest vectors, every core at "
            "work. Bars: medians; lines in them: range of the samples. No published limit "
            "applies to a CPU that is detected at run time."
        )
    silent = ", ".join(ARITHMETIC[one.kind] for one in ceilings if one.limit is None)
    return prose(
        "Multiply-adds in registers, every SM at work, without tensor cores; in brackets the "
        "share of the limit, then the operands of the fastest form. Bars: medians; lines in "
        f"them: range of the samples{CUT}. Strokes: results per cycle of the CUDA C++ Best "
        "Practices Guide (Throughput of Native Arithmetic Instructions) × SMs × the clock "
        "under this load.",
        silent and f"No limit is published for {silent}.",
    )


def _bandwidth_caption(ceilings: Sequence[Ceiling]) -> str:
    dram = next((one.limit for one in ceilings if one.level == "dram" and one.limit), None)
    return prose(
        "Read ceilings, after the roofline of van den Braak, Mesman and Corporaal (2010, Fig. "
        f"3; there the words have 8 bits) {cite('vandenbraak2010access')}: accesses of 8 or 16 "
        "bytes (words of 4 bytes in groups) or of 4 (ungrouped), by adjacent lanes "
        "(coalesced) or at the largest measured distance (uncoalesced). Bars: the best launch "
        "or pattern of each kind; under its name the width, loads in flight per thread, and "
        "blocks per SM × threads per block, or the stride in elements; lines in them: range "
        f"of the samples{CUT}; per cent: of the highest ceiling of the level.",
        dram
        and "Strokes: bus width times clock for device memory ("
        f"{units.quantity(dram, 'B/s')}), bytes per cycle times the measured clock for L1.",
    )


RANGE = {"low": "row.minimum", "high": "row.maximum"}
FIGURES = (
    Figure(
        "ceilings", "Ceilings of arithmetic", 71, arithmetic, chart, _arithmetic_caption,
        attributes(arithmetic="kind", unit="row.unit", measured="row", **RANGE, limit="limit")
        | attributes(share_of_limit="share", valid="row.valid", form="form", case="row.case"),
        label=lambda one: one.row.case.partition("/")[2],
    ),
    Figure(
        "bandwidth_ceilings", "Ceilings of bandwidth", 20,
        lambda run: bandwidth(run.rows), chart, _bandwidth_caption,
        attributes(level="level", ceiling="kind", benchmark="row.benchmark")
        | {"width_bytes": lambda one: one.row.text("width")}
        | attributes(bytes_per_second="row", **RANGE)
        | attributes(limit_bytes_per_second="limit", share_of_grouped_and_coalesced="share"),
        label=lambda one: f"{level_name(one.level)}, {one.kind} ({one.form})",
    ),
)  # fmt: skip
