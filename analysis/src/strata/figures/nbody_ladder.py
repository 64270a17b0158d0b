"""What does each rung of the n-body ladder gain, and how far is it from its limit?"""

from collections.abc import Sequence
from dataclasses import replace

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.ladder import rungs
from strata.ladder.best import Best, best_cases, common_size, published
from strata.ladder.rungs import PROBLEM_WORDS, SEVERAL, rung_name, size, size_words
from strata.model import units

SERIAL = "serial"
LANE = 0.16
"""From the middle of a bar to the lane of other cases, of the distance of two bars."""
FAR = 1.25
"""A limit of more than this over the best rate has no place on the axis."""
_PAIRS = {rungs.ONCE: "each pair\nonce", rungs.TENSOR: "on tensor\ncores"}
"""How a rung computes a pair; the others do it twice."""


def _rate(value: float) -> str:
    return units.significant(value) if value >= 0.9995 else f"{value:.3f}"


def _words(step: Best, steps: Sequence[Best], scale: float) -> str:
    """The words beside a bar: rate, step, on a CPU all steps, and the best setting."""
    row, here = step.row, size_words(step.row)
    far = [one for one in (step.limit,) if one and one.value > _reach(steps)]
    limit = "".join(f"limit {_rate(one.value / scale)}" for one in far)
    size_of = here if here != common_size(steps) else ""
    where = [word for word in (step.chosen, size_of, limit) if word]
    words = _rate(row.value / scale)
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {rung_name(step.before.benchmark)}"
    serial = next((one.row for one in steps if one.rung == SERIAL and one.row.valid), None)
    apart = step.before and step.before.benchmark != SERIAL and row.valid
    if serial and apart and size(serial) == size(row):
        words += f"   {units.factor(row.value / serial.value)} {SERIAL}"
    return words + (f"   ({'; '.join(where)})" if where else "")


def _second_sizes(steps: Sequence[Best]) -> str:
    """The sizes of the diamonds."""
    return " or ".join(dict.fromkeys(size_words(step.second) for step in steps if step.second))


def chart(steps: Sequence[Best]) -> c.Chart:
    """Bars from zero in ladder order, with other cases in lanes; below them published values.

    The axis ends near the best rate: a limit far beyond it is an arrowhead at its edge, and words.
    """
    scale, unit = c.per_second(step.row.value for step in steps)
    others = _others(steps)
    numbered = list(enumerate(steps))
    bars = [c.mark(place, step.row, scale) for place, step in numbered]
    found = [c.mark(at + LANE, step.other, scale) for at, step in numbered if step.other]
    seconds = [c.mark(at - LANE, step.second, scale) for at, step in numbered if step.second]
    limits = [c.mark(at, step.limit, scale) for at, step in numbered if step.limit]
    theirs = [
        c.Mark(at, one.rate / scale, told=f"{_rate(one.rate / scale)} {unit}, {_cited(one)}")
        for at, one in enumerate(others, start=len(steps))
    ]
    near = [one for one in limits if one.value * scale <= _reach(steps)]
    far = [one for one in limits if one not in near]
    end = 1.05 * max(mark.furthest for mark in (*bars, *found, *seconds, *theirs, *near))
    highest: dict[str, float] = {}
    for step in steps:
        if step.limit:
            what = _PAIRS.get(step.rung, "each pair\ntwice")
            highest[what] = max(step.limit.value / scale, highest.get(what, 0))
    words = [_words(step, steps, scale) for step in steps]
    words += [f"{_rate(one.rate / scale)}{_bodies(one, '   ({})')}" for one in others]
    beside = [(float(place), text, c.INK) for place, text in enumerate(words)]
    other = next((step.other.text("problem") for step in steps if step.other), "single")
    drawn: list[c.Series | c.Bars] = [
        c.Bars(bars, c.Look("#0072B2"), common_size(steps), "bar"),
        c.Series(seconds, c.Look("#56B4E9", "D", size=3.4), _second_sizes(steps), order=3),
        c.Series(found, c.Look("#E69F00", "o", size=3.8), PROBLEM_WORDS[other], order=3),
        c.Series(near, c.Look(marker="|", size=11), "issue limit"),
        c.Series([replace(one, value=0.987 * end) for one in far], c.Look(marker=">", size=5)),
        c.Series(theirs, c.THEIRS, "others' code"),
    ]
    layers: list[c.Layer] = [one for one in drawn if one.marks]
    layers += [c.Rule(at, words=what) for what, at in highest.items() if at <= end]
    names = [rung_name(step.rung) for step in steps] + [one.label for one in others]
    values = c.Axis(f"interactions ({unit})", limits=(0, end))
    panel = c.Panel(layers, c.names_axis(names), values, sideways=True, beside=beside)
    return c.Chart([[panel]], 8.4, 1.5 + 0.3 * len(names))


