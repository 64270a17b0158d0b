"""How long do kernels of 2010 take, and how close do their matrix additions come to the limit?

The application kernels of Tables I and II of van den Braak, Mesman and Corporaal (2010), at their
image sizes beside the printed times; rotations of an image that no cache holds; and the paper's
Figure 3, redrawn with this GPU's roofs and kernels.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from strata.figures import _style
from strata.figures._plot import columns, figure, in_order, prose
from strata.figures._style import beside_marks, in_column, note, parts, points, si_axis, theirs
from strata.figures.short_words import kernels
from strata.model import atlas
from strata.model.units import quantity
from strata.reference import cite
from strata.reference.published import own_cost
from strata.run import Row, Run, tidy

CITED = cite("vandenbraak2010access")
ORANGE = "#D55E00"
ANGLE = 30
"""Of the rotations beside the published ones; the paper does not say which it took."""
PUBLISHED = {
    ("dct", "original"): 3.0, ("dct", "seed_tool"): 0.75, ("dct", "seed_hand"): 48e-3,
    ("dct", "texture"): 48e-3, ("sobel", "seed_hand"): 2.84e-3,
    ("rotation_forward", "seed_hand"): 1.64e-3, ("rotation_backward", "seed_hand"): 1.27e-3,
    ("dct", "naive"): 239.0, ("dct", "table"): 9.6, ("dct", "all_cores"): 2.5,
    ("sobel", "original"): 12.1e-3, ("sobel", "seed_tool"): 2.84e-3,
    ("rotation_forward", "original"): 3.29e-3, ("rotation_forward", "seed_tool"): 1.64e-3,
    ("rotation_backward", "original"): 3.40e-3, ("rotation_backward", "seed_tool"): 1.27e-3,
}  # fmt: skip
"""Seconds: of a GeForce 8800 GT in Table II, of a Core 2 Q6600 (dct on a CPU) in Table I."""
KERNELS = {
    "dct": "DCT", "sobel": "Sobel", "rotation_forward": "rotation 1, forward",
    "rotation_backward": "rotation 2, backward",
}  # fmt: skip
FORMS = {
    "original": ("original", "#D55E00"), "seed_tool": ("the seed's tool", "#0072B2"),
    "seed_hand": ("by hand", "#CC79A7"), "texture": ("by hand, from a texture", "#999999"),
    "mended": ("strata access optimize", "#8c510a"),
    "best": ("today", "#009E73"),
    "separable": ("in two passes", "#56B4E9"), "scalar": ("one core", "#D55E00"),
    "naive": ("one core, cosines computed", "#8c510a"),
    "table": ("one core, cosines from a table", "#D55E00"),
    "vectors": ("vectors", "#0072B2"), "all_cores": ("all cores", "#009E73"),
}  # fmt: skip
"""What a form is called, and its colour."""
WAYS = {"rotation_forward": "o", "rotation_backward": "s"}


def data(run: Run) -> pd.DataFrame:
    """Times by events, or by a CPU's clock, in the order of the paper."""
    found = [kernels(run, name, form="?", size="?", angle=None) for name in KERNELS]
    lines = pd.concat([here.astype({"angle": "Int64"}) for here in found])
    lines = lines.rename(columns={"angle": "angle_degrees"})
    lines = lines[lines.form.isin(FORMS)]
    if not len(_beside(lines)) + len(_askew(lines)):
        return lines[:0]
    order: Any = {"benchmark": KERNELS, "form": FORMS, "size": ("seed", "large")}
    lines = in_order(lines, "benchmark", "size", "angle_degrees", "form", **order)
    form = lines.form.map({form: words for form, (words, _) in FORMS.items()})
    lines["_name"] = lines.benchmark.map(KERNELS) + ", " + form
    turned = lines.angle_degrees.astype(object).map(", {}°".format, na_action="ignore")
    large = lines["size"].map({"seed": "", "large": ", large"})
    lines["_label"] = lines["_name"] + turned.fillna("") + large
    both = zip(lines.benchmark, lines.form, strict=True)
    seconds = pd.Series([PUBLISHED.get(pair) for pair in both], dtype=float)
    return columns(
        lines.assign(published=seconds.where(lines["size"] == "seed")), "form", "size",
        "angle_degrees", kernel="benchmark", kernel_seconds="value",
        seconds_low="minimum", seconds_high="maximum", useful_bandwidth="rate",
        published_seconds="published",
    )  # fmt: skip


