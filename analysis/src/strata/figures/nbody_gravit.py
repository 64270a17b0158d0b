"""What does each step bring to Gravit, from the copy to the GPU to the copy back?

Siegel, Ributzka and Li (2009, Fig. 12), redone: levels of optimisation at several problem sizes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import rungs as ladder
from strata.ladder.best import Copied, copied
from strata.ladder.seeds import GRAVIT_BASE, GRAVIT_GAINS, GRAVIT_SERIAL
from strata.model import units
from strata.run import Run

LOOKS: Mapping[str, c.Look] = {
    rung: c.Look(colour=colour, marker=marker, line="-", size=4.5)
    for rung, colour, marker in (
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


def items(run: Run) -> Sequence[Copied]:
    """One item per rung and number of particles."""
    return [one for one in copied(run) if one.rung in LOOKS]


def gains(points: Sequence[Copied]) -> Mapping[str, Sequence[tuple[int, float]]]:
    """Speed over the paper's first GPU code by rung: particles, and how many times as fast.

    Copies included, valid steps alone; empty without that code.
    """
    valid = [point for point in points if point.row.valid]
    base = {point.bodies: point.row.value for point in valid if point.rung == GRAVIT_BASE}
    found = [point for point in valid if point.rung != GRAVIT_BASE and point.bodies in base]
    return {
        rung: [(point.bodies, base[point.bodies] / point.row.value) for point in here]
        for rung, here in c.grouped(found, lambda point: point.rung).items()
    }


def chart(points: Sequence[Copied]) -> c.Chart:
    """The time of a step, how much of it is not the kernel, and the speed over the first code."""
    times: list[c.Layer] = []
    shares: list[c.Layer] = []
    for rung, here in c.grouped(points, lambda point: point.rung).items():
        time = [c.mark(point.bodies, point.row, 1e-3) for point in here]
        share = [c.Mark(point.bodies, 100 * point.outside) for point in here if point.valid]
        look, label = LOOKS[rung], ladder.rung_name(rung)
        times.append(c.Series(marks=time, look=look, label=label, spread="band"))
        shares.append(c.Series(marks=share, look=look))
    sizes: list[int] = []
    for size in sorted({point.bodies for point in points}):
        if not sizes or size >= 1.4 * sizes[-1]:  # apart enough for their labels
            sizes.append(size)
    places = c.Axis(label="particles", scale="log", ticks=sizes, text=units.short, room=0.12)
    layered: list[tuple[list[c.Layer], c.Axis]] = [
        (times, c.Axis(label="a step, copies included (ms)", scale="log")),
        (shares, c.Axis(label="of it not the kernel (%)", zero=True)),
    ]
    faster = gains(points)
    if faster:
        speeds: list[c.Layer] = [
            c.Series(marks=[c.Mark(*one) for one in line], look=LOOKS[rung])
            for rung, line in faster.items()
        ]
        edge = 0.91 * min(point.bodies for point in points)
        speeds += [
            c.Series(
                marks=[c.Mark(edge, gain)], label=f"8800 GTX: {what}",
                look=replace(c.THEIRS, marker=marker),
            )
            for (what, gain), marker in zip(GRAVIT_GAINS, ("P", "D"), strict=True)
        ]  # fmt: skip
        speeds.append(c.Rule(at=1, look=c.Look(line="-", width=0.8, colour=c.GREY)))
        label = f"speed over {ladder.rung_name(GRAVIT_BASE)} (×)"
        layered.append((speeds, c.Axis(label=label, zero=True)))
    rows = [[c.Panel(layers=layers, places=places, values=axis)] for layers, axis in layered]
    return c.Chart(rows=rows, width=7.2, height=2.7 * len(rows), legend="beside")


def caption(points: Sequence[Copied]) -> str:
    """What the lines are."""
    listed = ", ".join(f"{gain:.2f} times ({what})" for what, gain in GRAVIT_GAINS)
    lowest = (
        f" Lowest: speed over {ladder.rung_name(GRAVIT_BASE)}, which is their first GPU code, at "
        "the same number of particles; open marks: theirs."
        if gains(points)
        else ""
    )
    return (
        f"After Figure 12 of Siegel et al. 2009 {reference.cite('siegel2009gravit')}, "
        "levels of optimisation at several problem sizes: "
        "the far-field force of Gravit once, by the best case of some rungs, from the copy of all "
        "particles to the GPU to that of their accelerations back, by the host's clock. Lines: "
        "medians; bands: range of the samples. Beneath: what is left of that time without the "
        f"kernel's own.{lowest} On an 8800 GTX they came from their first GPU code to {listed} its "
        f"speed, and to {GRAVIT_SERIAL} times that of a serial CPU; other values of theirs are "
        "drawn without numbers."
    )


FIGURE = Figure(
    name="nbody_gravit",
    title="n-body: Gravit's step, copies included (Siegel et al. 2009, Figure 12)",
    order=206,
    items=items,
    chart=chart,
    caption=caption,
    columns=attributes(rung="rung", particles="bodies")
    | attributes(of="row", copied_step_time_seconds="value", low="minimum", high="maximum")
    | attributes(kernel_seconds="kernel")
    | attributes("valid", "case", of="row"),
    invalid=lambda point: (
        "" if point.row.valid else f"{ladder.rung_name(point.rung)}, {units.count(point.bodies)}"
    ),
)
