"""What do the warps of each rung of n-body wait for?"""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.patches import Patch

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import INK, invalid_note, legend_beside
from strata.ladder import rungs as ladder
from strata.ladder import stalls as ladder_stalls
from strata.ladder.stalls import STATES, Stalls
from strata.model import units
from strata.run import Row, Run

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
    "other": "#c8c8c8",
}
"""Of each state; two that wait for the same unit share a hue."""
LEAST = 0.005
"""Of the warps' time: a smaller share of every rung is part of the other ones."""
ROOM = 2 * units.SPACE


def prepare(run: Run) -> Sequence[Stalls]:
    """One item per rung whose stalls were counted."""
    return ladder_stalls.stalls(run)


def grid(stalls: Sequence[Stalls]) -> Grid:
    """One panel, a bar for each rung; room for the names of all states beside them."""
    return Grid(1, 1, width=8.4, height=max(3.4, 0.9 + 0.3 * len(stalls)))


def _states(stalls: Sequence[Stalls]) -> list[str]:
    """The states that some rung spends time in, as they are stacked."""
    return [
        state for state in STATES if any(one.shares.get(state, 0) >= LEAST for one in stalls)
    ] + ["other"]


def draw(stalls: Sequence[Stalls], axes: AxesGrid) -> None:
    """Stacked bars of shares, and at their ends how many warps there were and how busy slots."""
    (panel,) = flat(axes)
    states = _states(stalls)
    for place, one in enumerate(stalls):
        left = 0.0
        for state in states:
            share = one.shares.get(state, 0.0)
            if state == "other":
                share = max(0.0, 1 - left / 100)
            panel.barh(
                place, 100 * share, left=left, height=0.68, color=COLOURS[state],
                edgecolor="white", linewidth=0.4, alpha=1 if one.all_states.valid else 0.4,
                label="_share",
            )  # fmt: skip
            left += 100 * share
        words = f"{one.all_states.value:.3g}"
        if one.utilisation:
            words = f"{one.utilisation.value:.0f} %, {words}"
        panel.annotate(
            words, (100, place), xytext=(5, 0), textcoords="offset points", va="center",
            fontsize=7.5, color=INK,
        )  # fmt: skip
    used = any(one.utilisation for one in stalls)
    panel.annotate(
        "issue slots used, warps" if used else "warps",
        (100, -0.62), xytext=(5, 0), textcoords="offset points", va="bottom", fontsize=7, color=INK,
        annotation_clip=False,
    )  # fmt: skip
    panel.set_xlim(0, 126)
    panel.spines["bottom"].set_bounds(0, 100)
    panel.set_xticks(range(0, 101, 20))
    panel.set_ylim(len(stalls) - 0.45, -0.6)
    panel.set_yticks(range(len(stalls)), [ROOM + ladder.rung_name(one.rung) for one in stalls])
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.set_xlabel("time of the warps in flight (%)")
    handles: list[Artist] = [
        Patch(facecolor=COLOURS[state], label=STATES.get(state, "other")) for state in states
    ]
    legend_beside(panel, handles)


def caption(stalls: Sequence[Stalls]) -> str:
    """What the bars are, and which case they are of."""
    sizes = ", ".join(dict.fromkeys(ladder.size_words(one.all_states) for one in stalls))
    return (
        f"Counted in one step of the fastest case of each rung ({sizes}): of the time of all warps "
        "in flight, how much they spent issuing, ready while another issued, or waiting, and for "
        "what; less than half a per cent everywhere is other. Beside the bars: cycles in which a "
        "scheduler issued, and warps that a scheduler had for each instruction issued."
        + invalid_note(ladder.rung_name(one.rung) for one in stalls if not one.all_states.valid)
    )


def cells(one: Stalls) -> tuple[object, ...]:
    """One line of the data file."""
    shares = one.shares
    return (
        one.rung, *(shares.get(state, "") for state in (*STATES, "other")),
        one.all_states.value, one.utilisation.value if one.utilisation else "",
        one.all_states.valid, one.all_states.case,
    )  # fmt: skip


def source(one: Stalls) -> Row:
    """The row of all states."""
    return one.all_states


FIGURE = Figure(
    name="nbody_stalls",
    title="n-body: what warps wait for",
    order=202,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "rung", *STATES, "other", "warps_per_instruction", "issue_utilisation_percent",
        "valid", "case",
    ),
    cells=cells,
    source=source,
    of_run=True,
)  # fmt: skip
