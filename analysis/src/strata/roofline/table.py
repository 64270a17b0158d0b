"""A roofline as a table for a terminal."""

from collections.abc import Sequence

from strata.model import Cited, Sentence, Table, ordered
from strata.model.units import SPACE, quantity
from strata.roofline.forms import FLOP, LEVELS, LOADS, ONCE, Form, brief, level_words
from strata.roofline.points import Point
from strata.roofline.verdicts import Entry, points_of


def table(entries: Sequence[Entry], form: Form) -> Table:
    """A line a kernel: its rates, intensities, largest share of a roof (as counted, if it was)."""
    kernels: dict[tuple[str, str], list[Point]] = {}
    for point in points_of(entries):
        kernels.setdefault((point.run, point.name), []).append(point)
    every = [point for mine in kernels.values() for point in mine]
    levels = ordered((point.level for point in every), (*LEVELS, ONCE, LOADS))
    bases = ordered(["counted", *(point.basis for point in every)], ("counted",))
    several = len({run for run, _ in kernels}) > 1
    named = [f"{level_words(level, every[0].row.backend)} ({form.intensity})" for level in levels]
    header = [*(["run"] if several else ()), "kernel", *bases, *named, "of its roof", "doubt"]
    lines: list[list[Sentence]] = [[(name,) for name in header]]
    for (run, kernel), mine in kernels.items():
        # What was counted comes first.
        mine.sort(key=lambda one: one.basis != "counted")
        cells: dict[str, Sentence] = {}
        for one in mine:
            cells.setdefault(one.level, (Cited(brief(one.intensity), one.row),))
            if one.level != LOADS:
                # GIPS: 10⁹ instructions of warps a second.
                gips = f"{brief(one.value / 1e9)}{SPACE}GIPS"
                rate = quantity(one.value, form.rate) if form is FLOP else gips
                cells.setdefault(one.basis, (Cited(rate, one.row),))
        shares = [(one.basis, one.share) for one in mine if one.share]
        share = max((share for basis, share in shares if basis == shares[0][0]), default=None)
        lines.append([
            *([(run,)] if several else ()),
            (kernel,),
            *(cells.get(column, ("–",)) for column in (*bases, *levels)),
            (f"{100 * share:.1f}{SPACE}%" if share else "–",),
            ("above a roof" if any(one.above for one in mine) else "–",),
        ])  # fmt: skip
    numeric = frozenset(range(header.index("counted"), len(header) - 1))
    return Table(form.name, form.title, tuple(header), tuple(map(tuple, lines)), numeric)