def _beside(data: pd.DataFrame) -> pd.DataFrame:
    """The kernels that are compared with the paper's."""
    return data[(data["size"] == "seed") & data.angle_degrees.fillna(ANGLE).eq(ANGLE)]


def _askew(data: pd.DataFrame) -> pd.DataFrame:
    """Rotations of images beyond the caches."""
    return data[(data["size"] == "large") & data.angle_degrees.notna()]


def caption(data: pd.DataFrame) -> str:
    host = data["_row"].iloc[0].backend == "host"
    return prose(
        "Kernels of van den Braak, Mesman and Corporaal (2010): time of one image in a series, "
        "medians, with the range of the samples. Published: Table "
        f"{'I, an Intel Q6600' if host else 'II, a GeForce 8800 GT'} {CITED}. The paper prints no "
        "formulas; chosen here: a DCT of 256 × 256 bytes with a sum over all pixels per "
        "coefficient (on a CPU part of the coefficients, its time scaled to all); Sobel of 1920 × "
        "1080 bytes as |Gx| + |Gy|; rotations of the same image to the nearest pixel, beside the "
        f"paper's by {ANGLE}°.",
        len(_askew(data))
        and "Bandwidth: bytes of the image, of four times L2, and of its result over the time.",
    )


@figure(
    "vandenbraak_kernels", "The kernels of van den Braak, Mesman and Corporaal (2010)", order=314,
    data=data, caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    sections = (_draw_times, _beside(data)), (_draw_turned, _askew(data))
    found = [(drawing, here) for drawing, here in sections if len(here)]
    lengths = [len(here) if drawing is _draw_times else 6 for drawing, here in found]
    panels = _style.stacked(figure, lengths, 0.34 if in_column(figure) else 0.26)
    for ax, (drawing, here) in zip(panels, found, strict=True):
        drawing(ax, here)


def _draw_times(ax: Axes, data: pd.DataFrame) -> None:
    narrow = in_column(ax)
    device = "this CPU" if data["_row"].iloc[0].backend == "host" else "this GPU"
    here = data.assign(at=[at + 0.17 for at in range(len(data))])
    here = here.assign(low=data.seconds_low, high=data.seconds_high)
    points(ax, here, "kernel_seconds", "at", "x", color="k", marker="o", ls="", label=device)
    beside_marks(ax, [quantity(time, "s") for time in here.kernel_seconds], here.high, here["at"])
    known = here.dropna(subset="published_seconds")
    times, places = known.published_seconds, known["at"] - 0.34
    words = [quantity(time, "s") for time in times]
    cited = [f"{time}, published {CITED}" for time in words]
    theirs(ax, times, places, cited, label="published 2010")
    beside_marks(ax, words, times, places)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(numticks=3 if narrow else 5))
    si_axis(ax, "x", "s")
    ax.xaxis.set_minor_formatter("")
    low, high = ax.get_xlim()
    ax.set(xlim=(low, high * (high / low) ** 0.2), xlabel="time of one image")
    _style.listed(
        ax, [("\n".join(name.rsplit(", ", 1)) if narrow else name) for name in data["_name"]]
    )
    ax.set_title("Sizes of the paper")


