"""The map of the memory hierarchy for a terminal: boxes in one another, at most 100 columns."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len, set_cell_size

from strata.model.hierarchy import WHAT, Hierarchy, Number
from strata.model.units import SPACE, THIN, number
from strata.run.files import visible

WIDE, LEAST_NAME = 100, 16
HEADS = {
    "size": "size",
    "line": "line",
    "sector": "sector",
    "cycles": "cycles",
    "time": "latency",
    "per_core": "B/cycle",
    "bandwidth": "bandwidth",
    "share": "of limit",
}
BELOW = {"reach": "size", "writing": "bandwidth"}
"""What has a line of its own below its level, and the column that it stands in."""
KEYS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PLAIN = str.maketrans(f"┌─┐│└┘≈≥×µ÷…–·{SPACE}{THIN}", "+-+|++~>xu/.-.  ")


def plain_letters(text: str, encoding: str) -> str:
    """The text in letters that an encoding has."""
    if encoding.lower().startswith("utf"):
        return text
    return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)


def text(maps: Sequence[Hierarchy]) -> str:
    """The levels of a device, or of several of one kind: then a line for each, with its letter."""
    notes: dict[str, str] = {}
    rows = list(_rows(maps, notes))
    most = 1 + max(depth or 0 for depth, _ in rows)  # boxes in one another
    head = ["", "", *HEADS.values()]
    # A name gives way to the edges left of it, so that columns stay below one another.
    indents = [0 if depth is None else 2 * (most - 1 - depth) for depth, _ in rows]
    named = (cell_len(cells[0]) + by for by, (_, cells) in zip(indents, rows, strict=True))
    columns = zip(head[1:], *(cells[1:] for _, cells in rows), strict=True)
    widths = [max(named), *(max(map(cell_len, column)) for column in columns)]
    while (wide := sum(widths) + len(widths) + 1 + 2 * most) > WIDE:
        widths[0 if widths[0] > LEAST_NAME else widths.index(max(widths))] -= 1

    def inside(boxes: int, words: str) -> str:
        return "│ " * boxes + words + " │" * boxes

    def line(boxes: int, cells: Sequence[str]) -> str:
        first, *others = zip(cells, [widths[0] - 2 * (boxes - 1), *widths[1:]], strict=True)
        parts = [set_cell_size(*first), *(_right(*one) for one in others)]
        return inside(boxes, " ".join(parts) + "  " * (most - boxes))

    def edge(boxes: int, corners: str) -> str:
        across = "─" * (wide - 4 * boxes - 2)
        return inside(boxes, f"{corners[0]}{across}{corners[1]}")

    done = [edge(0, "┌┐"), line(1, head), *(edge(boxes, "┌┐") for boxes in range(1, most))]
    for depth, here in groupby(rows, lambda row: row[0]):
        boxes = 1 if depth is None else most - depth
        done += [edge(0, "┌┐")] if depth is None else []
        done += [line(boxes, cells) for _, cells in here]
        done.append(edge(boxes - 1, "└┘"))
    keys = KEYS if len(maps) > 1 else [""] * len(maps)
    names = zip(keys, maps, strict=False)
    named_by = [f"{key} {one.device} ({one.run.context.run})".strip() for key, one in names]
    told = f"B/cycle: of each {maps[0].core}. *: told by the device or the system, not measured."
    said = [*map(visible, named_by), *done, told, *(f"{mark} {why}" for why, mark in notes.items())]
    return "\n".join(set_cell_size(one, WIDE).rstrip() for one in said)


def _rows(
    maps: Sequence[Hierarchy], notes: dict[str, str]
) -> Iterator[tuple[int | None, list[str]]]:
    """How deep a line lies, and its cells: level, letter of the device, numbers."""
    levels = {level.name: level for one in maps for level in one.levels}
    for name, level in levels.items():
        numbers = [one.numbers(name) for one in maps]
        title = f"  {level.title}" if level.part_of else level.title
        for what in ("", *BELOW):
            shown = {column: column for column in HEADS} if not what else {BELOW[what]: what}
            title = f"  {WHAT[what]}" if what else title
            for at, known in enumerate(numbers):
                if not what or what in known:
                    cells = [_cell(known.get(shown.get(column, "")), notes) for column in HEADS]
                    key = KEYS[at % len(KEYS)] if len(maps) > 1 else ""
                    yield level.depth, [title if at == 0 else "", key, *cells]


def _cell(one: Number | None, notes: dict[str, str]) -> str:
    if one is None:
        return ""
    if one.source == "missing":
        return notes.setdefault(one.why, f"[{len(notes) + 1}]")
    if one.what in ("cycles", "per_core"):
        return number(one.value or 0.0)
    return one.text if one.source == "measured" else f"{one.text}*"


def _right(words: str, width: int) -> str:
    """The words at the right end of a column; what is cut says so: it is another number."""
    if cell_len(words) > width:
        return set_cell_size(words, width - 1) + "…"
    return " " * (width - cell_len(words)) + words
