"""What did each n-body step gain, what was predicted, and which factors explain it?"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import columns, figure, of_items, prose
from strata.figures._style import GREY, hover, in_column, listed, lists, parts, plain_log
from strata.ladder.rungs import PROBLEM_WORDS, rung_name, size_words
from strata.ladder.steps import FACTORS, RULE_WORDS, Change, changes
from strata.model.units import factor
from strata.run import Run

WORDS = {**FACTORS, "unexplained": "unexplained", "uncounted": "not counted", "": "measured"}
COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#F0E442", "#CC79A7")
LOOKS: Mapping[str, Any] = {
    name: {"color": colour} for name, colour in zip(FACTORS, COLOURS, strict=True)
} | {
    "unexplained": {"fc": "white", "ec": "k", "hatch": "//////", "lw": 0.7},
    "uncounted": {"fc": "white", "ec": GREY, "ls": "--"},
    "": {"color": GREY},
}
"""Of the factors and of the rest; without a name: of the gain of a CPU."""
LEAST = 1.01
"""A factor nearer to 1 is narrower than a line."""
SPAN, FAR = (0.48, 2.1), 8
"""The least limits of the axis; their ratio beyond which only powers of ten have room."""


def segments(change: Change) -> Iterator[tuple[str, float, float]]:
    """The factors of a step as sections of a logarithmic axis: name, from, to.

    Speed-ups go right from 1, one after the other; slow-downs go left. The last one is the rest:
    `unexplained`, or `uncounted` if instructions or issue rate are unknown.
    """
    parts = {name: change.factors[name] for name in FACTORS if name in change.factors}
    if change.unexplained is not None:
        parts["unexplained" if change.counted else "uncounted"] = change.unexplained
    ends = {True: 1.0, False: 1.0}
    for name, value in (parts or {"": change.measured}).items():
        start = ends[value >= 1]
        ends[value >= 1] *= value
        yield name, start, ends[value >= 1]


def data(run: Run) -> pd.DataFrame:
    steps = changes(run)
    lines = of_items(steps, lambda step: step.after.case, "after")
    names = [f"factor_{name}" for name in FACTORS]
    for name in FACTORS:
        lines[f"factor_{name}"] = [step.factors.get(name) for step in steps]
    return columns(
        lines, "problem", "systems", "bodies", *names, rung="benchmark",
        over="_item.before.benchmark", interactions_per_second_before="_item.before.value",
        interactions_per_second="value", factor="_item.measured", low="_item.low",
        high="_item.high", predicted="_item.prediction.value",
        predicted_by="_item.prediction.rule", unexplained="_item.unexplained",
        case_before="_item.before.case",
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    rules = "; ".join(RULE_WORDS[rule] for rule in data.predicted_by.dropna().unique())
    return prose(
        "Strokes and numbers: the rate of a rung over that of the rung that it changes, both for "
        "one problem and size and, where possible, one layout; lines through them: range that "
        "the 95 % intervals of both rates allow.",
        data.unexplained.notna().any()
        and "Bars: this factor as a product: fewer instructions per interaction and more of "
        "them per cycle of an active SM (both counted), more active SMs (counted, or from the "
        "blocks of a launch), the clock (timed); the remainder is unexplained. Speed-ups go to "
        "the right, slow-downs to the left.",
        rules and f"Diamonds, predicted: {rules}.",
    )


@figure("nbody_waterfall", "The steps of the n-body ladder", order=220, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    steps = data["_item"]
    data["name"] = [f"{rung_name(s.rung)}\nover {rung_name(s.before.benchmark)}" for s in steps]
    data["place"] = [f"{PROBLEM_WORDS[s.problem]},\n{size_words(s.after)}" for s in steps]
    data["order"] = [[*s.cases.rungs].index(s.rung) for s in steps]
    places, narrow = parts(data, "place"), in_column(figure)
    names = [(here if narrow else data).sort_values("order").name.unique() for _, here in places]
    panels = lists(figure, [*map(len, names)], 0.32)
    for ax, listing, (title, here) in zip(panels, names, places, strict=True):
        ax.set_xscale("log")
        at = here.name.map([*listing].index)
        for place, step in zip(at, here["_item"], strict=True):
            for name, start, end in segments(step):
                if max(end / start, start / end) >= LEAST:
                    words, look = WORDS[name], LOOKS[name]
                    (bar,) = ax.barh(place, end - start, 0.6, start, label=words, **look)
                    hover(bar, [f"{rung_name(step.rung)}, {words}: {factor(end / start)}"])
            gain = factor(step.measured)
            ax.text(1.02, place, gain, va="center", transform=ax.get_yaxis_transform())
        ax.hlines(at, here.low, here.high, color="k", lw=0.8)
        for column, marker, size in (("factor", "|", 11), ("predicted", "D", 3.6)):
            known = here[here[column].notna()]
            look = {"ms": size, "mfc": "white", "label": column.replace("factor", "measured")}
            (line,) = ax.plot(known[column], at[known.index], f"k{marker}", **look)
            hover(line, known)
        ax.axvline(1, color="k", lw=0.7)
        listed(ax, listing)
        low, high = min(ax.get_xlim()[0], SPAN[0]), max(ax.get_xlim()[1], SPAN[1])
        ax.set(title=title, xlabel="factor of the step (×)", xlim=(low, high))
        plain_log(ax, "x", (1,) if high > FAR * low else (1, 2, 5))
