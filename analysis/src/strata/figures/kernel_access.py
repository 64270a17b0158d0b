"""What does each line of a kernel move per request, compared with the least that its bytes need?

`strata access --out` predicts it for a launch and, with `--run`, counts it. Launches are shown side
by side; so are the two runs of a comparison.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, prose
from strata.model.cases import CaseRows, by_case
from strata.run import Row, Run, grouped

MOST = 24
"""So many lines are drawn of each kind of memory: those that move most in vain."""
MOVED = {"sector": "sectors of 32 bytes a request", "wavefront": "passes through the banks"}
COUNTED = c.Look(c.INK, "D", size=3.6)
IDEAL = c.Look(c.INK, "|", size=13)
LONG = 30
"""Letters of a kernel's name that have room."""
PLACE = re.compile(r"-(\d+(?:\+\d+)*)$")
"""The end of the axis `line`: "inlined.cu-35+40"."""


class Line(NamedTuple):
    """A source line in one launch, summed over the copies of its instruction.

    Numbers are per request of a warp; without a prediction, per execution. If something was not
    counted, or not for every copy, `counted` is None.
    """

    words: str
    launch: str
    unit: str
    predicted: float | None
    counted: float | None
    ideal: float | None
    vain: float
    valid: bool
    row: Row


def place_words(line: str) -> str:
    """`inlined.cu-35+40` shown as `inlined.cu:35 ← 40`."""
    return PLACE.sub(lambda found: ":" + found[1].replace("+", " ← "), line)


def short_names(names: Iterable[str]) -> Mapping[str, str]:
    """Each name, or its beginning and end if it is long and they are unique."""
    cut = {
        name: name if len(name) <= LONG else f"{name[: LONG // 2 - 1]}…{name[-LONG // 2 :]}"
        for name in names
    }
    times = Counter(cut.values())
    return {name: short if times[short] == 1 else name for name, short in cut.items()}


def lines(run: Run, when: str = "") -> Sequence[Line]:
    """The lines of a run; `when` precedes the names of its launches, if it has several."""
    cases = by_case(run.of("kernel_access"))
    kernels = short_names({case.text("kernel") for case in cases})
    alone = len({case.text("launch") for case in cases}) == 1

    def called(launch: str) -> str:
        return f"{when}, {launch}" if when and not alone else when or launch

    def words(case: CaseRows) -> str:
        kernel = f"{kernels[case.text('kernel')]} " if len(kernels) > 1 else ""
        return f"{kernel}{place_words(case.text('line'))}  {case.text('instruction')}"

    def key(case: CaseRows) -> tuple[str, ...]:
        return (words(case), case.text("launch"), case.text("space"))

    found = (
        _line(words, called(own), here) for (words, own, _), here in grouped(cases, key).items()
    )
    return [line for line in found if line]


def _line(words: str, launch: str, cases: Sequence[CaseRows]) -> Line | None:
    unit = "wavefront" if cases[0].text("space") == "shared" else "sector"

    def total(quantity: str, provenance: str) -> float | None:
        rows = [case.row(quantity, provenance=provenance) for case in cases]
        return sum(row.value for row in rows if row) if all(rows) else None

    requests = total("requests", "modelled")
    executed = total("executed", "counted") if requests is None else requests
    if not executed:
        return None  # no warp reached it
    predicted, counted = (total(f"{unit}s", of) for of in ("modelled", "counted"))
    ideal = total(f"ideal_{unit}s", "modelled")

    def each(value: float | None) -> float | None:
        return None if value is None else value / executed

    moved = [row for case in cases for row in case.rows if row.quantity == f"{unit}s"]
    if not moved:
        return None
    vain = (predicted or counted or 0.0) - (ideal or 0.0)
    valid = all(row.valid for case in cases for row in case.rows)
    return Line(
        words, launch, unit, each(predicted), each(counted), each(ideal), vain, valid, moved[0]
    )


