"""How long do kernels of 2010 take: original, improved by a tool, and as written today?

The application kernels of Tables I and II of van den Braak, Mesman and Corporaal (2010), at their
image sizes beside the printed times; and rotations of an image that no cache holds.
"""

from operator import attrgetter
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import GREY, POINT, hover, points, scaled
from strata.model.cases import by_case
from strata.model.units import quantity
from strata.reference import cite
from strata.run import Row, Run

METHODS = ("event_slope", "monotonic_slope")
"""Of what is drawn: on a GPU, and on a CPU."""
ANGLE = 30
"""Of the rotations beside the published ones; the paper does not say which it took."""
PUBLISHED = {
    ("dct", "original"): 3.0, ("dct", "seed_tool"): 0.75, ("dct", "seed_hand"): 48e-3,
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
    "seed_hand": ("by hand", "#CC79A7"), "mended": ("strata access mend", "#8c510a"),
    "best": ("today", "#009E73"),
    "separable": ("in two passes", "#56B4E9"), "scalar": ("one core", "#D55E00"),
    "naive": ("one core, cosines computed", "#8c510a"),
    "table": ("one core, cosines from a table", "#D55E00"),
    "vectors": ("vectors", "#0072B2"), "all_cores": ("all cores", "#009E73"),
}  # fmt: skip
"""What a form is called, and its colour."""
WAYS = {"rotation_forward": "o", "rotation_backward": "s"}


class Kernel(NamedTuple):
    """One kernel: its form and size, degrees of rotation, seconds, and bytes per second."""

    kernel: str
    form: str
    size: str
    angle: int | None
    time: Row
    bandwidth: Row
    published: float | None

    @property
    def valid(self) -> bool:
        """Whether everything known about it is valid."""
        return self.time.valid and self.bandwidth.valid

    @property
    def name(self) -> str:
        """The kernel and its form in words."""
        return f"{KERNELS[self.kernel]}, {FORMS[self.form][0]}"


COLUMNS: Columns = {
    **attributes("kernel", "form", "size", angle_degrees="angle"),
    **attributes(of="time", kernel_seconds="value", seconds_low="minimum", seconds_high="maximum"),
    **attributes(useful_bandwidth="bandwidth", published_seconds="published"),
    **attributes(_name="name", _rate="bandwidth", valid="valid"),
}


def _label(one: Kernel) -> str:
    angle = f", {one.angle}°" if one.angle is not None else ""
    return one.name + angle + ("" if one.size == "seed" else ", large")


def data(run: Run) -> pd.DataFrame:
    """Times by events, or by a CPU's clock, in the order of the paper."""
    found = []
    for kernel in KERNELS:
        for case in by_case(run.of(kernel)):
            time = case.row("kernel_time", *METHODS, provenance="timed")
            rate = case.row("useful_bandwidth", *METHODS, provenance="timed")
            form, size = case.text("form"), case.text("size")
            if time and rate and form in FORMS:
                angle = time.count("angle")
                known = PUBLISHED.get((kernel, form)) if size == "seed" else None
                found.append(Kernel(kernel, form, size, angle, time, rate, known))
    places = [*KERNELS], [*FORMS]
    found.sort(
        key=lambda one: (
            places[0].index(one.kernel), one.size != "seed", one.angle or 0,
            places[1].index(one.form),
        ),
    )  # fmt: skip
    lines = table(found, COLUMNS, row=attrgetter("time"), label=_label)
    return lines if found and len(_beside(lines)) + len(_askew(lines)) else lines[:0]


def _beside(data: pd.DataFrame) -> pd.DataFrame:
    """The kernels that are compared with the paper's."""
    angles = data.angle_degrees.isna() | (data.angle_degrees == ANGLE)
    return data[(data["size"] == "seed") & angles]


def _askew(data: pd.DataFrame) -> pd.DataFrame:
    """Rotations of images beyond the caches."""
    return data[(data["size"] == "large") & data.angle_degrees.notna()]


def caption(data: pd.DataFrame) -> str:
    """What was timed, and what the paper does not state."""
    host = data["_row"].iloc[0].backend == "host"
    beside = _beside(data)
    return prose(
        "Kernels of van den Braak, Mesman and Corporaal (2010): time of one image in a "
        "series, medians, with the range of the samples.",
        len(beside)
        and f"Published: Table {'I, an Intel Q6600' if host else 'II, a GeForce 8800 GT'} "
        f"{cite('vandenbraak2010access')}; in the paper, the times by hand equal those "
        "with its tool, except for the DCT.",
        "The paper prints no formulas; chosen here: a DCT of 256 × 256 bytes whose every "
        "coefficient is a sum over all pixels; Sobel of 1920 × 1080 bytes as |Gx| + |Gy|, at "
        "most 255, with a border of 0; rotations of the same image about its centre to the "
        f"nearest pixel, beside the paper's by {ANGLE}°; blocks of 16 × 16 threads where it "
        "had one thread per pixel.",
        host
        and (beside.kernel == "dct").any()
        and "For the DCT by direct sums, part of the coefficients was computed and its time "
        "scaled to all.",
        len(_askew(data))
        and "Bandwidth: bytes of the image, of four times L2, and of its result over the time.",
    )


