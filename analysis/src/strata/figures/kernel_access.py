"""What does each line of a kernel move per request, compared with the least that its bytes need?

`strata access --out` predicts it for a launch and, with `--run`, counts it. Launches are shown side
by side; so are the two runs of a comparison.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from textwrap import fill
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._figure import Columns, attributes, prose
from strata.figures._plot import figure, table
from strata.figures._style import POINT, hollow, hover
from strata.model.cases import CaseRows, by_case
from strata.run import Row, Run, grouped

MOST = 24
"""So many lines are drawn of each kind of memory: those that move most in vain."""
MOVED = {"sector": "sectors of 32 bytes a request", "wavefront": "passes through the banks"}
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


def lines(run: Run, when: str = "") -> list[Line]:
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


COLUMNS: Columns = {
    "line": attrgetter("words"),
    **attributes("launch", "unit", predicted_per_request="predicted"),
    **attributes(counted_per_request="counted", ideal_per_request="ideal"),
    **attributes(valid="valid", _vain="vain"),
}


def _table(found: Iterable[Line]) -> pd.DataFrame:
    label = "{0.words} in {0.launch}".format
    return table(found, COLUMNS, row=attrgetter("row"), label=label)


def data(run: Run) -> pd.DataFrame:
    """The lines of a run."""
    return _table(lines(run))


def beside(runs: Sequence[Run]) -> pd.DataFrame:
    """The lines of compared runs, side by side if their names match; two are before and after."""
    names = ["before", "after"] if len(runs) == 2 else [run.context.run for run in runs]
    return _table(line for run, name in zip(runs, names, strict=True) for line in lines(run, name))


def shown(data: pd.DataFrame) -> Sequence[str]:
    """The drawn lines of one kind of memory, in source order."""
    vain = data.groupby("line", sort=False)["_vain"].max()
    worst = {*vain.sort_values(ascending=False, kind="stable").index[:MOST]}
    return [line for line in vain.index if line in worst]


def caption(data: pd.DataFrame) -> str:
    """What is drawn, and what is left out."""
    left = sum(here.line.nunique() - len(shown(here)) for _, here in data.groupby("unit"))
    counted = data[["predicted_per_request", "counted_per_request"]].dropna()
    unlike = (counted.predicted_per_request != counted.counted_per_request).sum()
    return prose(
        "What one warp request moves, by source line; a line with ← was inlined into the next "
        "one. Bars: predicted from the addresses of a launch. Ticks: the minimum for the "
        "bytes that its lanes request.",
        len(counted)
        and f"Diamonds: counted on the device, instruction by instruction; {unlike} of "
        f"{len(counted)} lines differ from the prediction.",
        data.predicted_per_request.isna().any()
        and "A diamond without a bar: counted for an access whose addresses are unknown.",
        left and f"Not drawn: {left} lines that waste less.",
    )


@figure(
    "kernel_access", "Traffic of a kernel by source line", order=63, data=data, caption=caption,
    beside=beside,
)  # fmt: skip
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """One panel for global and local memory, one for shared; a name for each source line."""
    units = [unit for unit in MOVED if unit in {*data.unit}]
    parts = [data[data.unit == unit] for unit in units]
    row = 0.27 if figure.get_figwidth() > 5 else 0.6
    tall = [0.7 + row * len(shown(here)) for here in parts]
    figure.set_figheight(0.4 + sum(tall))
    rows = {"height_ratios": tall}
    panels = figure.subplots(len(units), squeeze=False, gridspec_kw=rows)[:, 0]
    colours = {launch: f"C{at % 8}" for at, launch in enumerate(data.launch.unique())}
    for ax, here, unit in zip(panels, parts, units, strict=True):
        _draw_lines(ax, here, colours)
        ax.set_xlabel(MOVED[unit])


def _draw_lines(ax: Axes, data: pd.DataFrame, colours: Mapping[str, str]) -> None:
    names = shown(data)
    here = data[data.line.isin(names)]
    beside = here.groupby("line").cumcount()
    count = here.groupby("line").line.transform("size")
    thick = 0.74 / count.max()
    here = here.assign(at=here.line.map(names.index) + thick * (beside - (count - 1) / 2))
    launch: Any
    for launch, of in here.dropna(subset="predicted_per_request").groupby("launch", sort=False):
        look = {"color": colours[launch], "alpha": 0.75, "height": 0.94 * thick, "label": launch}
        line: Any
        for bar, line in zip(
            ax.barh(of["at"], of.predicted_per_request, **look), of.itertuples(), strict=True
        ):
            hollow(bar, valid=line.valid)
            hover(bar, _words(line, "predicted"))
    for what, marker, size in (("ideal", "|", 11), ("counted", "D", 3.6)):
        known = here.dropna(subset=f"{what}_per_request")
        for valid, of in known.groupby(known.valid | (what == "ideal"), sort=True):
            look = {"color": "k", "marker": marker, "ms": size, "ls": "", "zorder": 3}
            face: dict[str, Any] = {"label": what} if valid else {"mfc": "white"}
            (marks,) = ax.plot(of[f"{what}_per_request"], of["at"], **look, **face)
            hover(marks, [words for line in of.itertuples() for words in _words(line, what)])
    narrow = ax.figure.bbox.width < 5 * POINT
    ax.set_yticks(range(len(names)), [fill(name, 18) if narrow else name for name in names])
    ax.set(xlim=(0, None), ylim=(len(names) - 0.4, -0.6))
    ax.grid(axis="x")
    ax.grid(visible=False, axis="y")


def _words(line: Any, what: str) -> list[str]:
    value = getattr(line, f"{what}_per_request")
    return [f"{line.line}, {line.launch}, {what}: {value:.4g} {line.unit}s a request"]
