"""What did each step of the n-body ladder bring, what was predicted, and what is it made of?"""

import math
from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK
from strata.ladder import rungs as ladder
from strata.ladder import steps as ladder_steps
from strata.ladder.steps import FACTORS, RULE_WORDS, Change
from strata.model import units
from strata.run import Row, Run

GAIN, LOSS = "#009E73", "#D55E00"
COLOURS: Mapping[str, str] = {
    "instructions": "#0072B2",
    "issue": "#E69F00",
    "sms": "#56B4E9",
    "clock": "#F0E442",
    "gpus": "#CC79A7",
}
LEAST = 1.01
"""A factor nearer to 1 is narrower than a line."""
ROOM = 2 * units.SPACE
PITCH = 0.34  # inches of a step


def prepare(run: Run) -> Sequence[Change]:
    """One item per step and problem."""
    return ladder_steps.changes(run)


def _problems(changes: Sequence[Change]) -> list[str]:
    return list(dict.fromkeys(change.problem for change in changes))


def _most(changes: Sequence[Change]) -> int:
    """Steps of the problem that has most: its panel is as high as the others'."""
    problems = [change.problem for change in changes]
    return max(problems.count(problem) for problem in problems)


def _taken_apart(changes: Sequence[Change]) -> bool:
    """Whether there are factors to show: a CPU has none."""
    return any(change.factors for change in changes)


def grid(changes: Sequence[Change]) -> Grid:
    """A row for each problem: rates, and beside them the factors of each step where there are."""
    problems, most = _problems(changes), _most(changes)
    columns = 2 if _taken_apart(changes) else 1
    height = 0.9 + len(problems) * (0.75 + PITCH * most)
    return Grid(len(problems), columns, width=8.6 if columns == 2 else 6.4, height=height)


def draw(changes: Sequence[Change], axes: AxesGrid) -> None:
    """Left: from the rate before to the rate after. Right: the factors between the two."""
    panels = flat(axes)
    columns = axes.shape[1]
    most = _most(changes)
    for place, problem in enumerate(_problems(changes)):
        here = [change for change in changes if change.problem == problem]
        left = panels[place * columns]
        thick = 0.5 * len(here) / most
        _rates(left, here, thick)
        left.set_title(ladder.PROBLEM_WORDS[problem])
        if columns == 2:
            _factors(panels[place * columns + 1], here, thick)
    panels[0].figure.legend(
        handles=_handles(changes), loc="outside upper center", ncols=5, fontsize=7.5
    )


def _rows(panel: Axes, changes: Sequence[Change]) -> None:
    panel.set_ylim(len(changes) - 0.4, -0.7)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.grid(visible=True, axis="x")
    panel.xaxis.set_minor_locator(NullLocator())


def _rates(panel: Axes, changes: Sequence[Change], thick: float) -> None:
    most = max(change.after.value for change in changes)
    scale, unit = (1e12, "10¹²/s") if most >= 0.1e12 else (1e9, "10⁹/s")
    ends = []
    for place, change in enumerate(changes):
        before, after = change.before.value / scale, change.after.value / scale
        panel.barh(
            place, after - before, left=before, height=thick, label="_step",
            color=GAIN if after >= before else LOSS,
        )  # fmt: skip
        panel.vlines(before, place - 0.72 * thick, place + 0.72 * thick, color=INK, linewidth=1.0)
        panel.hlines(
            place, before * change.low, before * change.high, color=INK, linewidth=1.4,
            label="_interval",
        )  # fmt: skip
        words = units.factor(change.measured)
        right = max(before, after)
        if change.prediction:
            expected = before * change.prediction.value
            panel.plot(
                [expected], [place], marker="D", markersize=4.2, markerfacecolor="white",
                markeredgecolor=INK, markeredgewidth=0.9, linestyle="none", label="_predicted",
            )  # fmt: skip
            words += f" ({units.factor(change.prediction.value)})"
            right = max(right, expected)
        panel.annotate(
            words, (right, place), xytext=(7, 0), textcoords="offset points", va="center",
            fontsize=7, color=INK,
        )  # fmt: skip
        ends += [before, after, right]
    low, high = min(ends), max(ends)
    panel.set_xscale("log")
    # Room for the words behind the furthest bar: a third of the panel.
    span = max(math.log(high / low), math.log(1.5))
    panel.set_xlim(low * math.exp(-0.06 * span), high * math.exp(0.62 * span))
    _log_ticks(panel, low, high)
    names = [
        f"{ROOM}{ladder.rung_name(change.rung)}\n{ROOM}over "
        f"{ladder.rung_name(change.before.benchmark)}"
        for change in changes
    ]
    panel.set_yticks(range(len(changes)), names, fontsize=6.3, linespacing=0.95)
    panel.set_xlabel(f"interactions ({unit})")
    _rows(panel, changes)


def _log_ticks(panel: Axes, low: float, high: float) -> None:
    """Round ticks, more of them the less the axis spans, and only where there is data."""
    decades = math.log10(high / low)
    by_span = ((2.2, (1,)), (1.0, (1, 2, 5)), (0.5, (1, 1.5, 2, 3, 5, 7)))
    finest = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    digits = next((some for least, some in by_span if decades > least), finest)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in digits]
    panel.xaxis.set_major_locator(FixedLocator([t for t in ticks if 0.95 * low <= t <= high]))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.tick(value)))


