"""How large are the caches of this GPU and of others, and how long are their lines?"""

from collections.abc import Sequence

from strata import reference
from strata.model.text import NONE, Sentence, Table, told
from strata.model.units import SPACE, size
from strata.reference import Published, Span
from strata.reference.published import GENERATIONS
from strata.run import Run, grouped

ORDER = 304

KIB = 1024
COLUMNS = {
    ("l1", "size"): ("L1", "l1_size"),
    ("l1", "line"): ("its line", "l1_line"),
    ("l1", "sector"): ("fetched", "l1_sector"),
    ("l2", "size"): ("L2 (by the driver)", ""),
    ("l2_segment", "size"): ("L2 used by one SM", "l2_size"),
    ("l2", "line"): ("its line", "l2_line"),
    ("l2", "sector"): ("fetched", "l2_sector"),
    ("constant_l1", "size"): ("constant cache", "constant_l1_size"),
    ("constant_l1", "line"): ("its line", "constant_l1_line"),
    ("constant_l15", "size"): ("the one behind it", "constant_l15_size"),
}
"""Level, and what of it (size, line, or what a miss brings in): head of the column, and the
property that `cache_geometry` measures; the L2 is reported by the driver."""


def _bytes(count: float) -> str:
    """A size with the precision of a line: 64 B, 2.06 KiB, 5.5 MiB."""
    whole = round(count)
    if whole % KIB == 0 or whole < KIB:
        return size(whole)
    return f"{whole / KIB:.2f}".rstrip("0").rstrip(".") + f"{SPACE}KiB"


def _printed(span: Span) -> str:
    if span.low is None:
        return ""
    if span.value is None and span.high is None:
        return f"{'≥' if span.text.startswith('>=') else '>'}{SPACE}{_bytes(span.low)}"
    return " to ".join(dict.fromkeys((_bytes(span.low), _bytes(span.high or span.low))))


def _theirs(rows: Sequence[Published], level: str, what: str) -> Sentence:
    for row in rows:
        count = row.line_bytes if what == "line" else row.fetch_granularity_bytes
        words = _printed(row.size_bytes) if what == "size" else _bytes(count) if count else ""
        if row.level == level and words:
            return (words + " (in doubt)" * bool(row.origin.doubt),)
    return NONE


def make(run: Run) -> Table | None:
    """One line for this GPU and for each published GPU; None without a measured cache."""
    # The sizes with the whole cache used for data.
    own = {
        (row.text("property"), row.quantity): row
        for row in reversed(run.of("cache_geometry"))
        if row.backend == "cuda" and row.valid and row.text("carveout", "0") == "0"
    }
    keys = [(name, what) if name else ("l2_size", "reported")
            for (_, what), (_, name) in COLUMNS.items()]  # fmt: skip
    here = [told(own.get(key), _bytes) for key in keys]
    if all(cell == NONE for cell in here):
        return None
    by_age = sorted(reference.geometries(), key=lambda one: GENERATIONS.index(one.architecture))
    by_source = grouped(by_age, lambda one: (one.gpu, one.origin.keys[0]))
    lines: list[tuple[Sentence, ...]] = [(("here",), *here)]
    for (gpu, key), rows in by_source.items():
        cells = [_theirs(rows, level, what) for level, what in COLUMNS]
        if any(cell != NONE for cell in cells):
            lines.append(((f"{gpu} {reference.cite(key)}",), *cells))
    title = "Caches of this GPU and of others, as published"
    header = ("GPU", *(head for head, _ in COLUMNS.values()))
    numeric = frozenset(range(1, len(header)))
    return Table("published_geometry", title, header, tuple(lines), numeric)
