"""How close do matrix additions come to the memory limit, coalesced and grouped, or not?

Figure 3 of van den Braak, Mesman and Corporaal (2010), redrawn with this GPU's roofs and kernels,
beside the values of the paper's Table II and section VI-C for a GeForce 8800 GT.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose, times
from strata.model.units import short
from strata.reference import cite
from strata.reference.published import own_cost
from strata.run import Row, Run

KEY = "vandenbraak2010access"
GIGA = 1e9
MATRICES = 3
"""Each element is read twice and written once."""
PUBLISHED_ELEMENTS = 512 * 512
PUBLISHED = "#D55E00"
LEFT, RIGHT = 1 / 20, 1
"""Additions per byte."""
NAME = 0.26
"""Where the name of a slope ends: between the two columns of marks."""
SOLID, DASHED, DOTTED = (c.Look(line=line, width=1.1) for line in ("-", "--", ":"))
_CIRCLE, _STAR, _CROSS = (c.Look(marker=one, size=10 if one == "*" else 6.5) for one in "o*P")
KERNELS = (
    ("32 bits, uncoalesced", 4, "uncoalesced", 4, replace(_CIRCLE, hollow=True), 2.06e-3),
    ("32 bits, coalesced", 4, "coalesced", 4, _CIRCLE, 0.067e-3),
    ("8 bits, uncoalesced, ungrouped", 1, "uncoalesced", 1, replace(_STAR, hollow=True), 1.020e-3),
    ("8 bits, coalesced, ungrouped", 1, "coalesced", 1, replace(_CROSS, hollow=True), 0.634e-3),
    ("8 bits, uncoalesced, grouped", 1, "uncoalesced", 4, replace(_STAR, colour="#a6a6a6"), None),
    ("8 bits, coalesced, grouped", 1, "coalesced", 4, _STAR, 0.024e-3),
)
"""Bytes of an element, order, elements of a group, marks as in the paper's figure (circles and
stars, white, grey and black), and seconds from its section VI-C."""


class Item(NamedTuple):
    """A kernel or a roof: additions per byte, and additions per second, here and `published`.

    An arithmetic roof has no intensity; a bandwidth roof has the rate at one addition per byte.
    """

    name: str
    row: Row
    look: c.Look
    intensity: float | None
    published: float | None = None

    @property
    def is_roof(self) -> bool:
        """Whether it is a roof."""
        return not self.look.marker


def items(run: Run) -> Sequence[Item]:
    """Kernels and roofs of a run on a GPU that timed the paper's additions."""
    timed = {
        (row.count("element"), row.text("order"), row.count("group")): row
        for row in run.of("short_words")
        if (row.backend, row.quantity, row.method) == ("cuda", "useful_bandwidth", "event_slope")
        and row.text("access") == "together"
    }
    kernels = []
    for name, element, order, group, look, seconds in KERNELS:
        if row := timed.get((element, order, group)):
            per_byte = 1 / (MATRICES * element)
            published = PUBLISHED_ELEMENTS / seconds if seconds else None
            kernels.append(Item(name, times(row, per_byte), look, per_byte, published))
    return [*kernels, *_roofs(run)] if kernels else ()


def _roofs(run: Run) -> Iterator[Item]:
    """The limits of arithmetic and DRAM, and of DRAM with one used word per sector."""
    if best := own_cost(run.of("instruction_cost"), "iadd3", chain=False):
        of_case = [row for row in run.of("instruction_cost") if row.case == best.case]
        rates = [row for row in of_case if row.quantity == "operation_rate"]
        if rates and rates[0].valid:
            yield Item("integer additions", rates[0], SOLID, None)
    reads = {("bandwidth", "read", "?", "?"), ("useful_bandwidth", "?", "strided", "1")}
    whole = [
        row
        for row in (*run.of("bandwidth"), *run.of("stride_gather"))
        if (row.valid, row.unit, row.text("level")) == (True, "B/s", "dram")
        and (row.count("width") or 0) > 4
        and (row.quantity, *map(row.text, ("operation", "pattern", "stride"))) in reads
    ]
    found = [row for row in run.of("cache_geometry") if row.valid and row.quantity == "sector"]
    sectors = [row.value for row in found if row.text("property") == "l1_sector"]
    for row in sorted(whole, key=lambda row: -row.value)[:1]:
        yield Item("DRAM", row, SOLID, 1.0)
        for sector in sectors[:1]:
            yield Item("DRAM, 4 B of each sector", times(row, 4 / sector), DASHED, 1.0)
            yield Item("DRAM, 1 B of each sector", times(row, 1 / sector), DOTTED, 1.0)


