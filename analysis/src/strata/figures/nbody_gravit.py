"""What does each step gain for Gravit, including the copies to and from the GPU?

Siegel, Ributzka and Li (2009, Fig. 12), redone: optimisation levels at several problem sizes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.ladder.best import Copied, copied
from strata.ladder.rungs import rung_name
from strata.ladder.seeds import GRAVIT_BASE, GRAVIT_GAINS, GRAVIT_SERIAL
from strata.model.units import count, short

LOOKS = {
    name: c.Look(colour=colour, marker=marker, line="-", size=4.5)
    for name, colour, marker in (
        ("naive", "#D55E00", "o"),
        ("tiled", "#E69F00", "s"),
        ("fast_math", "#56B4E9", "^"),
        ("unrolled", "#0072B2", "D"),
        ("invariants", "#7a7a7a", "v"),
        ("block_size", "#009E73", "P"),
        ("register_banks", "#CC79A7", "X"),
        ("pair_once", "#262626", "*"),
    )
}
"""Of the rungs that are drawn: those of the paper, and what came after it."""
DODGE = 0.012
"""Of the width between the ends: the distance of the marks of two rungs."""
OPEN = (replace(c.THEIRS, marker="P"), replace(c.THEIRS, marker="D"))
"""Of what the paper gained."""


def gains(points: Sequence[Copied]) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Speed-up over the paper's first GPU code by rung: particles, and the factor.

    Including copies, valid steps only; empty without that code.
    """
    valid = [point for point in points if point.row.valid]
    base = {point.bodies: point.row.value for point in valid if point.rung == GRAVIT_BASE}
    found = [point for point in valid if point.rung != GRAVIT_BASE and point.bodies in base]
    return {
        rung: [(point.bodies, base[point.bodies] / point.row.value) for point in here]
        for rung, here in c.grouped(found, lambda point: point.rung).items()
    }


def chart(points: Sequence[Copied]) -> c.Chart:
    """The time of a step, the part outside the kernel, and the speed-up over the first code."""
    times, shares = [], []
    faster = gains(points)
    ends = (min(point.bodies for point in points), max(point.bodies for point in points))
    wide = max(ends[1] / ends[0], 3.0)
    apart = {rung: wide ** (DODGE * (at - len(LOOKS) / 2)) for at, rung in enumerate(LOOKS)}
    for rung, here in c.grouped(points, lambda point: point.rung).items():
        time = [c.mark(point.bodies * apart[rung], point.row, 1e-3) for point in here]
        outside = [(point, point.outside) for point in here]
        share = [
            c.Mark(point.bodies * apart[rung], 100 * part, row=point.row)
            for point, part in outside
            if part is not None
        ]
        times.append(c.Series(time, LOOKS[rung], rung_name(rung), "band"))
        shares.append(c.Series(share, LOOKS[rung]))
    sizes: list[int] = []
    for size in sorted({point.bodies for point in points}):
        if not sizes or size >= 1.4 * sizes[-1]:  # far enough apart for their labels
            sizes.append(size)
    # Published values are at the left edge: their numbers of particles are unknown.
    edge = ends[0] / wide**0.14
    reach = ((edge if faster else ends[0]) / wide**0.1, ends[1] * wide**0.1)
    places = c.Axis("particles", "log", reach, ticks=sizes, text=short)
    panels = [
        c.Panel(times, places, c.Axis("a step, copies included (ms)", "log")),
        c.Panel(shares, places, c.Axis("of it not the kernel (%)", zero=True)),
    ]
    if faster:
        ours = [
            c.Series([c.Mark(at * apart[rung], by, told=told(by)) for at, by in line], LOOKS[rung])
            for rung, line in faster.items()
            for told in [f"{rung_name(rung)}: {{:.2f}}× {rung_name(GRAVIT_BASE)}".format]
        ]
        theirs = [
            c.Series([c.Mark(edge * wide**at, gain, told=f"{name}, {gain:.2f}×")], look, name)
            for (what, gain), look, at in zip(GRAVIT_GAINS, OPEN, (-DODGE, DODGE), strict=True)
            for name in [f"8800 GTX: {what}"]
        ]
        rule = c.Rule(1, c.Look(line="-", width=0.8, colour=c.GREY))
        values = c.Axis(f"speed over {rung_name(GRAVIT_BASE)} (×)", zero=True)
        named = replace(
            places, ticks=[edge, *sizes], names=["theirs", *map(short, sizes)], grid=False
        )
        panels.append(c.Panel([*ours, *theirs, rule], named, values))
    return c.Chart([[panel] for panel in panels], 7.2, 2.7 * len(panels), "beside")


def _caption(points: Sequence[Copied]) -> str:
    listed = ", ".join(f"{gain:.2f} times ({what})" for what, gain in GRAVIT_GAINS)
    return prose(
        f"After Figure 12 of Siegel et al. 2009 {reference.cite('siegel2009gravit')}, levels "
        "of optimisation at several problem sizes: the far-field force of Gravit once, by the "
        "best case of some rungs, from the copy of all particles to the GPU to the copy of "
        "their accelerations back, by the host's clock. Lines: medians; bands: range of the "
        "samples. Below: that time without the kernel. Rungs are set apart sideways to stay "
        "visible.",
        gains(points)
        and f"Bottom: speed over {rung_name(GRAVIT_BASE)}, which is their first GPU code, at "
        "the same number of particles; open marks: theirs.",
        f"On an 8800 GTX they improved their first GPU code to {listed} its speed, and to "
        f"{GRAVIT_SERIAL} times a serial CPU; their other values are drawn without numbers.",
    )


FIGURE = Figure(
    "nbody_gravit", "n-body: Gravit's step, copies included (Siegel et al. 2009, Figure 12)", 320,
    lambda run: [one for one in copied(run) if one.rung in LOOKS], chart, _caption,
    attributes(rung="rung", particles="bodies", copied_step_time_seconds="row")
    | attributes(low="row.minimum", high="row.maximum", kernel_seconds="kernel"),
    label=lambda one: f"{rung_name(one.rung)}, {count(one.bodies)}",
)  # fmt: skip