def chart(found: Sequence[Line]) -> c.Chart:
    """One panel for global and local memory, one for shared; a name for each source line."""
    by_unit = grouped(found, lambda line: line.unit)
    launches = dict.fromkeys(line.launch for line in found)
    colours = dict(zip(launches, cycle(c.COLOURS), strict=False))
    panels = [_panel(unit, by_unit[unit], colours) for unit in MOVED if unit in by_unit]
    heights = [len(panel.places.ticks or ()) for panel in panels]
    return c.Chart(
        [[panel] for panel in panels], 8.4, 0.5 + sum(0.9 + 0.27 * high for high in heights),
        heights=[high + 1.5 for high in heights],
    )  # fmt: skip


def shown(found: Sequence[Line]) -> Sequence[str]:
    """The drawn lines of one kind of memory, in source order."""
    vain: dict[str, float] = {}
    for line in found:
        vain[line.words] = max(vain.get(line.words, 0.0), line.vain)
    worst = set(sorted(vain, key=lambda words: -vain[words])[:MOST])
    return [words for words in vain if words in worst]


def by_words(found: Sequence[Line]) -> Mapping[str, list[Line]]:
    """The lines of each name, one per launch."""
    return grouped(found, lambda line: line.words)


def _panel(unit: str, found: Sequence[Line], colours: Mapping[str, str]) -> c.Panel:
    names = shown(found)
    launches = list(dict.fromkeys(line.launch for line in found))
    of = {words: [line.launch for line in same] for words, same in by_words(found).items()}
    thick = 0.74 / max(map(len, of.values()))

    def place(line: Line) -> float:
        beside = of[line.words]
        return names.index(line.words) + thick * (beside.index(line.launch) - (len(beside) - 1) / 2)

    def marks(what: str, lines: Sequence[Line]) -> list[c.Mark]:
        said = [(line, getattr(line, what)) for line in lines]
        return [
            c.Mark(
                place(line), value, valid=line.valid or what == "ideal",
                told=f"{line.words}, {line.launch}, {what}: {value:.4g} {unit}s a request",
            )
            for line, value in said
            if value is not None
        ]  # fmt: skip

    here = [line for line in found if line.words in names]
    layers: list[c.Layer] = []
    for launch in launches:
        bars = marks("predicted", [line for line in here if line.launch == launch])
        layers.append(c.Bars(bars, c.Look(colours[launch], alpha=0.75), launch, thick=0.94 * thick))
    layers += [
        c.Series(marks("ideal", here), IDEAL, "ideal", order=3),
        c.Series(marks("counted", here), COUNTED, "counted", order=4),
    ]
    return c.Panel(
        [layer for layer in layers if not isinstance(layer, c.Series | c.Bars) or layer.marks],
        c.names_axis(names), c.Axis(MOVED[unit], zero=True), sideways=True,
    )  # fmt: skip


def caption(found: Sequence[Line]) -> str:
    """What is drawn, and what is left out."""
    by_unit = grouped(found, lambda line: line.unit)
    left = sum(len({line.words for line in here}) - len(shown(here)) for here in by_unit.values())
    counted = [line for line in found if line.counted is not None and line.predicted is not None]
    unlike = sum(line.counted != line.predicted for line in counted)
    return prose(
        "What one warp request moves, by source line; a line with ← was inlined into the next "
        "one. Bars: predicted from the addresses of a launch. Ticks: the minimum for the "
        "bytes that its lanes request.",
        counted
        and f"Diamonds: counted on the device, instruction by instruction; {unlike} of "
        f"{len(counted)} lines differ from the prediction.",
        any(line.predicted is None for line in found)
        and "A diamond without a bar: counted for an access whose addresses are unknown.",
        left and f"Not drawn: {left} lines that waste less.",
    )


def of_two(before: Run, after: Run) -> Sequence[Line]:
    """The lines of two runs, side by side if their names match."""
    return (*lines(before, "before"), *lines(after, "after"))


FIGURE = Figure(
    "kernel_access", "Traffic of a kernel by source line", 63, lines, chart, caption,
    {
        "line": lambda line: line.words,
        "launch": lambda line: line.launch,
        "unit": lambda line: line.unit,
        "predicted_per_request": lambda line: line.predicted,
        "counted_per_request": lambda line: line.counted,
        "ideal_per_request": lambda line: line.ideal,
    },
    label=lambda line: f"{line.words} in {line.launch}", both=of_two,
)  # fmt: skip
