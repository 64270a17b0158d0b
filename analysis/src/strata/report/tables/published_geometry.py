"""How large are the caches of this GPU and of others, and how long are their lines?"""

from collections.abc import Iterable, Sequence

from strata import reference
from strata.model.text import NONE, Sentence, Table, told
from strata.model.units import SPACE, size
from strata.reference import PublishedGeometry, Span
from strata.reference.published import GENERATIONS
from strata.run import Row, Run, grouped

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


def _own(rows: Iterable[Row], what: str, sought: str) -> Sentence:
    """The sizes found with the whole cache used for data; for L2 the reported size."""
    wanted = (sought, what, "0") if sought else ("l2_size", "reported", "0")
    found = (
        row
        for row in rows
        if (row.text("property"), row.quantity, row.text("carveout", "0")) == wanted and row.valid
    )
    return told(next(found, None), _bytes)


def _bytes(count: float) -> str:
    """A size with the precision of a line: 64 B, 2.06 KiB, 5.5 MiB."""
    whole = round(count)
    if whole % KIB == 0 or whole < KIB:
        return size(whole)
    return f"{whole / KIB:.2f}".rstrip("0").rstrip(".") + f"{SPACE}KiB"


def _printed(span: Span) -> str:
    if span.value is not None:
        return _bytes(span.value)
    if span.low is None:
        return ""
    low = _bytes(span.low)
    if span.high is not None:
        return f"{low} to {_bytes(span.high)}"
    return f"≥{SPACE}{low}" if span.text.startswith(">=") else f">{SPACE}{low}"


def _theirs(rows: Sequence[PublishedGeometry], level: str, what: str) -> Sentence:
    for row in rows:
        count = row.line_bytes if what == "line" else row.fetch_granularity_bytes
        words = _printed(row.size_bytes) if what == "size" else _bytes(count) if count else ""
        if row.level == level and words:
            return (words + (" (in doubt)" if row.origin.doubt else ""),)
    return NONE


def make(run: Run) -> Table | None:
    """One line for this GPU and for each published GPU; None without a measured cache."""
    own = [row for row in run.of("cache_geometry") if row.backend == "cuda"]
    found = [_own(own, what, sought) for (_, what), (_, sought) in COLUMNS.items()]
    if all(cell == NONE for cell in found):
        return None
    by_age = sorted(reference.geometries(), key=lambda one: GENERATIONS.index(one.architecture))
    by_source = grouped(by_age, lambda one: (one.gpu, one.origin.keys[0]))
    lines: list[tuple[Sentence, ...]] = [(("here",), *found)]
    for (gpu, key), rows in by_source.items():
        cells = [_theirs(rows, level, what) for level, what in COLUMNS]
        if any(cell != NONE for cell in cells):
            lines.append(((f"{gpu} {reference.cite(key)}",), *cells))
    title = "Caches of this GPU and of others, as published"
    header = ("GPU", *(head for head, _ in COLUMNS.values()))
    numeric = frozenset(range(1, len(header)))
    return Table("published_geometry", title, header, tuple(lines), numeric)
