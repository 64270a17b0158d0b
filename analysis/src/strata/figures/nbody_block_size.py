"""Which size of blocks is best for n-body, and is it for its occupancy?

Siegel, Ributzka and Li (2009, IV-B) won 6 % by an occupancy of 67 % in place of 50 %.
"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import rungs as ladder
from strata.ladder.best import AxisPoint, along


def chart(points: Sequence[AxisPoint]) -> c.Chart:
    """The rate, and beneath it the occupancy where it was counted: a line for each problem."""
    rates: list[c.Layer] = []
    occupancies: list[c.Layer] = []
    for problem, here in c.grouped(points, lambda point: point.problem).items():
        look = c.PROBLEM_LOOK[problem]
        label = ladder.size_words(here[0].row)
        rate = [c.mark(point.value, point.row, 1e12) for point in here]
        rates.append(c.Series(marks=rate, look=look, label=label, spread="band"))
        counted = [c.mark(point.value, point.occupancy) for point in here if point.occupancy]
        if counted:
            occupancies.append(c.Series(marks=counted, look=look, spread="band"))
    sizes = sorted({point.value for point in points})
    places = c.Axis(label="threads of a block, and bodies of a tile", scale="log2", ticks=sizes)
    values = c.Axis(label="interactions (10¹²/s)", zero=True)
    panels = [c.Panel(layers=rates, places=places, values=values)]
    if occupancies:
        share = c.Axis(label="occupancy (%)", limits=(0, 105))
        panels.append(c.Panel(layers=occupancies, places=places, values=share))
    rows = [[panel] for panel in panels]
    return c.Chart(rows=rows, width=7.2, height=1.0 + 1.9 * len(rows), legend="beside")


def caption(points: Sequence[AxisPoint]) -> str:
    """What the lines are."""
    occupancy = (
        " Beneath: counted warps in flight as a share of all that an SM can hold."
        if any(point.occupancy for point in points)
        else ""
    )
    return (
        "The rung block size: a block is as many threads as a tile has bodies. Lines: medians; "
        f"bands: range of the samples.{occupancy} On an 8800 GTX blocks of 128 threads and a "
        "register less brought 67 % of occupancy in place of 50 %, and 6 % (Siegel, Ributzka and "
        "Li 2009, IV)."
    )


FIGURE = Figure(
    name="nbody_block_size",
    title="n-body: the size of blocks, and occupancy",
    order=204,
    items=lambda run: along(run, "block_size", "block_size"),
    chart=chart,
    caption=caption,
    columns={
        "problem": lambda point: point.problem,
        "systems": lambda point: ladder.size(point.row)[0],
        "bodies": lambda point: ladder.size(point.row)[1],
        "block_size": lambda point: point.value,
    }
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes(occupancy_percent="occupancy")
    | attributes("valid", "case", of="row"),
    invalid=lambda point: (
        "" if point.row.valid else f"{ladder.size_words(point.row)}, blocks of {point.value}"
    ),
)