def _draw_turned(ax: Axes, data: pd.DataFrame) -> None:
    shown = data.assign(rate=data.useful_bandwidth, low=data["_low"], high=data["_high"])
    for (kernel, form), here in parts(shown, ["kernel", "form"]):
        words, colour = FORMS[form]
        points(ax, here, "angle_degrees", "rate", "y", color=colour, marker=WAYS[kernel])
        if kernel == data.kernel.iloc[0]:
            ax.plot([], color=colour, label=words)
    for kernel in data.kernel.unique():
        ax.plot([], WAYS[kernel], color=_style.GREY, label=KERNELS[kernel])
    ax.set_xticks(sorted(data.angle_degrees.unique()))
    ax.set(xlabel="angle (degrees)", ylabel="useful bandwidth (B/s)", ylim=(0, None))
    si_axis(ax)
    ax.set_title("Rotations beyond L2")


# --- Figure 3: matrix additions under their roofs -------------------------------------------------

MATRICES = 3
"""Each element is read twice and written once."""
ELEMENTS = 512 * 512
LEFT, RIGHT = 1 / 20, 1
"""Additions per byte."""
ADDITIONS = (
    ("32 bits, uncoalesced", 4, "uncoalesced", 4, ("o", "white"), 2.06e-3),
    ("32 bits, coalesced", 4, "coalesced", 4, ("o", "k"), 0.067e-3),
    ("8 bits, uncoalesced, ungrouped", 1, "uncoalesced", 1, ("*", "white"), 1.020e-3),
    ("8 bits, coalesced, ungrouped", 1, "coalesced", 1, ("P", "white"), 0.634e-3),
    ("8 bits, uncoalesced, grouped", 1, "uncoalesced", 4, ("*", "#a6a6a6"), None),
    ("8 bits, coalesced, grouped", 1, "coalesced", 4, ("*", "k"), 0.024e-3),
)
"""Bytes of an element, order, elements of a group, marks as in the paper's figure (circles and
stars, white, grey and black), and seconds from its section VI-C."""
Item = tuple[str, Row, Any, float | None, float, float | None]
"""Name, row, look (marker and filling, or the style of a line), additions per byte, additions per
unit of the row, published additions per second."""


def data_of_roofline(run: Run) -> pd.DataFrame:
    """Kernels and roofs of a run on a GPU that timed the paper's additions.

    An arithmetic roof has no intensity; a bandwidth roof has the rate at one addition per byte.
    """
    timed = {
        (row.count("element"), row.text("order"), row.count("group")): row
        for row in run.of("short_words")
        if (row.backend, row.quantity, row.method) == ("cuda", "useful_bandwidth", "event_slope")
        and row.text("access") == "together"
    }
    items: list[Item] = [
        (name, row, look, per_byte, per_byte, seconds and ELEMENTS / seconds)
        for name, element, order, group, look, seconds in ADDITIONS
        for per_byte in [1 / (MATRICES * element)]
        if (row := timed.get((element, order, group)))
    ]
    if not items:
        return pd.DataFrame()
    names, rows, looks, per_byte, factors, published = zip(*items, *_roofs(run), strict=True)
    lines = tidy(rows)
    rates = {end: lines[end] * [*factors] for end in ("value", "minimum", "maximum")}
    lines = lines.assign(
        **rates, name=names, is_roof=[isinstance(look, str) for look in looks], _look=looks,
        per_byte=per_byte, published=published, _label=names,
    )  # fmt: skip
    return columns(
        lines, "name", "is_roof", additions_per_byte="per_byte", additions_per_second="value",
        low="minimum", high="maximum", published_additions_per_second="published",
    )  # fmt: skip