@figure(
    "vandenbraak_kernels", "The kernels of van den Braak, Mesman and Corporaal (2010)", order=314,
    data=data, caption=caption,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """Times then and now, and below them the bandwidth that remains as rotations turn."""
    beside, askew = _beside(data), _askew(data)
    row = 0.24 if figure.get_figwidth() > 5 else 0.34
    tall = [row * len(beside) + 0.6] * bool(len(beside)) + [2.2] * bool(len(askew))
    figure.set_figheight(0.8 + sum(tall))
    rows = {"height_ratios": tall}
    panels = [*figure.subplots(len(tall), squeeze=False, gridspec_kw=rows)[:, 0]]
    if len(beside):
        _draw_times(panels.pop(0), beside)
    if len(askew):
        _draw_turned(panels.pop(0), askew)


def _draw_times(ax: Axes, data: pd.DataFrame) -> None:
    here = "this CPU" if data["_row"].iloc[0].backend == "host" else "this GPU"
    data = data.assign(at=[at + 0.17 for at in range(len(data))])
    points(ax, data, "kernel_seconds", "at", color="k", marker="o", ls="", label=here)
    ax.hlines(data["at"], data.seconds_low, data.seconds_high, color="k", lw=0.9)
    theirs = data[data.published_seconds.notna()]
    theirs = theirs.assign(at=theirs["at"] - 0.34)
    look: dict[str, Any] = {"color": "#b5a800", "marker": "D", "ls": "", "label": "published 2010"}
    (line,) = ax.plot(theirs.published_seconds, theirs["at"], **look)
    cited = f"{{}}, published {cite('vandenbraak2010access')}"
    hover(line, [cited.format(quantity(value, "s")) for value in theirs.published_seconds])
    for of, column in ((data, "seconds_high"), (theirs, "published_seconds")):
        for end, at in zip(of[column], of["at"], strict=True):
            value = of.kernel_seconds[of["at"] == at].iloc[0] if of is data else end
            text = quantity(value, "s")
            ax.annotate(text, (end, at), (5, 0), textcoords="offset points", va="center", size=7)
    ax.set_xscale("log")
    narrow = ax.figure.bbox.width < 5 * POINT
    ax.xaxis.set_major_locator(LogLocator(numticks=3 if narrow else 5))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: quantity(at, "s")))
    ax.xaxis.set_minor_formatter("")
    low, high = ax.get_xlim()
    ax.set(xlim=(low, high * (high / low) ** 0.2), xlabel="time of one image")
    names = [("\n".join(name.rsplit(", ", 1)) if narrow else name) for name in data["_name"]]
    ax.set_yticks(range(len(data)), names)
    ax.set(ylim=(len(data) - 0.4, -0.6), title="Sizes of the paper")
    ax.grid(axis="x")


def _draw_turned(ax: Axes, data: pd.DataFrame) -> None:
    """A colour for each form, a marker for each direction."""
    scale, unit = scaled(max(row.maximum for row in data["_rate"]), "B/s", least=1e9)
    kernel: Any
    form: Any
    for (kernel, form), here in data.groupby(["kernel", "form"], sort=False):
        words, colour = FORMS[form]
        shown = here.assign(rate=here.useful_bandwidth / scale)
        look = {"color": colour, "marker": WAYS[kernel]}
        points(ax, shown, "angle_degrees", "rate", **look)
        low, high = ([getattr(row, end) / scale for row in here["_rate"]]
                     for end in ("minimum", "maximum"))  # fmt: skip
        ax.vlines(here.angle_degrees, low, high, color=colour, lw=0.9)
        if kernel == data.kernel.iloc[0]:
            ax.plot([], color=colour, label=words)
    for kernel in data.kernel.unique():
        ax.plot([], WAYS[kernel], color=GREY, label=KERNELS[kernel])
    ax.set_xticks(sorted(data.angle_degrees.unique()))
    ax.set(xlabel="angle (degrees)", ylabel=f"useful bandwidth ({unit})", ylim=(0, None))
    ax.set_title("Rotations beyond L2")