def _reach(steps: Sequence[Best]) -> float:
    """The highest rate that has a place on the axis."""
    return FAR * max(row.value for one in steps for row in (one.row, one.other, one.second) if row)


def _others(steps: Sequence[Best]) -> Sequence[reference.PublishedRate]:
    """Published rates at the size of most rungs, if measured there."""
    row = next(step.row for step in steps if size_words(step.row) == common_size(steps))
    return published(row.device, size(row)[1])


def _bodies(one: reference.PublishedRate, words: str) -> str:
    return words.format(f"{units.count(one.bodies)} bodies") if one.bodies else ""


def _cited(one: reference.PublishedRate) -> str:
    bodies = _bodies(one, "; {}")
    doubt = f"; in doubt: {one.origin.doubt}" if one.origin.doubt else ""
    source = f"{one.origin.text}; {one.origin.locator}) {reference.cite(*one.origin.keys)}"
    return f"{one.label} ({one.implementation}{bodies}{doubt}; {source}"


def _caption(steps: Sequence[Best]) -> str:
    common = common_size(steps)
    known = {step.rung: size_words(step.row) for step in steps}
    odd = "; ".join(f"{rung_name(rung)} {here}" for rung, here in known.items() if here != common)
    others = [step.other for step in steps if step.other]
    sizes = ", ".join(dict.fromkeys(size_words(row) for row in others))
    theirs = "; ".join(map(_cited, _others(steps)))
    return prose(
        "Pairs computed per second, N² for each system and step including self-interaction, "
        "as in the literature. Bars: medians of each rung's best case, all of one size where "
        "possible; lines in them: range of the samples. Beside them: the rate, the gain over "
        "the rung that it changes, and in brackets the best case.",
        odd and f"Of another size: {odd}.",
        others and f"Circles: {PROBLEM_WORDS[others[0].text('problem')]} ({sizes}).",
        any(step.second for step in steps) and f"Diamonds: {_second_sizes(steps)}.",
        any(step.limit for step in steps)
        and "Strokes: what the instructions of a rung's inner loop allow if a warp issues in "
        "every cycle of the clock under this load, or what its reciprocal roots allow if "
        "they take longer; dotted: the highest of them for each way to compute a pair.",
        any(step.limit.value > _reach(steps) for step in steps if step.limit)
        and "Arrowheads: limits beyond the axis, in brackets.",
        theirs and f"Other codes: {theirs}.",
    )


FIGURE = Figure(
    "nbody_ladder", "The n-body ladder", 200,
    # Several GPUs have their own figure, and on one GPU they are not a separate rung.
    lambda run: [step for step in best_cases(run, alike=True) if step.rung not in SEVERAL],
    chart, _caption,
    attributes("rung")
    | params("systems", "bodies", of="row")
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes(valid="row.valid")
    | attributes(of="before", rung_before="benchmark")
    | attributes(
        speedup_over_it="speedup", issue_limit="limit",
        other_problem_interactions_per_second="other",
        other_size_interactions_per_second="second", case="row.case",
    ),
    label=lambda step: rung_name(step.rung),
)  # fmt: skip
