"""What does each rung of the n-body ladder bring, and how far is it from what can be?"""

from collections.abc import Sequence

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params
from strata.ladder.best import Best, best_cases, common_size, published
from strata.ladder.rungs import ONCE, PROBLEM_WORDS, gpus, rung_name, size, size_words
from strata.model import units

SERIAL = "serial"


def _rate(value: float) -> str:
    return units.significant(value) if value >= 0.9995 else f"{value:.3f}"


def _words(step: Best, steps: Sequence[Best], scale: float) -> str:
    """What stands beside a bar: rate, where it was best, the step, on a CPU all steps."""
    row, here = step.row, size_words(step.row)
    where = [told for told in (step.chosen, here if here != common_size(steps) else "") if told]
    words = _rate(row.value / scale) + (f" ({'; '.join(where)})" if where else "")
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {rung_name(step.before.benchmark)}"
    serial = next((one.row for one in steps if one.rung == SERIAL and one.row.valid), None)
    apart = step.before and step.before.benchmark != SERIAL and row.valid
    if serial and apart and size(serial) == size(row):
        words += f"   {units.factor(row.value / serial.value)} {SERIAL}"
    return words


def chart(steps: Sequence[Best]) -> c.Chart:
    """Bars from zero in the order of the ladder; beneath them what others published."""
    scale, unit = 1e9, "10⁹/s"
    if max(step.row.value for step in steps) >= 0.1e12:  # a GPU's
        scale, unit = 1e12, "10¹²/s"
    others = published(steps[0].row.device)
    bars, words, found, limits = [], [], [], []
    highest: dict[str, float] = {}
    for place, step in enumerate(steps):
        bars.append(c.mark(place, step.row, scale))
        end = max(row.value / scale for row in (step.limit, step.other, step.row) if row)
        beside = _words(step, steps, scale)
        words.append(c.Mark(place, end, high=step.row.maximum / scale, words=beside))
        if step.other:
            found.append(c.Mark(place, step.other.value / scale))
        if step.limit:
            limit, what = step.limit.value / scale, "once" if step.rung == ONCE else "twice"
            limits.append(c.Mark(place, limit))
            highest[f"each pair {what}"] = max(limit, highest.get(f"each pair {what}", 0))
    theirs = [
        c.Mark(place, one.rate / scale, words=_rate(one.rate / scale))
        for place, one in enumerate(others, start=len(steps))
    ]
    circle, stroke = c.Look(marker="o", size=4.4, hollow=True), c.Look(marker="|", size=11)
    other = next((step.other.text("problem") for step in steps if step.other), "single")
    drawn: list[c.Series | c.Bars] = [
        c.Bars(marks=bars, look=c.Look(colour="#0072B2"), label=common_size(steps), spread="bar"),
        c.Series(marks=words, look=c.Look(), words_size=7.5),
        c.Series(marks=found, look=circle, label=PROBLEM_WORDS[other], order=3),
        c.Series(marks=limits, look=stroke, label="issue limit"),
        c.Series(marks=theirs, look=c.THEIRS, label="others' code", words_size=7.5),
    ]
    layers: list[c.Layer] = [one for one in drawn if one.marks]
    layers += [c.Rule(at=at, words=what) for what, at in highest.items()]
    names = [rung_name(step.rung) for step in steps] + [one.label for one in others]
    panel = c.Panel(
        layers=layers, sideways=True, places=c.names_axis(names),
        values=c.Axis(label=f"interactions ({unit})", zero=True),
    )  # fmt: skip
    return c.one(panel, width=8.4, height=1.5 + 0.3 * len(names))


def caption(steps: Sequence[Best]) -> str:
    """What bars, marks and words are, and where the published rates come from."""
    words = (
        "Pairs computed in a second, N² of each system and step, a body with itself included, as "
        "the peers count. Bars: medians of the best case of each rung, in brackets where it was "
        "best; lines in them: range of the samples; then the step over the rung that it changes, "
        "at the largest size that both have."
    )
    known = {step.rung: size_words(step.row) for step in steps}
    common = common_size(steps)
    odd = [f"{rung_name(rung)} {here}" for rung, here in known.items() if here != common]
    if odd:
        words += f" Of another size: {'; '.join(odd)}."
    others = [step.other for step in steps if step.other]
    if others:
        sizes = ", ".join(dict.fromkeys(size_words(row) for row in others))
        words += f" Circles: {PROBLEM_WORDS[others[0].text('problem')]} ({sizes})."
    if any(step.limit for step in steps):
        words += (
            " Strokes: what the instructions of a rung's inner loop allow if a warp issues in "
            "every cycle of the clock under this load; dotted: the highest of them for code that "
            "computes each pair twice, and once."
        )
    theirs = published(steps[0].row.device)
    if theirs:
        listed = "; ".join(
            f"{one.label} ({one.implementation}"
            + (f"; {units.count(one.bodies)} bodies" if one.bodies else "")
            + (f"; in doubt: {one.origin.doubt}" if one.origin.doubt else "")
            + f"; {one.origin.text}; {one.origin.locator}) {reference.cite(*one.origin.keys)}"
            for one in theirs
        )
        words += f" Others' code: {listed}."
    return words


FIGURE = Figure(
    "nbody_ladder", "The n-body ladder", 200,
    # Several GPUs have a figure of their own.
    lambda run: [step for step in best_cases(run) if gpus(step.row) == 1],
    chart, caption,
    attributes("rung")
    | params("systems", "bodies", of="row")
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes(valid="row.valid")
    | attributes(of="before", rung_before="benchmark")
    | attributes(
        speedup_over_it="speedup", issue_limit="limit",
        other_problem_interactions_per_second="other", case="row.case",
    ),
    label=lambda step: rung_name(step.rung),
)  # fmt: skip
