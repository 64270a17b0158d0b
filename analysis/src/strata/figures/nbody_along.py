"""What does one axis of a rung gain: unrolled bodies, threads of a block, GPUs?

Siegel, Ributzka and Li (2009, IV) and Table 14.2 of the CUDA Handbook, redone.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from msgspec import structs

from strata.figures import _chart as c
from strata.figures._figure import Columns, Figure, attributes, params
from strata.ladder.best import AxisPoint, along
from strata.ladder.rungs import SEVERAL, rung_name, size_words
from strata.ladder.seeds import UNROLL_GAINS
from strata.run import Run, grouped

WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""
GAINS = ((4, "CUDA Handbook, 14.3", "P"), (128, "Siegel et al. 2009", "D"))
"""Factor, who published a speed-up over the loop as it was, marker. The Handbook's 4 is its best
of Table 14.2; Siegel's 128 is the whole of the tile."""
IDEAL = c.Look(line=":", width=0.9, colour=c.GREY)
RATES = c.Axis("interactions (10¹²/s)", zero=True)


def _from_one(run: Run, rung: str, axis: str) -> list[AxisPoint]:
    """Problems whose least value of the axis is 1."""
    return [one for one in along(run, rung, axis) if one.first.count(axis) == 1]


def unrolled(run: Run) -> list[AxisPoint]:
    """The gains of unrolling, valid if both rates are."""
    found = _from_one(run, "unrolled", "unroll")
    rows = [structs.replace(one.row, valid=one.row.valid and one.first.valid) for one in found]
    return [one._replace(row=row) for one, row in zip(found, rows, strict=True)]


def _lines(
    found: Sequence[AxisPoint],
    mark: Callable[[AxisPoint], c.Mark | None],
    words: Callable[[AxisPoint], str] = lambda one: size_words(one.row),
) -> list[c.Layer]:
    """One line per problem in its band, of the points with a mark."""
    firsts = {one.problem: one for one in reversed(found)}
    known = [(problem, look) for problem, look in c.PROBLEM_LOOK.items() if problem in firsts]
    looks = {problem: (words(firsts[problem]), look) for problem, look in known}
    return c.by_look(found, attrgetter("problem"), looks, mark, spread="band")


def unroll_chart(found: Sequence[AxisPoint]) -> c.Chart:
    """One line per problem; open marks for published values."""
    layers = _lines(
        found,
        lambda one: c.mark(one.value, one.row, one.first.value),
        lambda one: f"{size_words(one.row)}\n(1 is {one.first.value / 1e12:.3g} × 10¹²/s)",
    )
    for factor, who, marker in GAINS:
        look = c.look_of({who: c.THEIRS}, who, marker=marker, size=6.5)
        gain = UNROLL_GAINS[factor][0]
        layers.append(c.Series([c.Mark(factor, gain, told=f"{who}: {gain:.2f}×")], look, who))
    layers.append(c.Rule(1, c.Look(line="-", width=0.7)))
    factors = sorted({one.value for one in found} | {factor for factor, *_ in GAINS})
    names = [f"{factor}\n(all)" if factor == WHOLE else f"{factor}" for factor in factors]
    places = c.Axis("bodies in a turn of the inner loop", "log2", ticks=factors, names=names)
    values = c.Axis("rate over that of one body in a turn (×)")
    return c.Chart([[c.Panel(layers, places, values)]], 7.2, 3.2, "beside")


def _rates(found: Sequence[AxisPoint]) -> list[c.Layer]:
    return _lines(found, lambda one: c.mark(one.value, one.row, 1e12))


def block_chart(found: Sequence[AxisPoint]) -> c.Chart:
    """The rate, and below it the occupancy if counted: one line per problem."""
    sizes = sorted({one.value for one in found})
    places = c.Axis("threads of a block, and bodies of a tile", "log2", ticks=sizes)
    rows = [[c.Panel(_rates(found), places, RATES)]]
    if any(one.occupancy for one in found):
        shares = _lines(
            found, lambda one: c.mark(one.value, one.occupancy) if one.occupancy else None
        )
        rows.append([c.Panel(shares, places, c.Axis("occupancy (%)", limits=(0, 105)))])
    return c.Chart(rows, 7.2, 1.0 + 1.9 * len(rows), "beside")