def chart(items: Sequence[Item]) -> c.Chart:
    """Roofs as lines, kernels as the paper's marks; orange: the paper's own."""
    kernels = [one for one in items if not one.is_roof]
    roofs = [one for one in items if one.is_roof]
    flat = [one.row.value for one in roofs if one.intensity is None]
    ends = [(one.row.minimum, one.row.maximum, one.published) for one in kernels]
    rates = [rate for each in ends for rate in each if rate]
    low, high = min(rates) / GIGA / 2.5, max([*rates, *flat]) / GIGA * 2.5
    top = min(flat, default=high * GIGA)
    layers: list[c.Layer] = []
    for one in kernels:
        own = one.row.value, one.row, one.look, c.INK
        theirs = one.published, None, replace(one.look, colour=PUBLISHED), PUBLISHED
        for rate, row, look, ink in (own, theirs):
            if rate and one.intensity:
                place, value = one.intensity, rate / GIGA
                told = f"{one.name}: {short(value)} · 10⁹/s, published {cite(KEY)}"
                mark = c.Mark(place, value, valid=row is None or row.valid, row=row, told=told)
                layers.append(c.Series([mark], look, order=4))
                words = c.Words(place, value, short(value), 9, across="left", size=7, colour=ink)
                layers.append(words)
    for one in roofs:
        sloped, height = one.intensity is not None, one.row.value / GIGA
        end = min(RIGHT, top / one.row.value) if sloped else RIGHT
        marks = [c.Mark(at, height * at if sloped else height) for at in (LEFT, end)]
        layers.append(c.Series(marks, one.look, order=1.6))
        at = NAME if sloped else LEFT * 1.06
        height *= at if sloped else 1
        words = c.Words(at, height, one.name, 0, 4, "right" if sloped else "left", "bottom", 7)
        layers.append(words)
    keys = [c.Key(one.name, one.look) for one in kernels]
    keys.append(c.Key(f"GeForce 8800 GT {cite(KEY)}", c.Look(PUBLISHED, "s", size=6)))
    label = "additions per byte of DRAM (32-bit elements 1/12, 8-bit elements 1/3)"
    ticks, names = (1 / 12, 1 / 3, 1), ("1/12", "1/3", "1")
    places = c.Axis(label, "log", (LEFT, RIGHT), ticks=ticks, names=names)
    panel = c.Panel(layers, places, c.Axis("additions (10⁹/s)", "log", (low, high)))
    return c.Chart([[panel]], 8.4, 4.4, legend_columns=3, keys=keys)


def _caption(items: Sequence[Item]) -> str:
    return prose(
        "Additions of two matrices per second against additions per byte that must move, one "
        "addition per element (the paper counts operations, which may include those of the "
        "index).",
        any(one.is_roof for one in items)
        and "Lines: the best rate of integer additions, and the best bandwidth of DRAM; "
        "dashed and dotted: the remaining bandwidth if one 32-bit or one 8-bit word of "
        "each moved sector is used, which caches can improve.",
        "Black, grey and white: this GPU, matrices of 128 MiB, groups of four elements. "
        f"Orange: a GeForce 8800 GT as printed in {cite(KEY)}, section VI-C and Table II (2.06 "
        "and 0.067 ms for 32-bit elements, 1.020, 0.634 and 0.024 ms for 8-bit ones), over "
        "the 512 × 512 elements of its section III; values that its Figure 3 shows and the "
        "text does not print are not drawn.",
    )


COLUMNS = (
    attributes("name", "is_roof", additions_per_byte="intensity", additions_per_second="row")
    | attributes(low="row.minimum", high="row.maximum")
    | attributes(published_additions_per_second="published")
)
TITLE = "Figure 3 of van den Braak, Mesman and Corporaal (2010), repeated"
FIGURE = Figure(
    "vandenbraak_roofline", TITLE, 313, items, chart, _caption, COLUMNS,
    label=lambda one: one.name,
)  # fmt: skip
