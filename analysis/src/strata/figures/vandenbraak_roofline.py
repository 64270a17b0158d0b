"""How close do matrix additions come to the memory limit, coalesced and grouped, or not?

Figure 3 of van den Braak, Mesman and Corporaal (2010), redrawn with this GPU's roofs and kernels,
beside the values of the paper's Table II and section VI-C for a GeForce 8800 GT.
"""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from strata.figures._figure import Columns, attributes, prose, times
from strata.figures._plot import figure, table
from strata.figures._style import hover, plain_log
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
KERNELS = (
    ("32 bits, uncoalesced", 4, "uncoalesced", 4, ("o", "white"), 2.06e-3),
    ("32 bits, coalesced", 4, "coalesced", 4, ("o", "k"), 0.067e-3),
    ("8 bits, uncoalesced, ungrouped", 1, "uncoalesced", 1, ("*", "white"), 1.020e-3),
    ("8 bits, coalesced, ungrouped", 1, "coalesced", 1, ("P", "white"), 0.634e-3),
    ("8 bits, uncoalesced, grouped", 1, "uncoalesced", 4, ("*", "#a6a6a6"), None),
    ("8 bits, coalesced, grouped", 1, "coalesced", 4, ("*", "k"), 0.024e-3),
)
"""Bytes of an element, order, elements of a group, marks as in the paper's figure (circles and
stars, white, grey and black), and seconds from its section VI-C."""


class Item(NamedTuple):
    """A kernel or a roof: additions per byte, and additions per second, here and `published`.

    An arithmetic roof has no intensity; a bandwidth roof has the rate at one addition per byte.
    `look` is marker and filling of a kernel, the style of a roof's line.
    """

    name: str
    row: Row
    look: tuple[str, str] | str
    intensity: float | None
    published: float | None = None

    @property
    def is_roof(self) -> bool:
        """Whether it is a roof."""
        return isinstance(self.look, str)


COLUMNS: Columns = {
    **attributes("name", "is_roof", additions_per_byte="intensity", additions_per_second="row"),
    **attributes(low="row.minimum", high="row.maximum"),
    **attributes(published_additions_per_second="published", _look="look"),
}


def data(run: Run) -> pd.DataFrame:
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
    found = [*kernels, *_roofs(run)] if kernels else []
    return table(found, COLUMNS, label=attrgetter("name"))


def _roofs(run: Run) -> Iterator[Item]:
    """The limits of arithmetic and DRAM, and of DRAM with one used word per sector."""
    if best := own_cost(run.of("instruction_cost"), "iadd3", chain=False):
        of_case = [row for row in run.of("instruction_cost") if row.case == best.case]
        rates = [row for row in of_case if row.quantity == "operation_rate"]
        if rates and rates[0].valid:
            yield Item("integer additions", rates[0], "-.", None)
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
        yield Item("DRAM", row, "-", 1.0)
        for sector in sectors[:1]:
            yield Item("DRAM, 4 B of each sector", times(row, 4 / sector), "--", 1.0)
            yield Item("DRAM, 1 B of each sector", times(row, 1 / sector), ":", 1.0)


def caption(data: pd.DataFrame) -> str:
    """What is drawn, and where the published values are printed."""
    return prose(
        "Additions of two matrices per second against additions per byte that must move, one "
        "addition per element (the paper counts operations, which may include those of the "
        "index).",
        data.is_roof.any()
        and "Lines: the best rate of integer additions, and the best bandwidth of DRAM; "
        "dashed and dotted: the remaining bandwidth if one 32-bit or one 8-bit word of "
        "each moved sector is used, which caches can improve.",
        "Black, grey and white: this GPU, matrices of 128 MiB, groups of four elements. "
        f"Orange: a GeForce 8800 GT as printed in {cite(KEY)}, section VI-C and Table II (2.06 "
        "and 0.067 ms for 32-bit elements, 1.020, 0.634 and 0.024 ms for 8-bit ones), over "
        "the 512 × 512 elements of its section III; values that its Figure 3 shows and the "
        "text does not print are not drawn.",
    )


@figure(
    "vandenbraak_roofline", "Figure 3 of van den Braak, Mesman and Corporaal (2010), repeated",
    order=313, data=data, caption=caption, size=(7, 5.4),
)  # fmt: skip
def draw(data: pd.DataFrame, ax: Axes) -> None:
    """Roofs as lines, kernels as the paper's marks; orange: the paper's own."""
    kernels, roofs = data[~data.is_roof], data[data.is_roof]
    flat = roofs[roofs.additions_per_byte.isna()].additions_per_second
    one: Any
    for one in kernels.itertuples():
        marker, face = data["_look"][one.Index]
        row = data["_row"][one.Index]
        look: dict[str, Any] = {
            "marker": marker,
            "ms": 9 if marker == "*" else 6,
            "ls": "",
            "zorder": 4,
        }
        theirs = one.published_additions_per_second
        for rate, colour, tooltip in (
            (one.additions_per_second, "k", row),
            (theirs, PUBLISHED, f"{one.name}: published {cite(KEY)}"),
        ):
            if pd.isna(rate):
                continue
            place, value = one.additions_per_byte, rate / GIGA
            bad = colour == "k" and not one.valid
            fill = PUBLISHED if colour == PUBLISHED and face == "k" else face
            label = {"label": one.name} if colour == "k" else {}
            shape = {"mfc": "none", "ls": ":"} if bad else {"mfc": fill}
            (mark,) = ax.plot([place], [value], color=colour, **{**look, **shape}, **label)
            hover(mark, [tooltip])
            words = short(value) + " (invalid)" * bad
            ax.annotate(words, (place, value), (7, 0), textcoords="offset points", va="center",
                        color=colour)  # fmt: skip
    ax.plot([], "s", color=PUBLISHED, label=f"GeForce 8800 GT {cite(KEY)}")
    for name, rate, look, slope in zip(
        roofs.name, roofs.additions_per_second / GIGA, roofs["_look"], roofs.additions_per_byte,
        strict=True,
    ):  # fmt: skip
        sloped = pd.notna(slope)
        end = min(RIGHT, flat.min() / GIGA / rate) if sloped and len(flat) else RIGHT
        ends = [rate * LEFT, rate * end] if sloped else [rate, rate]
        ax.plot([LEFT, end], ends, color="k", ls=look, lw=1, label=name)
    plain_log(ax)
    ax.set_xscale("log")
    ax.set_xticks([1 / 12, 1 / 3, 1], ["1/12", "1/3", "1"])
    ax.set_xticks([], minor=True)
    ax.set(xlim=(LEFT, RIGHT), ylabel="additions (10⁹/s)")
    ax.set_xlabel("additions per byte of DRAM\n(32-bit elements 1/12, 8-bit elements 1/3)")