def _roofs(run: Run) -> Iterator[Item]:
    """The limits of arithmetic and DRAM, and of DRAM with one used word per sector."""
    if best := own_cost(run.of("instruction_cost"), "iadd3", chain=False):
        of_case = [row for row in run.of("instruction_cost") if row.case == best.case]
        rates = [row for row in of_case if row.quantity == "operation_rate"]
        if rates and rates[0].valid:
            yield "integer additions", rates[0], "-.", None, 1, None
    found = [row for row in run.of("cache_geometry") if row.valid and row.quantity == "sector"]
    sectors = [row.value for row in found if row.text("property") == "l1_sector"]
    if peak := atlas.bandwidths(run, "read").get("dram"):
        row = peak.row
        yield "DRAM", row, "-", 1.0, 1, None
        for sector in sectors[:1]:
            yield "DRAM, 4 B of each sector", row, "--", 1.0, 4 / sector, None
            yield "DRAM, 1 B of each sector", row, ":", 1.0, 1 / sector, None


def caption_of_roofline(data: pd.DataFrame) -> str:
    return prose(
        "Additions of two matrices per second against additions per byte that must move, one "
        "addition per element. Black, grey and white: this GPU, matrices of 128 MiB, groups of "
        f"four elements. Orange: a GeForce 8800 GT, from the times that {CITED} prints in section "
        "VI-C and Table II for 512 × 512 elements.",
        data.is_roof.any()
        and "Lines: the best rate of integer additions, and the best bandwidth of DRAM; dashed and "
        "dotted: what remains if one 32-bit or one 8-bit word of each sector is used.",
    )


@figure(
    "vandenbraak_roofline", "Figure 3 of van den Braak, Mesman and Corporaal (2010), repeated",
    order=313, data=data_of_roofline, caption=caption_of_roofline,
)  # fmt: skip
def draw_roofline(data: pd.DataFrame, figure: Figure) -> None:
    wide = not in_column(figure)
    figure.set_figheight(5.4 if wide else 7.4)
    ax = figure.add_subplot()
    rates = ["additions_per_second", "published_additions_per_second"]
    kernels, roofs = data[~data.is_roof], data[data.is_roof]
    for line in kernels.to_dict("records"):
        at, rate, published = (line[name] for name in ("additions_per_byte", *rates))
        marker, face = line["_look"]
        look = {"ms": 9 if marker == "*" else 6, "ls": "", "zorder": 4, "marker": marker}
        shape = {"mfc": face} if line["valid"] else {"mfc": "none", "ls": ":"}
        (mark,) = ax.plot(at, rate, **{**look, **shape}, color="k", label=line["name"])
        _style.hover(mark, [line["_row"]])
        words = quantity(rate, "1/s") + " (invalid)" * (not line["valid"])
        note(ax, words, at, rate, bbox={"fc": "white", "lw": 0, "alpha": 0.7, "pad": 0.5})
        if pd.notna(published):
            look["mfc"] = ORANGE if face == "k" else face
            theirs(ax, at, published, [f"{line['name']}: published {CITED}"], **look)
            note(ax, quantity(published, "1/s"), at, published, color=ORANGE)
    ax.plot([], "s", color=ORANGE, label=f"GeForce 8800 GT {CITED}")
    flat = roofs[roofs.additions_per_byte.isna()].additions_per_second.min()
    for line in roofs.to_dict("records"):
        rate, sloped = line[rates[0]], pd.notna(line["additions_per_byte"])
        end = np.nanmin([RIGHT, flat / rate]) if sloped else RIGHT
        ends = [rate * LEFT, rate * end] if sloped else [rate, rate]
        ax.plot([LEFT, end], ends, color="k", ls=line["_look"], lw=1, label=line["name"])
    _style.plain_log(ax, digits=(1, 2, 5) if wide else (1,))
    ax.set_xscale("log")
    ax.set_xticks([1 / 12, 1 / 3, 1], ["1/12", "1/3", "1"])
    ax.set_xticks([], minor=True)
    si_axis(ax)
    ax.set(xlim=(LEFT, RIGHT), ylabel="additions (1/s)")
    ax.set_xlabel("additions per byte of DRAM\n(32-bit elements 1/12, 8-bit elements 1/3)")
