"""The rungs of the n-body ladder: their rows by case and by size, and their names.

The run itself describes its rungs (`Context.rungs`).
"""

import math
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from itertools import zip_longest
from statistics import mode

from strata.model import Cited, Sentence, ordered
from strata.model.units import count
from strata.run import Row, Run, Rung, grouped

SUITE = "nbody"
GIGA = 1e9
RATE = "interactions_per_second"
PROBLEM_WORDS = {"single": "one system", "galaxies": "many systems", "gravit": "Gravit"}
PROBLEMS = tuple(PROBLEM_WORDS)
THESSALY = (32, 4096)
"""Systems, and bodies of each, whose 80 steps are the 4.3e10 interactions of the report."""
ONCE = "pair_once"
"""The rung that computes each pair once, and so has its own issue limit."""
SEVERAL = ("several_gpus", "tensor_gpus")
"""The rungs whose work several GPUs share: its bodies, and its pairs."""
PREFERRED = ("cupti_net", "event")
"""Of several methods of a quantity, the preferred ones: the peers time with events."""

Place = tuple[str, int, int]
"""Problem, systems, bodies of each: cases at one place can be compared."""


def rung_name(rung: str) -> str:
    """`fast_math` as shown: fast math."""
    return rung.replace("_", " ")


def rms_bound(rung: Rung, bodies: int) -> float:
    """The harness's bound of the relative root mean square error of a rung.

    As in nbody/gravity/ladder.hpp: roundings of 2^-24, eight per term and √n for a sum of n terms;
    2^-19 if part of the terms is rounded to half precision.
    """
    sums = math.sqrt(bodies) if rung.sum == "running" else 16 + math.sqrt(bodies / 256)
    bound = (2 if rung.approximate else 1) * 2.0**-24 * (8 + sums)
    return bound + (2.0**-19 if rung.sum == "halves" else 0)


def size(row: Row) -> tuple[int, int]:
    """Systems of a case, and bodies of each; 0 if its parameters lack them."""
    return row.count("systems") or 0, row.count("bodies") or 0


def place_of(row: Row) -> Place:
    """The place of a case: its problem and its size."""
    return row.text("problem"), *size(row)


def place_rank(place: Place) -> tuple[bool, int]:
    """Sort key of places: larger ones of a problem rank higher; for galaxies the report's does."""
    problem, systems, bodies = place
    return (systems, bodies) == THESSALY and problem == "galaxies", systems * bodies * bodies


def interactions(row: Row) -> int:
    """N² for each system: the interactions per step, as counted in the literature."""
    systems, bodies = size(row)
    return systems * bodies * bodies


def gpus(row: Row) -> int:
    """The number of GPUs that share the work of a case."""
    return row.count("gpus") or 1


def unshared(row: Row) -> bool:
    """Whether a rung for several GPUs ran on only one, which is not a rung of its own."""
    return row.benchmark in SEVERAL and gpus(row) == 1


_AXIS_WORDS = {
    "gpus": "GPUs: {}",
    "layout": "{}",
    "unroll": "unroll {}",
    "block_size": "{} threads",
    "per_thread": "{} a thread",
    "warps": "{} warps",
    "sort_every": "sorted every {} steps",
}


def own_axes(row: Row) -> list[str]:
    """The axes of a case other than its problem and size, in display order."""
    return ordered(row.params.keys() - {"problem", "systems", "bodies"}, tuple(_AXIS_WORDS))


def axis_words(row: Row, axes: Iterable[str]) -> str:
    """`soaoas, unroll 8`: the values of some axes of a case."""
    words = (_AXIS_WORDS.get(axis, f"{axis} {{}}").format(row.params[axis]) for axis in axes)
    return ", ".join(words)


def size_words(row: Row) -> str:
    """`65 536 bodies`, `32 × 4096 bodies`."""
    systems, bodies = size(row)
    words = f"{count(bodies)} bodies"
    return f"{count(systems)} × {words}" if systems > 1 else words


def case_words(row: Row) -> str:
    """`65 536 bodies; soaoas, unroll 8`."""
    return f"{size_words(row)}; {axis_words(row, own_axes(row))}"


