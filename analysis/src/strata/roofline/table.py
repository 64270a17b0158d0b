"""A roofline as a table for a terminal."""

from collections.abc import Sequence

from strata.model import Cited, Sentence, Table, ordered
from strata.model.text import NONE
from strata.model.units import SPACE, quantity
from strata.roofline.forms import FLOP, LEVELS, LOADS, ONCE, Form, brief, level_words
from strata.roofline.verdicts import Entry, points_of
from strata.run import grouped


def table(entries: Sequence[Entry], form: Form) -> Table:
    """One line per kernel: rates, intensities, largest share of a roof (as counted, if it was)."""
    every = points_of(entries)
    levels = ordered((point.level for point in every), (*LEVELS, ONCE, LOADS))
    bases = ordered(["counted", *(point.basis for point in every)], ("counted",))
    named = [f"{level_words(level, every[0].row.backend)} ({form.intensity})" for level in levels]
    of = ("run", "kernel") if len({point.run for point in every}) > 1 else ("kernel",)
    header = (*of, *bases, *named, "of its roof", "doubt")
    lines = []
    for names, mine in grouped(every, lambda one: (one.run, one.name)[-len(of) :]).items():
        # Counted points come first.
        mine.sort(key=lambda one: one.basis != "counted")
        cells: dict[str, Sentence] = {}
        for one in mine:
            cells.setdefault(one.level, (Cited(brief(one.intensity), one.row),))
            if one.level != LOADS:
                # GIPS: 10⁹ warp instructions per second.
                gips = f"{brief(one.value / 1e9)}{SPACE}GIPS"
                rate = quantity(one.value, form.rate) if form is FLOP else gips
                cells.setdefault(one.basis, (Cited(rate, one.row),))
        shares = [(one.basis, one.share) for one in mine if one.share]
        share = max((share for basis, share in shares if basis == shares[0][0]), default=None)
        of_roof = (f"{100 * share:.1f}{SPACE}%",) if share else NONE
        doubt = ("above a roof",) if any(one.above for one in mine) else NONE
        numbers = (cells.get(column, NONE) for column in (*bases, *levels))
        lines.append((*((name,) for name in names), *numbers, of_roof, doubt))
    numeric = frozenset(range(len(of), len(header) - 1))
    return Table(form.name, form.title, header, tuple(lines), numeric)
