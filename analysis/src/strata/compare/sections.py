"""A comparison as words and tables: on a terminal and as text for files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from strata.model import Table, tables
from strata.run.files import csv_bytes, visible

SHOWN = 30
"""So many alarms stand on a terminal; the files have them all."""
Lines = Iterable[Sequence[str]]
_COLOURS = {"slower": "red", "faster": "green", "changed": "magenta"}


@dataclass(frozen=True, slots=True)
class Section:
    """The report of one comparison.

    The first of the `notes` is the summary. On a terminal `alarms`, if there can be any, replace
    all `tables`; `details` are further tables, too long for a paper.
    """

    title: str
    warnings: tuple[str, ...]
    tables: tuple[Table, ...]
    details: tuple[Table, ...] = ()
    alarms: Table | None = None
    notes: tuple[str, ...] = ()


def table_of(
    name: str, title: str, header: Sequence[str], lines: Lines, numeric: Iterable[int]
) -> Table:
    """A table of plain words; `numeric` are the indices of its numeric columns."""
    rows = tuple(tuple((cell,) for cell in line) for line in lines)
    return Table(name, title, tuple(header), rows, frozenset(numeric))


def markdown(section: Section) -> str:
    """The section in GitHub's Markdown."""
    text = tables.markdown_text
    warnings = [f"**Warning:** {text(warning)}" for warning in section.warnings]
    notes = [*map(text, section.notes)]
    shown = (*section.tables, *section.details)
    listed = (f"## {text(table.title)}\n\n{tables.markdown(table)}" for table in shown)
    lines = (f"# {text(section.title)}", *notes[:1], *warnings, *notes[1:], *listed)
    return "\n\n".join(lines).rstrip() + "\n"


def latex(section: Section) -> str:
    """The tables of the section for LaTeX, each after comments that identify it."""
    warnings = [f"warning: {warning}" for warning in section.warnings]
    source = (section.title, *section.notes[:1], *warnings)
    return "\n".join(tables.latex(table, table.title, *source) for table in section.tables)


def show(section: Section, say: Callable[[str], None], *, drawn: bool) -> None:
    """Print the section, with `drawn` tables or in plain lines."""

    def put(table: Table, *, head: bool) -> None:
        plain = tables.terminal(table, head=head)
        say((tables.drawn(table, colours=_COLOURS) if drawn else plain).rstrip("\n"))

    say(visible(section.title))
    if section.alarms is None:
        for table in section.tables:
            say(f"\n{visible(table.title)}")
            put(table, head=True)
    elif section.alarms.rows:
        put(replace(section.alarms, rows=section.alarms.rows[:SHOWN]), head=False)
    if section.alarms and (more := len(section.alarms.rows) - SHOWN) > 0:
        say(f"and {more} more")
    for note in section.notes:
        say(visible(note))


def as_csv(columns: Iterable[str], lines: Iterable[Iterable[object]]) -> bytes:
    """The lines with their header, by RFC 4180; numbers with six digits."""
    rounded = (
        [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in line] for line in lines
    )
    return csv_bytes(columns, rounded)
