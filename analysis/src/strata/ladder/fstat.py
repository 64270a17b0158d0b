"""The ladder of the F-statistic: which case stands for a rung, and what small pieces cost it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from strata.model.cases import CaseRows, by_case
from strata.model.text import Cited, Sentence
from strata.model.units import factor, quantity
from strata.run import Row, Run

SUITE = "fstat"
RATE = "terms_per_second"
AXES = ("sky", "cells", "stacks", "frequencies")

Place = tuple[str, ...]
"""The values of `AXES`: how much of the seed's observation a case has."""


def short(benchmark: str) -> str:
    """`fstat_per_call` as people write it: per call."""
    return benchmark.removeprefix(f"{SUITE}_").replace("_", " ")


def title(place: Place) -> str:
    """A place in words."""
    one = ("sky point", "cell", "stack", "frequency")
    more = ("sky points", "cells", "stacks", "frequencies")
    return " × ".join(
        f"{number} {(one if number == '1' else more)[axis]}" for axis, number in enumerate(place)
    )


def best(run: Run) -> Mapping[tuple[Place, str], CaseRows]:
    """The best valid case of each rung at each place, in the order of the ladder."""
    found: dict[tuple[Place, str], CaseRows] = {}
    for story in run.context.ladders.get(SUITE, ()):
        for case in by_case(run.of(story.name)):
            row = case.row(RATE)
            if row is None:
                continue
            key = (tuple(row.text(axis) for axis in AXES), story.name)
            known = found.get(key)
            before = known.row(RATE) if known else None
            if before is None or (row.valid, row.value) > (before.valid, before.value):
                found[key] = case
    return found


def seconds(case: CaseRows | None) -> float | None:
    """Of a pass over all sky points; None where it is not known, or not valid."""
    rate, terms = (case.row(RATE), case.row("terms")) if case else (None, None)
    return terms.value / rate.value if rate and rate.valid and terms else None


class SmallPieces(NamedTuple):
    """What a small copy costs, and an allocation with its release, in seconds; and of whom.

    Each rung does without one kind of work of the one before it, and the difference is its price.
    """

    copy: float
    allocation: float
    share: float
    """Of the pass that has them all."""
    packed: float
    """By which factor the pass is shorter where the pieces are packed."""
    row: Row
    """The rate of the rung that has them all."""


def small_pieces(run: Run) -> SmallPieces | None:
    """From the first place that has all three rungs; None where there is none."""
    found = best(run)
    for place, name in found:
        if name != f"{SUITE}_per_call":
            continue
        cases = [found.get((place, f"{SUITE}_{rung}")) for rung in ("kept_memory", "packed")]
        calls, kept, packed = found[place, name], *cases
        times = [seconds(case) for case in (calls, kept, packed)]
        counts = [
            case.row(what, provenance="counted") if case else None
            for case, what in ((kept, "copies"), (packed, "copies"), (calls, "allocations"))
        ]
        row = calls.row(RATE)
        if row is None or None in times or None in counts:
            continue
        all_calls, without_memory, without_copies = (time for time in times if time is not None)
        more, fewer, allocations = (count.value for count in counts if count is not None)
        copy = (without_memory - without_copies) / (more - fewer)
        allocation = (all_calls - without_memory) / allocations
        if copy <= 0 or allocation <= 0:
            continue  # what the rungs differ by is less than their noise
        return SmallPieces(
            copy, allocation, 1 - without_copies / all_calls, all_calls / without_copies, row
        )
    return None


def sentences(run: Run) -> Iterator[Sentence]:
    """What small copies cost on this device."""
    if found := small_pieces(run):
        row = found.row
        yield (
            "A small copy costs ", Cited(quantity(found.copy, "s"), row),
            ", and an allocation of memory with its release ",
            Cited(quantity(found.allocation, "s"), row), ": together they take ",
            Cited(f"{100 * found.share:.0f} %", row),
            " of an F-statistic that calls the GPU for every sum. Packing its pieces makes it ",
            Cited(factor(found.packed), row), " as fast.",
        )  # fmt: skip