def segments(change: Change) -> list[tuple[str, float, float]]:
    """The factors of a step as stretches of a logarithmic axis: name, from, to.

    What speeds up goes right from 1, one behind the other; what slows down goes left. The last one
    is what is left: `unexplained`, or `uncounted` where instructions or issue rate are not known.
    """
    parts = [(name, change.factors[name]) for name in FACTORS if name in change.factors]
    if change.unexplained is not None:
        parts.append(("unexplained" if change.counted else "uncounted", change.unexplained))
    up, down, result = 1.0, 1.0, []
    for name, value in parts:
        if value >= 1:
            result.append((name, up, up * value))
            up *= value
        else:
            result.append((name, down, down * value))
            down *= value
    return result


def _factors(panel: Axes, changes: Sequence[Change], thick: float) -> None:
    ends = [1.0]
    for place, change in enumerate(changes):
        for name, start, end in segments(change):
            ends += [start, end]
            if max(end / start, start / end) < LEAST:
                continue
            rest = name in ("unexplained", "uncounted")
            panel.barh(
                place, end - start, left=start, height=thick, linewidth=0.6,
                facecolor="white" if rest else COLOURS[name],
                edgecolor=INK if name == "unexplained" else GREY if rest else "white",
                hatch="//////" if name == "unexplained" else None,
                linestyle="--" if name == "uncounted" else "-", label=f"_{name}",
            )  # fmt: skip
        panel.vlines(
            change.measured, place - 0.76 * thick, place + 0.76 * thick, color=INK, linewidth=1.8,
            label="_measured",
        )  # fmt: skip
    low, high = min(ends), max(ends)
    span = max(math.log(high / low), math.log(1.5))
    edge = high * math.exp(0.3 * span)
    panel.set_xscale("log")
    panel.set_xlim(low * math.exp(-0.05 * span), edge)
    panel.axvline(1, color=INK, linewidth=0.7)
    for place, change in enumerate(changes):
        if change.counted and change.unexplained is not None:
            words, colour = units.factor(change.unexplained), INK
        else:
            words, colour = "not counted", GREY
        panel.annotate(
            words, (edge, place), xytext=(-2, 0), textcoords="offset points", va="center",
            ha="right", fontsize=7, color=colour,
        )  # fmt: skip
    panel.annotate(
        "unexplained", (edge, -0.72), xytext=(-2, 1), textcoords="offset points", va="bottom",
        ha="right", fontsize=7, color=INK, annotation_clip=False,
    )  # fmt: skip
    _log_ticks(panel, low, high)
    panel.set_yticks([])
    panel.set_xlabel("factors of the step (×)")
    _rows(panel, changes)


def _handles(changes: Sequence[Change]) -> list[Artist]:
    handles: list[Artist] = [
        Patch(facecolor=GAIN, label="faster"),
        Patch(facecolor=LOSS, label="slower"),
    ]
    if any(change.prediction for change in changes):
        handles.append(
            Line2D([], [], color=INK, marker="D", markersize=4.2, markerfacecolor="white",
                   linestyle="none", label="predicted")
        )  # fmt: skip
    if not _taken_apart(changes):
        return handles
    drawn = {
        name
        for change in changes
        for name, start, end in segments(change)
        if max(end / start, start / end) >= LEAST
    }
    handles.append(
        Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.8,
               linestyle="none", label="measured factor")
    )  # fmt: skip
    handles += [
        Patch(facecolor=COLOURS[name], label=words)
        for name, words in FACTORS.items()
        if name in drawn
    ]
    if "unexplained" in drawn:
        handles.append(Patch(facecolor="white", edgecolor=INK, hatch="//////", label="unexplained"))
    if "uncounted" in drawn:
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="not counted")
        )
    return handles


def caption(changes: Sequence[Change]) -> str:
    """What bars, marks and factors are, and by which rules steps were predicted."""
    words = (
        "Each bar runs from the rate of the rung that is changed (stroke) to that of the rung, "
        "both of one problem and size and, where they share one, of one layout; lines in the ends: "
        "what the 95 % intervals of both rates allow. Figures: the measured factor"
    )
    rules = dict.fromkeys(change.prediction.rule for change in changes if change.prediction)
    if rules:
        told = "; ".join(RULE_WORDS[rule] for rule in rules)
        words += f", and in brackets the predicted one (diamonds). Predicted: {told}"
    words += "."
    if _taken_apart(changes):
        words += (
            " Right: the measured factor as a product: fewer instructions for an interaction and "
            "more of them in a cycle of an SM at work (both counted), more SMs at work (by the "
            "blocks of a launch), the clock (timed); what is left is unexplained. What speeds up "
            "goes to the right, what slows down to the left."
        )
    places = dict.fromkeys(ladder.size_words(change.after) for change in changes)
    return f"{words} Sizes: {', '.join(places)}."


def cells(change: Change) -> tuple[object, ...]:
    """One line of the data file."""
    before, after = change.before, change.after
    systems, bodies = ladder.size(after)
    return (
        change.problem, systems, bodies, change.rung, before.benchmark, before.value, after.value,
        change.measured, change.low, change.high,
        change.prediction.value if change.prediction else "",
        change.prediction.rule if change.prediction else "",
        *(change.factors.get(name, "") for name in FACTORS),
        "" if change.unexplained is None else change.unexplained,
        before.case, after.case,
    )  # fmt: skip


def source(change: Change) -> Row:
    """The rate of the rung."""
    return change.after


FIGURE = Figure(
    name="nbody_waterfall",
    title="The steps of the n-body ladder",
    order=201,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "problem", "systems", "bodies", "rung", "over", "interactions_per_second_before",
        "interactions_per_second", "factor", "low", "high", "predicted", "predicted_by",
        *(f"factor_{name}" for name in FACTORS), "unexplained", "case_before", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
