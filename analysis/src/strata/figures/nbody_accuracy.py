"""How right is each rung of n-body, and how right must it be?"""

from collections.abc import Sequence
from dataclasses import replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import rungs as ladder
from strata.ladder.best import Accuracy, accuracies
from strata.model import ordered

LEAST = 1e-9
"""Where an error of nothing is drawn: some systems are so small that every digit is right."""


def chart(points: Sequence[Accuracy]) -> c.Chart:
    """A mark for each case, a stroke for what is allowed, in the colour of the problem."""
    rungs = list(c.grouped(sorted(points, key=lambda one: one.order), lambda one: one.rung))
    problems = ordered((point.problem for point in points), ladder.PROBLEMS)
    step = 0.5 / len(problems)
    layers: list[c.Layer] = []
    for nth, problem in enumerate(problems):
        here = [
            (rungs.index(point.rung) + (nth - (len(problems) - 1) / 2) * step, point)
            for point in points
            if point.problem == problem
        ]
        sizes = {ladder.size_words(point.row) for _, point in here}
        look = replace(c.PROBLEM_LOOK[problem], line="", size=4)
        layers += [
            c.Series(
                marks=[
                    c.Mark(place, max(point.row.value, LEAST), valid=point.row.valid)
                    for place, point in here
                ],
                look=look, label=sizes.pop() if len(sizes) == 1 else ladder.PROBLEM_WORDS[problem],
            ),
            c.Series(
                marks=[c.Mark(place, point.bound) for place, point in here if point.bound],
                look=replace(look, marker="|", size=6),
            ),
        ]  # fmt: skip
    bounded = any(point.bound for point in points)
    panel = c.Panel(
        layers=layers, sideways=True,
        places=c.names_axis([ladder.rung_name(rung) for rung in rungs], grid=True),
        values=c.Axis(label="relative root mean square error (ratio)", scale="log",
                      text=lambda value: f"{value:.0e}".replace("e-0", "e-")),
    )  # fmt: skip
    keys = [c.Key(label="bound", look=c.Look(marker="|", size=9))] if bounded else []
    return c.one(panel, width=7.2, height=1.3 + 0.3 * len(rungs), keys=keys)


def caption(_: Sequence[Accuracy]) -> str:
    """What marks and strokes are."""
    return (
        "Accelerations of every case of a rung, at the largest size that it computed, against "
        "double precision, over the root mean square of them all. Strokes: the bound, from the "
        "roundings of 2⁻²⁴ of a term (8) and of its sum: "
        "√n in one running sum, √256 + √(n/256) in blocks; twice that with an approximate "
        "reciprocal square root (Higham 2002, 2.8 and 4.2). A case beyond it is invalid."
    )


FIGURE = Figure(
    name="nbody_accuracy",
    title="n-body: error against double precision",
    order=205,
    items=accuracies,
    chart=chart,
    caption=caption,
    columns=attributes("rung", "problem")
    | {
        "systems": lambda point: ladder.size(point.row)[0],
        "bodies": lambda point: ladder.size(point.row)[1],
    }
    | attributes(relative_rms_error="row", bound="bound")
    | attributes("valid", "case", of="row"),
    invalid=lambda point: (
        "" if point.row.valid else f"{ladder.rung_name(point.rung)} ({point.problem})"
    ),
)