class Cases:
    """The rows of a run's rungs by case and quantity, rung by rung in ladder order.

    One of several methods of a quantity; with `valid`, only valid rows; those of other `suites`
    follow those of the ladder. `rungs` are by name, `sms` of the GPU, `cores` of the CPU, `facts`
    by case.
    """

    def __init__(self, run: Run, suites: Collection[str] = (), *, valid: bool = False) -> None:
        self.rungs = {rung.name: rung for rung in run.context.rungs}
        self.sms = run.context.device.sm_count or 0
        self.cores = run.context.host.cores
        self.facts = {case.id: case.facts for case in run.cases if case.suite == SUITE}
        self._rows: dict[tuple[str, str], Row] = {}
        rows = [row for rung in self.rungs for row in run.of(rung) if row.suite == SUITE]
        rows += [row for row in run.rows if row.suite in suites] if suites else []
        for row in rows:
            key = row.case, row.quantity
            if (row.valid or not valid) and (key not in self._rows or row.method in PREFERRED):
                self._rows[key] = row

    def get(self, row: Row, name: str) -> Row | None:
        """The quantity `name` of the same case as `row`."""
        return self._rows.get((row.case, name))

    def having(self, name: str) -> list[Row]:
        """One row of the quantity for each case that has it."""
        return [row for (_, found), row in self._rows.items() if found == name]

    def fastest(self, rates: Sequence[Row]) -> list[Row]:
        """The fastest case of each rung, all of one size if possible.

        Of a single system, unless few rungs computed one. Those of the largest single system of
        another size follow.
        """
        single, many = at_size(rates, "single"), at_size(rates, "galaxies")
        first = many | single if 2 * len(single) > len(many | single) else single | many
        shown = {rung: place_of(rows[0]) for rung, rows in first.items()}
        places = {place_of(row) for row in rates if row.text("problem") == "single"}
        others = places - {mode(shown.values())} if shown else places
        largest = max(others, key=place_rank, default=None)
        there = (row for row in rates if place_of(row) == largest != shown[row.benchmark])
        both = (first, grouped(there, lambda row: row.benchmark))
        return [best(rows[rung]) for rows in both for rung in self.rungs if rung in rows]

    def below(self, rung: str, measured: Container[str]) -> str:
        """The nearest measured rung below; empty if there is none."""
        before = self.rungs[rung].before
        return before if before in measured or not before else self.below(before, measured)


def by_place(rows: Iterable[Row]) -> Mapping[str, Mapping[Place, list[Row]]]:
    """Rows by rung, and within each by place."""
    by_rung = grouped(rows, lambda row: row.benchmark)
    return {rung: grouped(here, place_of) for rung, here in by_rung.items()}


def common_places(rows: Iterable[Row]) -> list[Place]:
    """The two most common places, or the only one; the larger first."""
    rungs_at = Counter(place for _, place in {(row.benchmark, place_of(row)) for row in rows})
    most = sorted(rungs_at, key=lambda place: (rungs_at[place], place_rank(place)))[-2:]
    return sorted(most, key=place_rank, reverse=True)


def at_size(rows: Sequence[Row], problem: str) -> dict[str, list[Row]]:
    """The rows of `problem` by rung, all of one size if possible.

    The size of most rungs, the largest of several; for galaxies the report's, if it was measured. A
    rung without that size has its own largest.
    """
    by_rung = by_place(row for row in rows if row.text("problem") == problem)
    have = Counter(place for places in by_rung.values() for place in places)
    rank = {place: (place_rank(place)[0], have[place], place_rank(place)) for place in have}
    common = max(have, key=rank.__getitem__, default=("", 0, 0))
    return {
        rung: places[common if common in places else max(places, key=place_rank)]
        for rung, places in by_rung.items()
    }


def best(rows: Iterable[Row]) -> Row:
    """The fastest; a valid one before an invalid one."""
    return max(rows, key=lambda row: (row.valid, row.value))


def sentence(words: str, *numbers: Cited) -> Sentence:
    """The words, with a number for each `{}`."""
    return tuple(part for pair in zip_longest(words.split("{}"), numbers) for part in pair if part)
