"""What does each rung of the n-body ladder bring, and how far is it from what can be?"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strata import reference
from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, invalid_note, legend_above
from strata.ladder import rungs as ladder
from strata.ladder.best import Best, best_cases, common_size, published
from strata.model import units
from strata.run import Row, Run

COLOUR = "#0072B2"
PUBLISHED = "#D55E00"
ROOM = 2 * units.SPACE
"""Before the names: letters are a little wider at the resolution of the stored image."""
SERIAL = "serial"


def prepare(run: Run) -> Sequence[Best]:
    """One item per rung, by its best case; several GPUs have a figure of their own."""
    return [step for step in best_cases(run) if ladder.gpus(step.row) == 1]


def _scale(steps: Sequence[Best]) -> tuple[float, str]:
    """What an axis is in: GPUs and CPUs are a thousand times apart."""
    if max(step.row.value for step in steps) >= 0.1e12:
        return 1e12, "10¹²/s"
    return 1e9, "10⁹/s"


def grid(steps: Sequence[Best]) -> Grid:
    """One panel, a line for each rung and for each published rate."""
    lines = len(steps) + len(published(steps[0].row.device))
    return Grid(1, 1, width=8.4, height=1.5 + 0.3 * lines)


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
    serial = next((one for one in steps if one.rung == SERIAL), None)
    apart = step.before and step.before.benchmark != SERIAL
    same = serial and ladder.size(serial.row) == ladder.size(step.row)
    if serial and apart and same and serial.row.valid and step.row.valid:
        words += f"   {units.factor(step.row.value / serial.row.value)} {SERIAL}"
    return words


def _limits(steps: Sequence[Best]) -> tuple[float | None, float | None]:
    """What the shortest code allows that computes pairs twice, and the one that does so once."""
    twice = [step.limit.value for step in steps if step.limit and step.rung != ladder.ONCE]
    once = [step.limit.value for step in steps if step.limit and step.rung == ladder.ONCE]
    return max(twice, default=None), max(once, default=None)


def draw(steps: Sequence[Best], axes: AxesGrid) -> None:
    """Bars from zero in the order of the ladder; beneath them what others published."""
    (panel,) = flat(axes)
    scale, unit = _scale(steps)
    others = published(steps[0].row.device)
    ends: list[tuple[float, str]] = []
    for place, step in enumerate(steps):
        words = _words(step, steps, scale)
        ends.append((_bar(panel, place, step, scale), words))
    for place, one in enumerate(others, start=len(steps)):
        panel.plot(
            [one.rate / scale], [place], marker="D", markersize=5, markerfacecolor="white",
            markeredgecolor=PUBLISHED, markeredgewidth=1.2, linestyle="none", label="_published",
        )  # fmt: skip
        ends.append((one.rate / scale, _rate(one.rate / scale)))
    for place, (right, words) in enumerate(ends):
        _beside(panel, right, place, words)
    for value, words in zip(_limits(steps), ("each pair twice", "each pair once"), strict=True):
        if value is not None:
            panel.axvline(
                value / scale, color=GREY, linewidth=0.9, linestyle=":", zorder=0.5,
                label="_limit of all",
            )  # fmt: skip
            panel.annotate(
                words, (value / scale, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", va="bottom", fontsize=7, color=INK,
            )  # fmt: skip
    lines = len(steps) + len(others)
    panel.set_xlim(0, max(right / _room(words) for right, words in ends))
    panel.set_ylim(lines - 0.45, -0.6)
    names = [ladder.rung_name(step.rung) for step in steps] + [one.label for one in others]
    panel.set_yticks(range(lines), [ROOM + name for name in names])
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.set_xlabel(f"interactions ({unit})")
    legend_above(panel, _handles(steps, drawn=bool(others)))


def _room(words: str) -> float:
    """The share of the panel's width that is left of so many words beside a bar."""
    width, letter = 7.1, 0.056  # inches: of the panel, of a letter or a digit
    return max(0.3, 1 - (0.15 + letter * len(words)) / width)


def _bar(panel: Axes, place: int, step: Best, scale: float) -> float:
    """One rung; returns how far to the right it reaches, without its words."""
    row = step.row
    panel.barh(
        place, row.value / scale, height=0.62, color=COLOUR if row.valid else "white",
        edgecolor=COLOUR, linewidth=0.9, linestyle="-" if row.valid else "--",
        label="_valid" if row.valid else "_invalid",
    )  # fmt: skip
    panel.hlines(place, row.minimum / scale, row.maximum / scale, color=INK, linewidth=1.2)
    reach = row.maximum / scale
    if step.other:
        panel.plot(
            [step.other.value / scale], [place], marker="o", markersize=4.4,
            markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.9, linestyle="none",
            label="_other",
        )  # fmt: skip
        reach = max(reach, step.other.value / scale)
    if step.limit:
        limit = step.limit.value / scale
        panel.vlines(limit, place - 0.4, place + 0.4, color=INK, linewidth=1.6, label="_limit")
        reach = max(reach, limit)
    return reach


def _beside(panel: Axes, right: float, place: int, words: str) -> None:
    # On white, so that the dotted limits do not cross the letters.
    panel.annotate(
        words, (right, place), xytext=(6, 0), textcoords="offset points", va="center",
        fontsize=7.5, color=INK, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
    )  # fmt: skip


def _handles(steps: Sequence[Best], *, drawn: bool) -> list[Artist]:
    handles: list[Artist] = [
        Patch(facecolor=COLOUR, edgecolor=COLOUR, label=common_size(steps))
    ]  # fmt: skip
    if any(step.other for step in steps):
        handles.append(
            Line2D([], [], color=INK, marker="o", markersize=4.4, markerfacecolor="white",
                   linestyle="none", label=_other(steps))
        )  # fmt: skip
    if any(step.limit for step in steps):
        handles.append(
            Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.6,
                   linestyle="none", label="issue limit")
        )  # fmt: skip
    if drawn:
        handles.append(
            Line2D([], [], color=PUBLISHED, marker="D", markersize=5, markerfacecolor="white",
                   linestyle="none", label="others' code")
        )  # fmt: skip
    if any(not step.row.valid for step in steps):
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="invalid (hollow)")
        )
    return handles


def _other(steps: Sequence[Best]) -> str:
    """What the circles are."""
    problem = next(step.other.params["problem"] for step in steps if step.other)
    return ladder.PROBLEM_WORDS[problem]


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
    others = dict.fromkeys(ladder.size_words(step.other) for step in steps if step.other)
    if others:
        words += f" Circles: {_other(steps)} ({', '.join(others)})."
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
            + f"; {one.source}; {one.locator}) {reference.cite(*one.origin.keys)}"
            for one in theirs
        )
        words += f" Others' code: {listed}."
    return words + invalid_note(ladder.rung_name(step.rung) for step in steps if not step.row.valid)


def cells(step: Best) -> tuple[object, ...]:
    """One line of the data file."""
    systems, bodies = ladder.size(step.row)
    return (
        step.rung, systems, bodies, step.row.value, step.row.minimum, step.row.maximum,
        step.row.valid, step.before.benchmark if step.before else "", step.speedup or "",
        step.limit.value if step.limit else "", step.other.value if step.other else "",
        step.row.case,
    )  # fmt: skip


def source(step: Best) -> Row:
    """The rate."""
    return step.row


FIGURE = Figure(
    name="nbody_ladder",
    title="The n-body ladder",
    order=200,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "rung", "systems", "bodies", "interactions_per_second", "low", "high", "valid",
        "rung_before", "speedup_over_it", "issue_limit",
        "other_problem_interactions_per_second", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
