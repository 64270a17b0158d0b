"""A series of measured values: valid ones as a line in its band, invalid ones hollow."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from strata.run import Row


def series(
    panel: Axes,
    points: Sequence[tuple[float, Row]],
    *,
    colour: str,
    marker: str,
    linewidth: float,
    markersize: float,
) -> None:
    """Line: medians of valid rows, in the order given. Band: range of their samples."""
    valid = [(x, row) for x, row in points if row.valid]
    if valid:
        places = np.array([x for x, _ in valid])
        panel.fill_between(
            places, [row.minimum for _, row in valid], [row.maximum for _, row in valid],
            color=colour, alpha=0.18, linewidth=0,
        )  # fmt: skip
        panel.plot(
            places, [row.value for _, row in valid], color=colour, linewidth=linewidth,
            marker=marker, markersize=markersize, label="_valid",
        )  # fmt: skip
    invalid = [(x, row.value) for x, row in points if not row.valid]
    if invalid:
        panel.plot(
            *zip(*invalid, strict=True), linestyle="none", marker=marker, markersize=markersize,
            color=colour, markerfacecolor="white", markeredgewidth=0.7, label="_invalid",
        )  # fmt: skip
