"""How near do matrix additions come to what memory allows, coalesced and grouped, or not?

Figure 3 of van den Braak, Mesman and Corporaal (2010), drawn again with this GPU's roofs and
kernels; beside them what the paper's Table II and section VI-C print for a GeForce 8800 GT.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, told
from strata.figures.roofline import roof
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


@dataclass(frozen=True, slots=True)
class Item:
    """A kernel or a roof: additions per byte, and additions in a second, here and as `published`.

    A roof of arithmetic has no intensity; one of bandwidth has the rate of one addition per byte.
    """

    name: str
    is_roof: bool
    intensity: float | None
    rate: float
    low: float
    high: float
    row: Row
    look: c.Look
    published: float | None = None


def _item(name: str, row: Row, look: c.Look, intensity: float | None, share: float = 1) -> Item:
    """With `share` additions for each unit of the row."""
    value, low, high = (share * one for one in (row.value, row.minimum, row.maximum))
    return Item(name, not look.marker, intensity, value, low, high, row, look)


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
            one = _item(name, row, look, per_byte, per_byte)
            published = PUBLISHED_ELEMENTS / seconds if seconds else None
            kernels.append(replace(one, published=published))
    return [*kernels, *_roofs(run)] if kernels else ()


def _roofs(run: Run) -> Iterator[Item]:
    """What arithmetic and DRAM allow, and what is left of DRAM for a word of each sector."""
    if best := own_cost(run.of("instruction_cost"), "iadd3", chain=False):
        of_case = [row for row in run.of("instruction_cost") if row.case == best.case]
        rates = [row for row in of_case if row.quantity == "operation_rate"]
        if rates and rates[0].valid:
            yield _item("integer additions", rates[0], SOLID, None)
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
        yield _item("DRAM", row, SOLID, 1.0)
        for sector in sectors[:1]:
            yield _item("DRAM, 4 B of each sector", row, DASHED, 1.0, 4 / sector)
            yield _item("DRAM, 1 B of each sector", row, DOTTED, 1.0, 1 / sector)


def chart(items: Sequence[Item]) -> c.Chart:
    """Roofs as lines, kernels as the paper's marks; orange: the paper's own."""
    kernels = [one for one in items if not one.is_roof]
    flat = [one.rate for one in items if one.is_roof and one.intensity is None]
    rates = [end for one in kernels for end in (one.low, one.high, one.published) if end]
    ends = (min(rates) / GIGA / 2.5, max([*rates, *flat]) / GIGA * 2.5)
    top = min(flat, default=ends[1] * GIGA)
    layers: list[c.Layer] = []
    for one in items:
        if one.is_roof:
            sloped = one.intensity is not None
            end = min(RIGHT, top / one.rate) if sloped else RIGHT
            at, height = NAME if sloped else LEFT * 1.06, one.rate / GIGA
            layers.append(roof(height, LEFT, end, one.look, sloped=sloped))
            height *= at if sloped else 1
            words = c.Words(at, height, one.name, 0, 4, "right" if sloped else "left", "bottom", 7)
            layers.append(words)
        else:
            layers += _marks(one, one.rate, one.look, valid=one.row.valid)
            layers += _marks(one, one.published, replace(one.look, colour=PUBLISHED))
    keys = [c.Key(one.name, one.look) for one in kernels]
    keys.append(c.Key(f"GeForce 8800 GT {cite(KEY)}", c.Look(PUBLISHED, "s", size=6)))
    label = "additions per byte of DRAM (32-bit elements 1/12, 8-bit elements 1/3)"
    ticks, names = (1 / 12, 1 / 3, 1), ("1/12", "1/3", "1")
    places = c.Axis(label, "log", (LEFT, RIGHT), ticks=ticks, names=names)
    panel = c.Panel(layers, places, c.Axis("additions (10⁹/s)", "log", ends))
    return c.one(panel, width=8.4, height=4.4, legend_columns=3, keys=keys)


def _marks(one: Item, rate: float | None, look: c.Look, *, valid: bool = True) -> Iterator[c.Layer]:
    """A mark, with its rate beside it."""
    if rate and one.intensity:
        place, value = one.intensity, rate / GIGA
        colour = look.colour if look.colour == PUBLISHED else c.INK
        yield c.Series([c.Mark(place, value, valid=valid)], look, order=4)
        yield c.Words(place, value, short(value), 9, across="left", size=7, colour=colour)


def caption(items: Sequence[Item]) -> str:
    """What is counted, what the roofs are, and where the paper's numbers are from."""
    return told(
        "Additions of two matrices in a second against additions for each byte that must move, one "
        "addition an element (the paper counts operations, which may be those of the index as "
        "well).",
        any(one.is_roof for one in items)
        and "Lines: the best rate of integer additions, and the best bandwidth of DRAM; dashed and "
        "dotted: what is left of it if of every sector that moves one 32-bit or one 8-bit word is "
        "used, which caches can mend.",
        "Black, grey and white: this GPU, matrices of 128 MiB, groups of four elements. Orange: a "
        f"GeForce 8800 GT as printed in {cite(KEY)}, section VI-C and Table II (2.06 and 0.067 ms "
        "of 32-bit elements, 1.020, 0.634 and 0.024 ms of 8-bit ones), over the 512 × 512 elements "
        "of its section III; values that its Figure 3 shows and the text does not print are not "
        "drawn.",
    )


COLUMNS = attributes(
    "name",
    "is_roof",
    additions_per_byte="intensity",
    additions_per_second="rate",
) | attributes("low", "high", published_additions_per_second="published")
TITLE = "Figure 3 of van den Braak, Mesman and Corporaal (2010), redone"
FIGURE = Figure(
    "vandenbraak_roofline", TITLE, 65, items, chart, caption, COLUMNS,
    label=lambda one: one.name,
)  # fmt: skip
