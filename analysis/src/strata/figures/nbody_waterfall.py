"""What did each n-body step gain, what was predicted, and which factors explain it?"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.ladder.rungs import PROBLEM_WORDS, rung_name, size_words
from strata.ladder.steps import FACTORS, RULE_WORDS, Change, changes
from strata.model.units import factor

COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#F0E442", "#CC79A7")
"""Of the factors, in their order."""
REST = {
    "unexplained": ("unexplained", c.Look(hollow=True, hatch="//////")),
    "uncounted": ("not counted", c.Look(colour=c.GREY, hollow=True, line="--")),
}
THICK = 0.5
"""Of a bar, of the distance to the next."""
LEAST = 1.01
"""A factor nearer to 1 is narrower than a line."""


def segments(change: Change) -> list[tuple[str, float, float]]:
    """The factors of a step as sections of a logarithmic axis: name, from, to.

    Speed-ups go right from 1, one after the other; slow-downs go left. The last one is the rest:
    `unexplained`, or `uncounted` if instructions or issue rate are unknown.
    """
    parts = [(name, change.factors[name]) for name in FACTORS if name in change.factors]
    if change.unexplained is not None:
        parts.append(("unexplained" if change.counted else "uncounted", change.unexplained))
    ends, result = {True: 1.0, False: 1.0}, []
    for name, value in parts:
        start = ends[value >= 1]
        ends[value >= 1] *= value
        result.append((name, start, ends[value >= 1]))
    return result


def _rates(title: str, steps: Sequence[Change]) -> c.Panel:
    """From the previous rate to the new one."""
    scale, unit = c.per_second(one.after.value for one in steps)
    bars: dict[bool, list[c.Mark]] = {True: [], False: []}
    strokes, predicted, words = [], [], []
    for place, one in enumerate(steps):
        old, gain, said = one.before.value / scale, one.measured, factor(one.measured)
        ends = (old * gain, old * one.low, old * one.high)
        bars[gain >= 1].append(c.Mark(place, *ends, start=old, row=one.after))
        strokes.append(c.Mark(place, old, row=one.before))
        right = old * max(1, gain, one.high)
        if one.prediction:
            told = f"predicted: {factor(one.prediction.value)}, {RULE_WORDS[one.prediction.rule]}"
            predicted.append(c.Mark(place, old * one.prediction.value, told=told))
            right = max(right, old * one.prediction.value)
            said += f" ({factor(one.prediction.value)})"
        words.append(c.Mark(place, right, words=said))
    layers: list[c.Layer] = [
        c.Bars(bars[faster], c.Look(colour), label, "bar", THICK)
        for faster, label, colour in ((True, "faster", "#009E73"), (False, "slower", "#D55E00"))
    ]
    layers.append(c.Series(strokes, c.Look(marker="|", size=11)))
    if predicted:
        diamond = c.Look(marker="D", size=4.2, hollow=True)
        layers.append(c.Series(predicted, diamond, "predicted", order=3))
    layers.append(c.Series(words, c.Look(), words_size=7))
    names = [f"{rung_name(one.rung)}\nover {rung_name(one.before.benchmark)}" for one in steps]
    places, values = c.names_axis(names, size=6.3), c.Axis(f"interactions ({unit})", "log")
    return c.Panel(layers, places, values, title, sideways=True)


def _factors(steps: Sequence[Change]) -> c.Panel:
    """The measured factor of each step as a product of known factors."""
    known = zip(FACTORS.items(), COLOURS, strict=True)
    looks = {name: (words, c.Look(colour)) for (name, words), colour in known} | REST
    bars: dict[str, list[c.Mark]] = {}
    beside: list[tuple[float, str, str]] = []
    for place, one in enumerate(steps):
        for name, start, end in segments(one):
            if max(end / start, start / end) >= LEAST:
                told = f"{rung_name(one.rung)}, {looks[name][0]}: {factor(end / start)}"
                bars.setdefault(name, []).append(c.Mark(place, end, start=start, told=told))
        if one.counted and one.unexplained is not None:
            beside.append((place, factor(one.unexplained), c.INK))
        else:
            beside.append((place, "not counted", c.GREY))
    drawn = [
        c.Bars(bars[name], look, words, thick=THICK)
        for name, (words, look) in looks.items()
        if name in bars
    ]
    measured = [f"{rung_name(one.rung)}, measured: {factor(one.measured)}" for one in steps]
    strokes = [c.Mark(at, one.measured, told=measured[at]) for at, one in enumerate(steps)]
    stroke = c.Series(strokes, c.Look(marker="|", size=12), "measured factor", order=3)
    layers: list[c.Layer] = [c.Rule(1, c.Look(line="-", width=0.7)), *drawn, stroke]
    places = c.names_axis([""] * len(steps))
    values = c.Axis("factors of the step (×)", "log")
    head = (-0.85, "unexplained", c.INK)
    return c.Panel(layers, places, values, sideways=True, beside=[*beside, head])


def chart(steps: Sequence[Change]) -> c.Chart:
    """One row per problem and size: rates, and beside them the factors of each step, if any."""
    problems = c.grouped(
        steps, lambda one: f"{PROBLEM_WORDS[one.problem]}, {size_words(one.after)}"
    )
    apart = any(one.factors for one in steps)  # not on a CPU
    rows = []
    for problem, here in problems.items():
        left = _rates(problem, here)
        rows.append([left, _factors(here)] if apart else [left])
    heights = [0.75 + 0.34 * len(here) for here in problems.values()]
    width, height = 8.6 if apart else 6.4, 0.9 + sum(heights)
    return c.Chart(rows, width, height, legend_columns=5, heights=heights)


def _caption(steps: Sequence[Change]) -> str:
    rules = dict.fromkeys(one.prediction.rule for one in steps if one.prediction)
    by_rules = "; ".join(RULE_WORDS[rule] for rule in rules)
    predicted = f", and in brackets the predicted one (diamonds). Predicted: {by_rules}"
    return prose(
        "Each bar runs from the rate of the changed rung (stroke) to that of the new rung, "
        "both for one problem and size and, where possible, one layout; lines at the ends: "
        "range that the 95 % intervals of both rates allow. Numbers: the measured factor"
        f"{predicted if rules else ''}.",
        any(one.factors for one in steps)
        and "Right: the measured factor as a product: fewer instructions per interaction and "
        "more of them per cycle of an active SM (both counted), more active SMs (counted, "
        "or from the blocks of a launch), the clock (timed); the remainder is "
        "unexplained. Speed-ups go to the right, slow-downs to the left.",
        f"Sizes: {', '.join(dict.fromkeys(size_words(one.after) for one in steps))}.",
    )


FIGURE = Figure(
    "nbody_waterfall", "The steps of the n-body ladder", 220, changes, chart, _caption,
    attributes("problem")
    | params("systems", "bodies", of="after")
    | attributes(
        rung="rung", over="before.benchmark", interactions_per_second_before="before",
        interactions_per_second="after", factor="measured", low="low", high="high",
    )
    | attributes(of="prediction", predicted="value", predicted_by="rule")
    | {f"factor_{name}": lambda one, name=name: one.factors.get(name) for name in FACTORS}
    | attributes("unexplained", case_before="before.case", case="after.case"),
    row=lambda one: one.after,
)  # fmt: skip