def _block_caption(found: Sequence[AxisPoint]) -> str:
    beneath = " Below: counted active warps as a share of the maximum of an SM."
    return (
        "The rung block size: a block has as many threads as a tile has bodies. Lines: "
        "medians; bands: range of the samples."
        f"{beneath if any(one.occupancy for one in found) else ''} On an 8800 GTX, blocks of "
        "128 threads and one register less raised occupancy from 50 % to 67 %, and the speed "
        "by 6 % (Siegel, Ributzka and Li 2009, IV)."
    )


def gpu_chart(found: Sequence[AxisPoint]) -> c.Chart:
    """One column per rung: the rate, and below it the efficiency; dotted: ideal."""
    counts = sorted({one.value for one in found})
    places = c.Axis("GPUs", limits=(counts[0] - 0.3, counts[-1] + 0.3), ticks=counts)
    columns = grouped(found, lambda one: one.row.benchmark)
    upper, lower = [], []
    for rung, here in columns.items():
        ideals = [
            c.Series(
                [c.Mark(count, count * one.first.value / 1e12) for count in counts],
                replace(IDEAL, colour=c.PROBLEM_LOOK[one.problem].colour),
            )
            for one in here
            if one.row is one.first
        ]
        shares = _lines(
            here,
            lambda one: (
                c.Mark(one.value, 100 * one.efficiency, row=one.row) if one.efficiency else None
            ),
        )
        title = rung_name(rung) if len(columns) > 1 else ""
        upper.append(c.Panel([*ideals, *_rates(here)], places, RATES, title))
        whole = c.Rule(100, c.Look(line="-", width=0.7))
        lower.append(c.Panel([whole, *shares], places, c.Axis("efficiency (%)", limits=(0, 112))))
    keys = [c.Key("so many times one GPU", IDEAL)]
    return c.Chart([upper, lower], 7.2, 4.8, "beside", keys=keys)


def _gpu_caption(found: Sequence[AxisPoint]) -> str:
    most = {(one.row.benchmark, one.problem): one for one in found}.values()
    told = "; ".join(
        f"{100 * one.efficiency:.1f} % with {one.value} ({_rung_and_size(one)})"
        for one in most
        if one.efficiency is not None and one.value > 1
    )
    return (
        "The rungs several gpus and tensor gpus: systems, or for a single one the bodies and "
        "the pairs, each once, distributed over GPUs. Lines: medians of the best case; bands: "
        "range of the samples. Efficiency is the rate over the number of GPUs times the rate "
        f"of one GPU by the same code.{told and f' Efficiency: {told}.'}"
    )


def _rung_and_size(one: AxisPoint) -> str:
    return f"{rung_name(one.row.benchmark)}, {size_words(one.row)}"


def _columns(axis: str, **more: str) -> Columns:
    return params("problem", "systems", "bodies", axis, of="row") | attributes(
        interactions_per_second="row", low="row.minimum", high="row.maximum", **more
    )


FIGURES = (
    Figure(
        "nbody_unroll", "n-body: unrolling the inner loop", 222, unrolled, unroll_chart,
        lambda _: (
            "The rung unrolled: interactions per second by the unroll factor, relative to a "
            "loop with one body per iteration; 256 bodies are the whole tile. Lines: medians; "
            "bands: range of the samples. Open marks, on GPUs of their time: the best of "
            "Table 14.2 of the CUDA Handbook (factor 4: 18 % more) and the full unroll of "
            "Siegel, Ributzka and Li (2009, IV-A: a tile of 128, 18 % more)."
        ),
        _columns("unroll", over_unroll_1="gain"),
        label=lambda one: f"{size_words(one.row)}, unroll {one.value}",
    ),
    Figure(
        "nbody_block_size", "n-body: block size and occupancy", 223,
        lambda run: along(run, "block_size", "block_size"), block_chart, _block_caption,
        _columns("block_size", occupancy_percent="occupancy"),
        label=lambda one: f"{size_words(one.row)}, blocks of {one.value}",
    ),
    Figure(
        "nbody_gpus", "n-body: several GPUs", 225,
        lambda run: [one for rung in SEVERAL for one in _from_one(run, rung, "gpus")],
        gpu_chart, _gpu_caption, _columns("gpus", efficiency="efficiency"),
        label=lambda one: f"{_rung_and_size(one)}, {one.value}",
    ),
)  # fmt: skip
