"""What do the warps of each n-body rung wait for?"""

from collections.abc import Mapping, Sequence
from statistics import mode

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder.rungs import rung_name, size_words
from strata.ladder.stalls import STATES, Stalls, stalls

COLOURS: Mapping[str, str] = {
    "selected": "#009E73",
    "not_selected": "#8fd3bd",
    "wait": "#0072B2",
    "math_pipe_throttle": "#56B4E9",
    "short_scoreboard": "#E69F00",
    "mio_throttle": "#f3d28a",
    "long_scoreboard": "#D55E00",
    "lg_throttle": "#f0b48a",
    "dispatch_stall": "#CC79A7",
    "barrier": "#444444",
    "branch_resolving": "#9b8ac4",
    "imc_miss": "#F0E442",
    "no_instruction": "#8a6d3b",
    "other": "#7a7a7a",
}
"""Of each state; two that wait for the same unit share a hue."""
HATCHES = {"lg_throttle": "....", "branch_resolving": "\\\\\\\\", "other": "////"}
"""Of those whose colours some eyes take for another's."""
LEAST = 0.005
"""Of the warps' time: a smaller share of every rung is part of the other ones."""


def chart(rungs: Sequence[Stalls]) -> c.Chart:
    """Stacked bars of shares, labelled with the number of warps and the issue utilisation."""
    shown = [state for state in STATES if any(one.shares.get(state, 0) >= LEAST for one in rungs)]
    layers, ends = [], [0.0] * len(rungs)
    for state in [*shown, "other"]:
        starts = ends
        ends = [end + 100 * one.shares.get(state, 0) for end, one in zip(ends, rungs, strict=True)]
        if state == "other":
            ends = [100.0] * len(rungs)
        marks = [
            c.Mark(place, ends[place], start=starts[place], valid=row.valid, row=row)
            for place, row in enumerate(one.all_states for one in rungs)
        ]
        hatch, label = HATCHES.get(state, ""), STATES.get(state, "other")
        look = c.Look(COLOURS[state], hatch=hatch, hollow=bool(hatch))
        layers.append(c.Bars(marks, look, label, thick=0.68))
    busy = [f"{one.utilisation.value:.0f} %, " if one.utilisation else "" for one in rungs]
    beside = [
        (place, f"{busy[place]}{one.all_states.value:.3g}", c.INK)
        for place, one in enumerate(rungs)
    ]
    head = (-0.75, "issue slots used, warps" if any(busy) else "warps", c.INK)
    places = c.names_axis(_names(rungs))
    values = c.Axis("time of the warps in flight (%)", limits=(0, 100))
    panel = c.Panel(layers, places, values, sideways=True, beside=[*beside, head])
    return c.Chart([[panel]], 8.4, max(3.4, 0.9 + 0.3 * len(rungs)), "beside")


def _names(rungs: Sequence[Stalls]) -> list[str]:
    """Names of the rungs, with their size if it is not the common one."""
    of = [(rung_name(one.rung), size_words(one.all_states)) for one in rungs]
    return [name if size == _common(rungs) else f"{name}\n{size}" for name, size in of]


def _common(rungs: Sequence[Stalls]) -> str:
    """The most common size."""
    return mode(size_words(one.all_states) for one in rungs)


FIGURE = Figure(
    "nbody_stalls", "n-body: what warps wait for", 221, stalls, chart,
    lambda rungs: (
        f"Counted in one step of each rung's fastest case ({_common(rungs)}, or as named "
        "beneath): the share of the time of all active warps spent issuing, ready while "
        "another issued, or waiting, by reason; reasons below half a per cent everywhere are "
        "other. Beside the bars: cycles in which a scheduler issued, and active warps per "
        "issued instruction."
    ),
    attributes("rung")
    | {state: lambda one, state=state: one.shares.get(state) for state in (*STATES, "other")}
    | attributes(warps_per_instruction="all_states", issue_utilisation_percent="utilisation"),
    row=lambda one: one.all_states,
    label=lambda one: rung_name(one.rung),
)  # fmt: skip
