"""Which SMs and lines of L2 are near each other: all latencies, and the chip as a plan."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from strata.figures._plot import figure, prose
from strata.model import chip_map
from strata.model.chip_map import Cells, Floats, Labels
from strata.model.units import number
from strata.run import Run

OPERATIONS = {"load": "repeated loads", "exchange": "atomic exchanges"}


def gpcs(of: Cells) -> Labels:
    """The GPC of each SM by the clusters that it shared, or its group by latency."""
    known = of.known("gpc")
    return chip_map.sm_groups(of, 3, 20).labels if known is None else chip_map.by_first(known)


def data(run: Run) -> pd.DataFrame:
    """Mean cycles of each SM and group of lines; SMs in the order of sides, GPCs and numbers."""
    frames = []
    every = [of for operation in OPERATIONS if (of := chip_map.cells(run, operation))]
    sides = chip_map.sides(every[-1]).sms if every else ()  # exchanges show them best
    for of in every:
        row, lines = of.rows["line_cycles"], chip_map.line_groups(of)
        means = np.array([of.cycles[:, lines.labels == k].mean(axis=1) for k in range(lines.count)])
        groups, of_sm = _by_likeness(means), gpcs(of)
        for place, sm in enumerate(np.lexsort((np.arange(len(sides)), of_sm, sides))):
            frames.append(
                pd.DataFrame(
                    {
                        "operation": of.operation, "place": place, "sm": sm, "gpc": of_sm[sm],
                        "group": np.arange(lines.count), "lines": np.bincount(lines.labels)[groups],
                        "cycles": means[groups, sm], "valid": row.valid, "case": row.case,
                    }
                ).assign(_row=pd.Series([row] * lines.count), _label="")
            )  # fmt: skip
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _by_likeness(means: Floats) -> Labels:
    """Groups in an order in which neighbours are alike: by their strongest pattern."""
    pattern = means - means.mean(axis=0)
    order: Labels = np.argsort(np.linalg.svd(pattern, full_matrices=False)[0][:, 0])
    return order


def caption(data: pd.DataFrame) -> str:
    parts = []
    for operation, of in data.groupby("operation", sort=False):
        low, high = of.cycles.min(), of.cycles.max()
        parts.append(
            f"{OPERATIONS[f'{operation}'].capitalize()}: {of.group.nunique()} groups of lines, "
            f"{number(low)} to {number(high)} cycles."
        )
    return prose(
        "Latency of L2 from each SM to each group of lines, means over the lines. SMs are ordered "
        "by side of L2 and GPC (white lines); lines are grouped by average linkage of their "
        "latencies.",
        *parts,
    )


def _picture(ax: Axes, cells: Floats, label: str) -> None:
    image = ax.imshow(cells, aspect="auto", interpolation="nearest", cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label=label)
    ax.grid(visible=False)


@figure("chip_map", "L2 latency of every SM and group of lines", 9, data, caption, size=(7, 4.4))
def draw(data: pd.DataFrame, figure: Figure) -> None:
    parts = list(data.groupby("operation", sort=False))
    panels: Sequence[Any] = figure.subplots(1, len(parts), squeeze=False)[0]
    for ax, (operation, of) in zip(panels, parts, strict=True):
        cells = of.pivot_table("cycles", "place", "group")
        _picture(ax, cells.to_numpy(), f"{operation} (cycles)")
        of_sm = of.drop_duplicates("place").gpc.to_numpy()
        for place in np.flatnonzero(np.diff(of_sm)):
            ax.axhline(place + 0.5, color="white", lw=0.6)
        ax.set_xlabel("group of lines")
        ax.xaxis.get_major_locator().set_params(integer=True)
    panels[0].set_ylabel("SMs, by side and GPC")


def plan_data(run: Run) -> pd.DataFrame:
    """For each SM its side, GPC and TPC, and its latencies to lines near and far."""
    of = chip_map.cells(run, "exchange")
    if of is None or not (sides := chip_map.sides(of)).are_two:
        return pd.DataFrame()
    row, sms, tpc = of.rows["line_cycles"], np.arange(len(of.cycles)), of.known("tpc")
    tpc = sms // 2 * 2 if tpc is None else tpc
    near = sides.sms[:, None] == sides.lines
    return pd.DataFrame(
        {
            "sm": sms, "side": sides.sms, "gpc": gpcs(of), "tpc": tpc,
            "near_cycles": np.nanmean(np.where(near, of.cycles, np.nan), axis=1),
            "far_cycles": np.nanmean(np.where(near, np.nan, of.cycles), axis=1),
            "valid": row.valid, "case": row.case,
        }
    ).assign(_row=pd.Series([row] * len(sms)), _label="")  # fmt: skip


def plan_caption(data: pd.DataFrame) -> str:
    sizes = " and ".join(f"{count}" for count in data.groupby("side").sm.count())
    return (
        f"SMs by side of L2 ({sizes}) and GPC, the two SMs of a TPC one above the other, and the "
        "mean latency of their atomic exchanges with lines whose home is on their side. GPCs and "
        "TPCs by clusters of blocks, which run in one of them: a GPC of one TPC is one that no "
        "cluster linked with others. The place of a GPC within a side is not known."
    )


@figure("chip_plan", "The chip as a plan", 9, plan_data, plan_caption, size=(7, 3.4))
def draw_plan(data: pd.DataFrame, figure: Figure) -> None:
    panels = figure.subplots(1, data.side.nunique(), squeeze=False)[0]
    low, high = data.near_cycles.min(), data.near_cycles.max()
    for ax, (side, of) in zip(panels, data.groupby("side"), strict=True):
        rows = [part.sort_values(["tpc", "sm"]) for _, part in of.groupby("gpc")]
        cells = np.full((3 * len(rows), max(len(part) for part in rows) // 2 + 1), np.nan)
        for place, part in enumerate(rows):
            column = (part.tpc.rank(method="dense") - 1).astype(int)
            cells[3 * place + part.groupby("tpc").cumcount(), column] = part.near_cycles
        image = ax.imshow(cells, aspect="auto", cmap="viridis", vmin=low, vmax=high)
        ax.set_yticks(3 * np.arange(len(rows)) + 0.5, [f"{part.gpc.iloc[0]}" for part in rows])
        ax.set(xlabel="TPC of the GPC", title=f"side {side}")
        ax.grid(visible=False)
    panels[0].set_ylabel("GPC")
    figure.colorbar(image, ax=list(panels), label="near exchange (cycles)")
