"""The map of the memory hierarchy for a terminal: nested boxes, at most 100 columns."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len, set_cell_size

from strata.model.hierarchy import WHAT, Hierarchy, Level, Number
from strata.model.units import SPACE, THIN, number
from strata.run.files import visible

WIDE, LEAST_NAME = 100, 18
NOT_RUN = "not run"
"""In place of `not in SWEEP` if the map would be too wide."""
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
BELOW = {
    "one_sm": "size", "all_sms": "size", "first_touch": "cycles", "half_l2": "cycles",
    "half_first": "size", "half_last": "size", "reach": "size", "writing": "bandwidth",
}  # fmt: skip
"""What has a line of its own below its level, and the column that has it."""
KEYS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PLAIN = str.maketrans(f"┌─┐│└┘≈≥×µ÷…–·{SPACE}{THIN}", "+-+|++~>xu/.-.  ")


def plain_letters(text: str, encoding: str) -> str:
    """The text in letters of an encoding."""
    if encoding.lower().startswith("utf"):
        return text
    return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)


def text(maps: Sequence[Hierarchy], *, notes: bool = False) -> str:
    """The levels of a device, or of several of one kind, with one lettered line per device.

    A missing number is a word; with `notes` the reasons are printed below, too.
    """
    for absent in ("", NOT_RUN):
        rows = [(1, ["", "", *HEADS.values()]), *_rows(maps, absent), (0, [])]
        # The edges of boxes are in the first and last cell of a line.
        lines = [["│ " * n + cells[0], *cells[1:], " │" * n] for n, cells in rows if n]
        *widths, edges = (max(map(cell_len, column)) for column in zip(*lines, strict=True))
        if sum(widths) + len(widths) - 1 + edges <= WIDE:
            break
    while (wide := sum(widths) + len(widths) - 1 + edges) > WIDE:
        widths[0 if widths[0] > LEAST_NAME else widths.index(max(widths))] -= 1
    done, inside, following = list[str](), 0, iter(lines)
    for boxes, _ in rows:
        opened, closed = range(inside, boxes), reversed(range(boxes, inside))
        for n, corners in (*((n, "┌┐") for n in opened), *((n, "└┘") for n in closed)):
            across = corners[0] + "─" * (wide - 4 * n - 2) + corners[1]
            done.append("│ " * n + across + " │" * n)
        if boxes:
            name, *cells, end = next(following)
            numbers = map(_right, cells, widths[1:])
            done.append(" ".join((set_cell_size(name, widths[0]), *numbers)) + end.rjust(edges))
        inside = boxes
    keys = KEYS if len(maps) > 1 else [""] * len(maps)
    names = zip(keys, maps, strict=False)
    named_by = [f"{key} {one.device} ({one.run.context.run})".strip() for key, one in names]
    legend = f"B/cycle: per {maps[0].core}. *: reported by the device or the system, not measured."
    if any("tsc" in row.unit for one in maps for row in one.run.rows):
        legend = f"TSC cycles. {legend}"
    printed = [*map(visible, named_by), *done, legend, *(_notes(maps) if notes else ())]
    if not notes and any(number_.short for *_, number_ in _missing(maps)):
        printed.append("--notes prints why a number is missing.")
    return "\n".join(set_cell_size(one, WIDE).rstrip() for one in printed)


def _missing(maps: Sequence[Hierarchy]) -> Iterator[tuple[Hierarchy, Level, Number]]:
    for one in maps:
        for level in one.levels:
            found = (one for one in level.numbers.values() if one.source == "missing")
            yield from ((one, level, number_) for number_ in found)


def _notes(maps: Sequence[Hierarchy]) -> Iterator[str]:
    """Each reason once, with the numbers that it lacks, in lines of whole words."""
    reasons: dict[str, list[str]] = {}
    for one, level, number_ in _missing(maps):
        what = WHAT[number_.what].replace("core", one.core)
        reasons.setdefault(number_.why, []).append(f"{level.title}, {what}")
    for why, of in reasons.items():
        words = f"{'; '.join(dict.fromkeys(of))}: {visible(why)}"
        yield from wrap(words, WIDE, subsequent_indent="  ", break_on_hyphens=False)


def _rows(maps: Sequence[Hierarchy], absent: str) -> Iterator[tuple[int, list[str]]]:
    """For each line: the depth of its box, and its cells (level, letter of the device, numbers).

    Depth 0 without cells separates a level beside the device from the previous one.
    """
    levels = {level.name: level for one in maps for level in one.levels}
    most = 1 + max(level.depth or 0 for level in levels.values())
    for name, level in levels.items():
        if level.depth is None:
            yield 0, []
        boxes = 1 if level.depth is None else most - level.depth
        title = f"  {level.title}" if level.part_of else level.title
        for what in ("", *BELOW):
            shown = {BELOW[what]: what} if what else {column: column for column in HEADS}
            title = f"  {WHAT[what]}".replace("core", maps[0].core) if what else title
            for at, known in enumerate(one.numbers(name) for one in maps):
                if not what or what in known:
                    cells = [_cell(known.get(shown.get(column, "")), absent) for column in HEADS]
                    key = KEYS[at % len(KEYS)] if len(maps) > 1 else ""
                    yield boxes, [title if at == 0 else "", key, *cells]


def _cell(one: Number | None, absent: str) -> str:
    if one is None:
        return ""
    if one.source == "missing":
        short = absent if absent and one.short.startswith("not in ") else one.short
        return visible(short) or "–"
    if one.what in ("cycles", "first_touch", "half_l2", "per_core"):
        return number(one.value or 0.0)
    return one.text if one.source == "measured" else f"{one.text}*"


def _right(words: str, width: int) -> str:
    """The words at the right end of a column; a cut text is marked, since it is another number."""
    if cell_len(words) > width:
        return set_cell_size(words, width - 1) + "…"
    return " " * (width - cell_len(words)) + words
