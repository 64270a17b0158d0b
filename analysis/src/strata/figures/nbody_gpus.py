"""How far does n-body go with several GPUs?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.ladder import rungs as ladder
from strata.ladder.best import AxisPoint, along
from strata.run import Row, Run

IDEAL = c.Look(line=":", width=0.9, colour=c.GREY)


@dataclass(frozen=True, slots=True)
class Shared:
    """The rate of some GPUs, and that of one by the same code."""

    point: AxisPoint
    alone: Row

    @property
    def row(self) -> Row:
        """The rate."""
        return self.point.row

    @property
    def efficiency(self) -> float | None:
        """Of what so many times one GPU would do; None where one of both is invalid."""
        if not (self.row.valid and self.alone.valid) or self.alone.value <= 0:
            return None
        return self.row.value / (self.point.value * self.alone.value)


def items(run: Run) -> Sequence[Shared]:
    """One item per problem and number of GPUs; nothing of a problem without one GPU."""
    points = along(run, ladder.SEVERAL, "gpus")
    alone = {point.problem: point.row for point in points if point.value == 1}
    return [Shared(point, alone[point.problem]) for point in points if point.problem in alone]


def chart(shared: Sequence[Shared]) -> c.Chart:
    """The rate, and beneath it the efficiency: a line for each problem; dotted: the ideal."""
    counts = sorted({one.point.value for one in shared})
    rates: list[c.Layer] = []
    shares: list[c.Layer] = [c.Rule(at=100, look=c.Look(line="-", width=0.7))]
    for problem, here in c.grouped(shared, lambda one: one.point.problem).items():
        look, alone = c.PROBLEM_LOOK[problem], here[0].alone
        ideal = [c.Mark(count, count * alone.value / 1e12) for count in counts]
        rate = [c.mark(one.point.value, one.row, 1e12) for one in here]
        share = [c.Mark(one.point.value, 100 * one.efficiency) for one in here if one.efficiency]
        rates += [
            c.Series(marks=ideal, look=replace(IDEAL, colour=look.colour)),
            c.Series(marks=rate, look=look, label=ladder.size_words(alone), spread="band"),
        ]
        shares.append(c.Series(marks=share, look=look))
    places = c.Axis(label="GPUs", limits=(counts[0] - 0.3, counts[-1] + 0.3), ticks=counts)
    rate_axis = c.Axis(label="interactions (10¹²/s)", zero=True)
    share_axis = c.Axis(label="efficiency (%)", limits=(0, 112))
    upper = c.Panel(layers=rates, places=places, values=rate_axis)
    lower = c.Panel(layers=shares, places=places, values=share_axis)
    keys = [c.Key(label="so many times one GPU", look=IDEAL)]
    return c.Chart(rows=[[upper], [lower]], width=7.2, height=4.8, legend="beside", keys=keys)


def caption(shared: Sequence[Shared]) -> str:
    """What the lines are, and the efficiency with most GPUs."""
    told = []
    for here in c.grouped(shared, lambda one: one.point.problem).values():
        last = here[-1]
        if last.efficiency is not None and last.point.value > 1:
            words = ladder.size_words(last.row)
            told.append(f"{100 * last.efficiency:.1f} % with {last.point.value} ({words})")
    efficiency = f" Efficiency: {'; '.join(told)}." if told else ""
    return (
        "The rung several GPUs: systems, or the bodies of a single one, shared out among GPUs. "
        "Lines: medians of the best case; bands: range of the samples. Efficiency is the rate over "
        f"so many times that of one GPU by the same code.{efficiency}"
    )


FIGURE = Figure(
    name="nbody_gpus",
    title="n-body: several GPUs",
    order=207,
    items=items,
    chart=chart,
    caption=caption,
    columns={
        "problem": lambda one: one.point.problem,
        "systems": lambda one: ladder.size(one.row)[0],
        "bodies": lambda one: ladder.size(one.row)[1],
        "gpus": lambda one: one.point.value,
    }
    | attributes(of="row", interactions_per_second="value", low="minimum", high="maximum")
    | attributes("efficiency")
    | attributes("valid", "case", of="row"),
    invalid=lambda one: "" if one.row.valid else f"{ladder.size_words(one.row)}, {one.point.value}",
)
