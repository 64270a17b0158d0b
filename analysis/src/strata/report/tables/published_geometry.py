"""How large are the caches of this GPU, how long their lines, and those of others?"""

from collections.abc import Mapping, Sequence

from strata import reference
from strata.model import Cited, Sentence, Table
from strata.model.units import SPACE, size
from strata.reference import PublishedGeometry, Span
from strata.reference.published import GENERATIONS
from strata.report.tables import ReportTable
from strata.run import Row, Run

NONE: Sentence = ("–",)
IN_DOUBT = " (in doubt)"
KIB = 1024
Cell = tuple[str, str]
"""Level, and what of it: size, line, or what a miss brings in."""

COLUMNS: Mapping[Cell, tuple[str, str]] = {
    ("l1", "size"): ("L1", "l1_size"),
    ("l1", "line"): ("its line", "l1_line"),
    ("l1", "sector"): ("fetched", "l1_sector"),
    ("l2", "size"): ("L2", ""),
    ("l2_segment", "size"): ("L2, as one SM sees it", "l2_size"),
    ("l2", "line"): ("its line", "l2_line"),
    ("l2", "sector"): ("fetched", "l2_sector"),
    ("constant_l1", "size"): ("constant cache", "constant_l1_size"),
    ("constant_l1", "line"): ("its line", "constant_l1_line"),
    ("constant_l15", "size"): ("the one behind it", "constant_l15_size"),
}
"""Head of the column, and the property that `cache_geometry` measures; the L2 is told by the
driver."""


def _own(rows: Sequence[Row], cell: Cell) -> Sentence:
    """What the run found with the whole cache for data; of the L2 what the driver reports."""
    _, sought = COLUMNS[cell]
    quantity = "reported" if not sought else cell[1]
    found = next(
        (
            row
            for row in rows
            if row.params.get("property") == (sought or "l2_size")
            and row.quantity == quantity
            and row.params.get("carveout") in (None, "0")
            and row.valid
        ),
        None,
    )
    return (Cited(_bytes(found.value), found),) if found else NONE


def _bytes(count: float) -> str:
    """As exactly as a line of it: 64 B, 2.06 KiB, 5.5 MiB."""
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


def _theirs(row: PublishedGeometry, what: str) -> str:
    if what == "size":
        return _printed(row.size_bytes)
    count = row.line_bytes if what == "line" else row.fetch_granularity_bytes
    return _bytes(count) if count else ""


def _cell(rows: Sequence[PublishedGeometry], cell: Cell) -> Sentence:
    level, what = cell
    for row in rows:
        words = _theirs(row, what) if row.level == level else ""
        if words:
            return (words + (IN_DOUBT if row.origin.doubt else ""),)
    return NONE


def make(run: Run) -> Table | None:
    """A line for this GPU and for each GPU of a source; None without a cache that was measured."""
    own = [row for row in run.rows if row.benchmark == "cache_geometry" and row.backend == "cuda"]
    first = tuple(_own(own, cell) for cell in COLUMNS)
    if all(cell == NONE for cell in first):
        return None
    by_source: dict[tuple[str, str], list[PublishedGeometry]] = {}
    ordered = sorted(reference.geometries(), key=lambda row: GENERATIONS.index(row.architecture))
    for row in ordered:
        by_source.setdefault((row.gpu, row.origin.keys[0]), []).append(row)
    lines: list[tuple[Sentence, ...]] = [(("here",), *first)]
    for (gpu, key), rows in by_source.items():
        cells = tuple(_cell(rows, cell) for cell in COLUMNS)
        if any(cell != NONE for cell in cells):
            lines.append(((f"{gpu} {reference.cite(key)}",), *cells))
    return Table(
        name="published_geometry",
        title="Caches of this GPU and of others, as published",
        header=("GPU", *(head for head, _ in COLUMNS.values())),
        rows=tuple(lines),
        numeric=frozenset(range(1, len(COLUMNS) + 1)),
    )


TABLE = ReportTable(order=41, make=make)
