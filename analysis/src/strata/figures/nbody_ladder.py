"""What does each rung of the n-body ladder bring, and how far is it from what can be?"""

from collections.abc import Sequence
from dataclasses import replace

from strata import reference
from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import rungs as ladder
from strata.ladder.best import Best, best_cases, common_size, published
from strata.model import units
from strata.run import Run

SERIAL = "serial"


def items(run: Run) -> Sequence[Best]:
    """One item per rung, by its best case; several GPUs have a figure of their own."""
    return [step for step in best_cases(run) if ladder.gpus(step.row) == 1]


def _rate(value: float) -> str:
    return units.significant(value) if value >= 0.9995 else f"{value:.3f}"


def _words(step: Best, steps: Sequence[Best], scale: float) -> str:
    """What stands beside a bar: rate, where it was best, the step, on a CPU all steps."""
    size = ladder.size_words(step.row)
    where = [step.chosen] if step.chosen else []
    where += [size] if size != common_size(steps) else []
    words = _rate(step.row.value / scale)
    if where:
        words += f" ({'; '.join(where)})"
    if step.speedup and step.before:
        words += f"   {units.factor(step.speedup)} {ladder.rung_name(step.before.benchmark)}"
    serial = next((one.row for one in steps if one.rung == SERIAL and one.row.valid), None)
    apart = step.before and step.before.benchmark != SERIAL and step.row.valid
    if serial and apart and ladder.size(serial) == ladder.size(step.row):
        words += f"   {units.factor(step.row.value / serial.value)} {SERIAL}"
    return words


def chart(steps: Sequence[Best]) -> c.Chart:
    """Bars from zero in the order of the ladder; beneath them what others published."""
    scale, unit = 1e9, "10⁹/s"
    if max(step.row.value for step in steps) >= 0.1e12:  # a GPU's
        scale, unit = 1e12, "10¹²/s"
    others = published(steps[0].row.device)
    theirs = [
        c.Mark(place, one.rate / scale, words=_rate(one.rate / scale))
        for place, one in enumerate(others, start=len(steps))
    ]
    bars = [c.mark(place, step.row, scale) for place, step in enumerate(steps)]
    found = [
        c.Mark(place, step.other.value / scale) for place, step in enumerate(steps) if step.other
    ]
    limits = [
        c.Mark(place, step.limit.value / scale) for place, step in enumerate(steps) if step.limit
    ]
    words = [
        c.Mark(
            place,
            max(row.value / scale for row in (step.limit, step.other, step.row) if row),
            high=step.row.maximum / scale,
            words=_words(step, steps, scale),
        )
        for place, step in enumerate(steps)
    ]
    ink = c.Look(marker="o", size=4.4, hollow=True)
    other = next((step.other.text("problem") for step in steps if step.other), "")
    layers: list[c.Layer] = [
        c.Bars(marks=bars, look=c.Look(colour="#0072B2"), label=common_size(steps), spread="bar"),
        c.Series(marks=words, look=c.Look(), words_size=7.5),
    ]
    if found:
        label = ladder.PROBLEM_WORDS[other]
        layers.append(c.Series(marks=found, look=ink, label=label, order=3))
    if limits:
        stroke = replace(ink, marker="|", size=11, hollow=False)
        layers.append(c.Series(marks=limits, look=stroke, label="issue limit"))
    if theirs:
        layers.append(c.Series(marks=theirs, look=c.THEIRS, label="others' code", words_size=7.5))
    for once, what in ((False, "each pair twice"), (True, "each pair once")):
        highest = [step.limit.value for step in steps
                   if step.limit and (step.rung == ladder.ONCE) == once]  # fmt: skip
        if highest:
            layers.append(c.Rule(at=max(highest) / scale, words=what))
    names = [ladder.rung_name(step.rung) for step in steps] + [one.label for one in others]
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
    common = common_size(steps)
    odd = [
        f"{ladder.rung_name(step.rung)} {ladder.size_words(step.row)}"
        for step in steps
        if ladder.size_words(step.row) != common
    ]
    if odd:
        words += f" Of another size: {'; '.join(odd)}."
    others = [step.other for step in steps if step.other]
    if others:
        sizes = ", ".join(dict.fromkeys(ladder.size_words(row) for row in others))
        words += f" Circles: {ladder.PROBLEM_WORDS[others[0].text('problem')]} ({sizes})."
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
    name="nbody_ladder",
    title="The n-body ladder",
    order=200,
    items=items,
    chart=chart,
    caption=caption,
    columns=attributes("rung")
    | {
        "systems": lambda step: ladder.size(step.row)[0],
        "bodies": lambda step: ladder.size(step.row)[1],
    }
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes("valid", of="row")
    | {"rung_before": lambda step: step.before and step.before.benchmark}
    | attributes(
        speedup_over_it="speedup", issue_limit="limit",
        other_problem_interactions_per_second="other",
    )
    | attributes("case", of="row"),
    invalid=lambda step: "" if step.row.valid else ladder.rung_name(step.rung),
)  # fmt: skip
