"""How far does one axis of a rung go: bodies in a turn of the loop, threads of a block, GPUs?

Siegel, Ributzka and Li (2009, IV) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Columns, Figure, attributes, params
from strata.ladder.best import along
from strata.ladder.rungs import SEVERAL, size_words
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Row, Run

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""
GAINS = ((4, "CUDA Handbook, 14.3", "P"), (128, "Siegel et al. 2009", "D"))
"""Factor, who published a speed-up over the loop as it was, marker. The Handbook's 4 is its best
of Table 14.2; Siegel's 128 is the whole of the tile."""
IDEAL = c.Look(line=":", width=0.9, colour=c.GREY)
RATES = c.Axis(label="interactions (10¹²/s)", zero=True)


class Point(NamedTuple):
    """The rate of a rung at a value of an axis, and at the least; `occupancy` is in per cent."""

    value: int
    row: Row
    first: Row
    occupancy: Row | None

    @property
    def gain(self) -> float:
        """The rate over that at the least value."""
        return self.row.value / self.first.value

    @property
    def valid(self) -> bool:
        """Whether both rates are."""
        return self.row.valid and self.first.valid

    @property
    def efficiency(self) -> float | None:
        """Of what so many times one GPU would do; None where one of both is invalid."""
        return self.gain / self.value if self.valid else None


def points(run: Run, rung: str, axis: str, least: int | None = None) -> Sequence[Point]:
    """One item per problem and value; with `least`, of problems whose least value it is alone."""
    found = along(run, rung, axis)
    first = {one.problem: one.row for one in reversed(found)}
    return [
        Point(one.value, one.row, base, one.occupancy)
        for one in found
        if (base := first[one.problem]).value > 0 and least in (None, base.count(axis))
    ]


def _lines(
    found: Sequence[Point],
    mark: Callable[[Point], c.Mark | None],
    words: Callable[[Point], str] = lambda one: size_words(one.row),
) -> list[c.Layer]:
    """A line in its band for each problem, of the points that have a mark."""
    return [
        c.Series(
            marks=[shown for one in here if (shown := mark(one))],
            look=c.PROBLEM_LOOK[problem], label=words(here[0]), spread="band",
        )
        for problem, here in c.grouped(found, lambda one: one.row.text("problem")).items()
    ]  # fmt: skip


def _rates(found: Sequence[Point]) -> list[c.Layer]:
    return _lines(found, lambda one: c.mark(one.value, one.row, 1e12))


def unroll_chart(found: Sequence[Point]) -> c.Chart:
    """A line for each problem; open marks for what was published."""
    layers = _lines(
        found,
        lambda one: replace(c.mark(one.value, one.row, one.first.value), valid=one.valid),
        lambda one: f"{size_words(one.row)}\n(1 is {one.first.value / 1e12:.3g} × 10¹²/s)",
    )
    for factor, who, marker in GAINS:
        look, gain = replace(c.THEIRS, marker=marker, size=6.5), UNROLL_GAINS[factor][0]
        layers.append(c.Series(marks=[c.Mark(factor, gain)], look=look, label=who))
    layers.append(c.Rule(at=1, look=c.Look(line="-", width=0.7)))
    factors = sorted({one.value for one in found} | {factor for factor, *_ in GAINS})
    names = [f"{factor}\n(all)" if factor == WHOLE else f"{factor}" for factor in factors]
    label = "bodies in a turn of the inner loop"
    places = c.Axis(label=label, scale="log2", ticks=factors, names=names)
    values = c.Axis(label="rate over that of one body in a turn (×)")
    panel = c.Panel(layers=layers, places=places, values=values)
    return c.one(panel, width=7.2, height=3.2, legend="beside")


def block_chart(found: Sequence[Point]) -> c.Chart:
    """The rate, and beneath it the occupancy where it was counted: a line for each problem."""
    sizes = sorted({one.value for one in found})
    places = c.Axis(label="threads of a block, and bodies of a tile", scale="log2", ticks=sizes)
    rows = [[c.Panel(layers=_rates(found), places=places, values=RATES)]]
    if any(one.occupancy for one in found):
        counted = _lines(
            found, lambda one: c.mark(one.value, one.occupancy) if one.occupancy else None
        )
        share = c.Axis(label="occupancy (%)", limits=(0, 105))
        rows.append([c.Panel(layers=counted, places=places, values=share)])
    return c.Chart(rows=rows, width=7.2, height=1.0 + 1.9 * len(rows), legend="beside")


