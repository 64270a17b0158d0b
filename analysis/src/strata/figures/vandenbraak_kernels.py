"""How long do kernels of 2010 take: original, improved by a tool, and as written today?

The application kernels of Tables I and II of van den Braak, Mesman and Corporaal (2010), at their
image sizes beside the printed times; and rotations of an image that no cache holds.
"""

from collections.abc import Sequence
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model.cases import by_case
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


def items(run: Run) -> Sequence[Kernel]:
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
    if not (_beside(found) or _askew(found)):
        return ()
    places = [*KERNELS], [*FORMS]
    return sorted(
        found,
        key=lambda one: (
            places[0].index(one.kernel), one.size != "seed", one.angle or 0,
            places[1].index(one.form),
        ),
    )  # fmt: skip


def _beside(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The kernels that are compared with the paper's."""
    return [one for one in kernels if one.size == "seed" and one.angle in (None, ANGLE)]


def _askew(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Rotations of images beyond the caches."""
    return [one for one in kernels if one.size == "large" and one.angle is not None]


def chart(kernels: Sequence[Kernel]) -> c.Chart:
    """Times then and now, and beside them the bandwidth that remains as rotations turn."""
    panels = [panel for panel in (_times(kernels), _turned(kernels)) if panel]
    rows = c.wrapped(panels, 2)
    return c.Chart(rows, 9.2, 0.9 + 0.26 * max(10, len(_beside(kernels))), legend_columns=4)


def _times(kernels: Sequence[Kernel]) -> c.Panel | None:
    shown = _beside(kernels)
    if not shown:
        return None
    here = "this CPU" if shown[0].time.backend == "host" else "this GPU"
    own = [
        c.mark(at + 0.17, one.time, words=c.seconds(one.time.value)) for at, one in enumerate(shown)
    ]
    cited = f"{{}}, published {cite('vandenbraak2010access')}".format
    theirs = [
        c.Mark(at - 0.17, one.published, words=(said := c.seconds(one.published)), told=cited(said))
        for at, one in enumerate(shown)
        if one.published
    ]
    layers = [
        c.Series(own, c.Look(marker="o", size=5), here, "bar"),
        c.Series(theirs, c.Look("#b5a800", "D", size=5.5), "published 2010"),
    ]
    names = c.names_axis([one.name for one in shown])
    values = c.Axis("time of one image", "log", text=c.seconds, room=0.16)
    return c.Panel(layers, names, values, "Sizes of the paper", sideways=True)


def _turned(kernels: Sequence[Kernel]) -> c.Panel | None:
    shown = _askew(kernels)
    if not shown:
        return None
    scale, unit = c.scaled(max(one.bandwidth.maximum for one in shown), "B/s", least=1e9)
    looks = {
        (kernel, form): (f"{KERNELS[kernel]}, {words}", c.Look(colour, marker, "-", size=4.2))
        for kernel, marker in WAYS.items()
        for form, (words, colour) in FORMS.items()
    }
    layers = c.by_look(
        shown,
        lambda one: (one.kernel, one.form),
        looks,
        lambda one: c.mark(one.angle or 0, one.bandwidth, scale),
        spread="bar",
    )
    places = c.Axis("angle (degrees)", ticks=sorted({one.angle or 0 for one in shown}))
    values = c.Axis(f"useful bandwidth ({unit})", zero=True)
    return c.Panel(layers, places, values, "Rotations beyond four times L2")


def _caption(kernels: Sequence[Kernel]) -> str:
    host = kernels[0].time.backend == "host"
    beside = _beside(kernels)
    return prose(
        "Kernels of van den Braak, Mesman and Corporaal (2010): time of one image in a "
        "series, medians, with the range of the samples.",
        beside
        and f"Published: Table {'I, an Intel Q6600' if host else 'II, a GeForce 8800 GT'} "
        f"{cite('vandenbraak2010access')}; in the paper, the times by hand equal those "
        "with its tool, except for the DCT.",
        "The paper prints no formulas; chosen here: a DCT of 256 × 256 bytes whose every "
        "coefficient is a sum over all pixels; Sobel of 1920 × 1080 bytes as |Gx| + |Gy|, at "
        "most 255, with a border of 0; rotations of the same image about its centre to the "
        f"nearest pixel, on the left by {ANGLE}°; blocks of 16 × 16 threads where it had one "
        "thread per pixel.",
        host
        and any(one.kernel == "dct" for one in beside)
        and "For the DCT by direct sums, part of the coefficients was computed and its time "
        "scaled to all.",
        _askew(kernels) and "Bandwidth: bytes of the image and of its result over the time.",
    )


FIGURE = Figure(
    "vandenbraak_kernels", "The kernels of van den Braak, Mesman and Corporaal (2010)", 314, items,
    chart, _caption,
    attributes("kernel", "form", "size", angle_degrees="angle")
    | attributes(of="time", kernel_seconds="value", seconds_low="minimum", seconds_high="maximum")
    | attributes(useful_bandwidth="bandwidth", published_seconds="published"),
    row=lambda one: one.time,
    label=lambda one: one.name + (f", {one.angle}°" if one.angle is not None else "")
    + ("" if one.size == "seed" else ", large"),
)  # fmt: skip
