"""How accurate is each rung of n-body, and how accurate must it be?"""

from collections.abc import Sequence
from dataclasses import replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params
from strata.ladder.best import Accuracy, accuracies
from strata.ladder.rungs import PROBLEM_WORDS, rung_name, size_words

LEAST = 1e-9
"""Where an error of nothing is drawn: some systems are so small that every digit is right."""


def chart(points: Sequence[Accuracy]) -> c.Chart:
    """One mark per case, with a stroke for the bound, in the colour of the problem."""
    rungs = list(dict.fromkeys(one.rung for one in sorted(points, key=lambda one: one.order)))
    by_problem = c.grouped(points, lambda one: one.problem)
    step = 0.5 / len(by_problem)
    layers = []
    for nth, (problem, here) in enumerate(by_problem.items()):
        off = (nth - (len(by_problem) - 1) / 2) * step
        placed = [(rungs.index(one.rung) + off, one) for one in here]
        sizes = {size_words(one.row) for one in here}
        label = sizes.pop() if len(sizes) == 1 else PROBLEM_WORDS[problem]
        look = replace(c.PROBLEM_LOOK[problem], line="", size=4)
        rows = [(at, one.row) for at, one in placed]
        errors = [c.Mark(at, max(row.value, LEAST), valid=row.valid, row=row) for at, row in rows]
        bounds = [c.Mark(at, one.bound, told=f"bound: {one.bound:.2g}") for at, one in placed]
        layers.append(c.Series(errors, look, label))
        layers.append(c.Series(bounds, replace(look, marker="|", size=6)))
    places = c.names_axis([rung_name(rung) for rung in rungs], grid=True)
    label = "relative root mean square error (ratio)"
    values = c.Axis(label, "log", text=lambda value: f"{value:.0e}".replace("e-0", "e-"))
    keys = [c.Key("bound", c.Look(marker="|", size=9))]
    panel = c.Panel(layers, places, values, sideways=True)
    return c.Chart([[panel]], 7.2, 1.3 + 0.3 * len(rungs), keys=keys)


FIGURE = Figure(
    "nbody_accuracy", "n-body: error against double precision", 224, accuracies, chart,
    lambda _: (
        "Root mean square error of the accelerations of every case of a rung, at its largest "
        "computed size, against double precision and relative to the root mean square of all. "
        "Strokes: the bound, from the roundings of 2⁻²⁴ of a term (8) and of its sum: √n in "
        "one running sum, √256 + √(n/256) in blocks; twice that with an approximate "
        "reciprocal square root (Higham 2002, 2.8 and 4.2). A case beyond it is invalid."
    ),
    attributes("rung", "problem")
    | params("systems", "bodies", of="row")
    | attributes(relative_rms_error="row", bound="bound"),
    label=lambda one: f"{rung_name(one.rung)} ({one.problem})",
)  # fmt: skip
