"""What did each n-body step gain, what was predicted, and which factors explain it?"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._figure import attributes, params, prose
from strata.figures._plot import figure, table
from strata.figures._style import COLUMN, GREY, hover, listed, lists, plain_log
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
SPAN, FAR = (0.48, 2.1), 20
"""The least limits of the axis; the ratio of gains beyond which only powers of ten have room."""


def segments(change: Change) -> list[tuple[str, float, float]]:
    """The factors of a step as sections of a logarithmic axis: name, from, to.

    Speed-ups go right from 1, one after the other; slow-downs go left. The last one is the rest:
    `unexplained`, or `uncounted` if instructions or issue rate are unknown.
    """
    parts = [(name, change.factors[name]) for name in FACTORS if name in change.factors]
    if change.unexplained is not None:
        parts.append(("unexplained" if change.counted else "uncounted", change.unexplained))
    ends, result = {True: 1.0, False: 1.0}, []
    for name, value in parts or [("", change.measured)]:
        start = ends[value >= 1]
        ends[value >= 1] *= value
        result.append((name, start, ends[value >= 1]))
    return result


COLUMNS = (
    attributes("problem")
    | params("systems", "bodies", of="after")
    | attributes(
        rung="rung", over="before.benchmark", interactions_per_second_before="before",
        interactions_per_second="after", factor="measured", low="low", high="high",
    )
    | attributes(of="prediction", predicted="value", predicted_by="rule")
    | {f"factor_{name}": lambda one, name=name: one.factors.get(name) for name in FACTORS}
    | attributes("unexplained", case_before="before.case", case="after.case")
    | {"_step": lambda one: one}
)  # fmt: skip


def data(run: Run) -> pd.DataFrame:
    """The steps by problem and size, in the order of the ladder."""
    return table(changes(run), COLUMNS, row=attrgetter("after"))


def caption(data: pd.DataFrame) -> str:
    """The measure, the factors, the rules of predictions."""
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
    """Problems side by side, in a column below: bars of factors, marks of what they explain."""
    steps = data["_step"]
    data["name"] = [f"{rung_name(s.rung)}\nover {rung_name(s.before.benchmark)}" for s in steps]
    data["place"] = [f"{PROBLEM_WORDS[s.problem]},\n{size_words(s.after)}" for s in steps]
    data["order"] = [[*s.cases.rungs].index(s.rung) for s in steps]
    places = [*data.groupby("place", sort=False)]
    shared = figure.get_figwidth() > COLUMN
    parts = [data if shared else here for _, here in places]
    names = [part.sort_values("order").name.unique() for part in parts]
    panels = lists(figure, [*map(len, names)], 0.32)
    for ax, listing, (title, here) in zip(panels, names, places, strict=True):
        far = here.factor.max() > FAR * here.factor.min()
        plain_log(ax, "x", (1,) if far else (1, 2, 5))
        ax.tick_params(axis="x", labelsize=7)
        at = here.name.map([*listing].index)
        for place, step in zip(at, here["_step"], strict=True):
            for name, start, end in segments(step):
                if max(end / start, start / end) >= LEAST:
                    words, look = WORDS[name], LOOKS[name]
                    (bar,) = ax.barh(place, end - start, 0.6, start, label=words, **look)
                    hover(bar, [f"{rung_name(step.rung)}, {words}: {factor(end / start)}"])
            gain = factor(step.measured)
            ax.text(1.02, place, gain, va="center", transform=ax.get_yaxis_transform())
        ax.hlines(at, here.low, here.high, color="k", lw=0.8)
        for column, words, marker in (("factor", "measured", "|"), ("predicted", "predicted", "D")):
            known = here[here[column].notna()]
            size = 11 if marker == "|" else 3.6
            (line,) = ax.plot(
                known[column], at[known.index], f"k{marker}", ms=size, mfc="white", label=words
            )
            hover(line, known)
        ax.axvline(1, color="k", lw=0.7)
        listed(ax, listing)
        low, high = ax.get_xlim()
        ax.set(title=title, xlabel="factor of the step (×)")
        ax.set_xlim(min(low, SPAN[0]), max(high, SPAN[1]))