def block_caption(found: Sequence[Point]) -> str:
    """What the lines are."""
    occupancy = (
        " Beneath: counted warps in flight as a share of all that an SM can hold."
        if any(one.occupancy for one in found)
        else ""
    )
    return (
        "The rung block size: a block is as many threads as a tile has bodies. Lines: medians; "
        f"bands: range of the samples.{occupancy} On an 8800 GTX blocks of 128 threads and a "
        "register less brought 67 % of occupancy in place of 50 %, and 6 % (Siegel, Ributzka and "
        "Li 2009, IV)."
    )


def gpu_chart(found: Sequence[Point]) -> c.Chart:
    """The rate, and beneath it the efficiency: a line for each problem; dotted: the ideal."""
    counts = sorted({one.value for one in found})
    places = c.Axis(label="GPUs", limits=(counts[0] - 0.3, counts[-1] + 0.3), ticks=counts)
    ideals: list[c.Layer] = [
        c.Series(
            marks=[c.Mark(count, count * one.first.value / 1e12) for count in counts],
            look=replace(IDEAL, colour=c.PROBLEM_LOOK[one.row.text("problem")].colour),
        )
        for one in found
        if one.row is one.first
    ]
    shares = _lines(
        found, lambda one: c.Mark(one.value, 100 * one.efficiency) if one.efficiency else None
    )
    whole = c.Rule(at=100, look=c.Look(line="-", width=0.7))
    efficiency = c.Axis(label="efficiency (%)", limits=(0, 112))
    upper = c.Panel(layers=ideals + _rates(found), places=places, values=RATES)
    lower = c.Panel(layers=[whole, *shares], places=places, values=efficiency)
    keys = [c.Key(label="so many times one GPU", look=IDEAL)]
    return c.Chart(rows=[[upper], [lower]], width=7.2, height=4.8, legend="beside", keys=keys)


def gpu_caption(found: Sequence[Point]) -> str:
    """What the lines are, and the efficiency with most GPUs."""
    most = {one.row.text("problem"): one for one in found}
    told = [
        f"{100 * one.efficiency:.1f} % with {one.value} ({size_words(one.row)})"
        for one in most.values()
        if one.efficiency is not None and one.value > 1
    ]
    efficiency = f" Efficiency: {'; '.join(told)}." if told else ""
    return (
        "The rung several GPUs: systems, or the bodies of a single one, shared out among GPUs. "
        "Lines: medians of the best case; bands: range of the samples. Efficiency is the rate over "
        f"so many times that of one GPU by the same code.{efficiency}"
    )


def _columns(axis: str, **more: str) -> Columns:
    return params("problem", "systems", "bodies", axis, of="row") | attributes(
        interactions_per_second="row.value", low="row.minimum", high="row.maximum", **more,
        case="row.case",
    )  # fmt: skip


FIGURES = (
    Figure(
        name="nbody_unroll",
        title="n-body: unrolling the inner loop",
        order=203,
        items=lambda run: points(run, "unrolled", "unroll", 1),
        chart=unroll_chart,
        caption=lambda _: (
            "The rung unrolled: interactions in a second by the unroll factor, over those of a "
            "loop that takes one body in a turn; 256 bodies are the whole tile. Lines: medians; "
            "bands: range of the samples. Open marks, on GPUs of their time: the best of Table "
            "14.2 of the CUDA Handbook (factor 4: 18 % more) and the full unroll of Siegel, "
            "Ributzka and Li (2009, IV-A: a tile of 128, 18 % more)."
        ),
        columns=_columns("unroll", over_unroll_1="gain", valid="valid"),
        invalid=lambda one: "" if one.valid else f"{size_words(one.row)}, unroll {one.value}",
    ),
    Figure(
        name="nbody_block_size",
        title="n-body: the size of blocks, and occupancy",
        order=204,
        items=lambda run: points(run, "block_size", "block_size"),
        chart=block_chart,
        caption=block_caption,
        columns=_columns("block_size", occupancy_percent="occupancy", valid="row.valid"),
        invalid=lambda one: (
            "" if one.row.valid else f"{size_words(one.row)}, blocks of {one.value}"
        ),
    ),
    Figure(
        name="nbody_gpus",
        title="n-body: several GPUs",
        order=207,
        items=lambda run: points(run, SEVERAL, "gpus", 1),
        chart=gpu_chart,
        caption=gpu_caption,
        columns=_columns("gpus", efficiency="efficiency", valid="row.valid"),
        invalid=lambda one: "" if one.row.valid else f"{size_words(one.row)}, {one.value}",
    ),
)
