"""The ladder of the F-statistic: the case of each rung, and the cost of small pieces."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from strata.model.cases import CaseRows, by_case
from strata.model.text import Cited, Sentence
from strata.model.units import factor, quantity
from strata.run import Row, Run, grouped

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
    found = {}
    for story in run.context.ladders.get(SUITE, ()):
        cases = by_case(run.of(story.name))
        rated = [(row, case) for case in cases if (row := case.row(RATE))]
        at = grouped(rated, lambda item: tuple(item[0].text(axis) for axis in AXES))
        for place, here in at.items():
            _, case = max(here, key=lambda item: (item[0].valid, item[0].value))
            found[place, story.name] = case
    return found


def seconds(case: CaseRows | None) -> float | None:
    """Of a pass over all sky points; None where it is not known, or not valid."""
    rate, terms = (case.row(RATE), case.row("terms")) if case else (None, None)
    return terms.value / rate.value if rate and rate.valid and terms else None


class SmallPieces(NamedTuple):
    """The cost of a small copy, and of an allocation with its release, in seconds, by source.

    Each rung does without one kind of work of the one before it, and the difference is its price.
    """

    copy: float
    allocation: float | None
    """None where the rung that allocates has no valid rate."""
    share: float
    """Of the pass that has them all."""
    packed: float
    """By which factor the pass is shorter where the pieces are packed."""
    row: Row
    """The rate of the rung that has them all."""


def small_pieces(run: Run) -> SmallPieces | None:
    """From the first place with valid rates of what copies pieces and of what packs them."""
    found = best(run)
    for place, name in found:
        if name != f"{SUITE}_kept_memory":
            continue
        kept, packed = found[place, name], found.get((place, f"{SUITE}_packed"))
        calls = found.get((place, f"{SUITE}_per_call"))
        many, few = (
            case.row("copies", provenance="counted") if case else None for case in (kept, packed)
        )
        copying, packing, row = seconds(kept), seconds(packed), kept.row(RATE)
        if copying is None or packing is None or not many or not few or not row:
            continue
        copy = (copying - packing) / (many.value - few.value)
        if copy <= 0:
            continue  # what the rungs differ by is less than their noise
        allocation, whole = None, copying
        all_calls = seconds(calls)
        made = calls.row("allocations", provenance="counted") if calls else None
        if calls and all_calls and made and all_calls > copying:
            allocation, whole = (all_calls - copying) / made.value, all_calls
            row = calls.row(RATE) or row
        return SmallPieces(copy, allocation, 1 - packing / whole, whole / packing, row)
    return None


def sentences(run: Run) -> Iterator[Sentence]:
    """What small copies cost on this device."""
    if found := small_pieces(run):
        row = found.row
        share = Cited(f"{100 * found.share:.0f} %", row)
        yield (
            "A small copy costs ", Cited(quantity(found.copy, "s"), row),
            *((", and an allocation of memory with its release ",
               Cited(quantity(found.allocation, "s"), row), ": together they take ", share)
              if found.allocation else (": such copies take ", share)),
            " of an F-statistic that calls the GPU for every sum. Packing its pieces makes it ",
            Cited(factor(found.packed), row), " as fast.",
        )  # fmt: skip
