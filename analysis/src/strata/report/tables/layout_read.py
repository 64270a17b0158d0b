"""What does a layout of particles cost, alone and under load?"""

from strata.model.layouts import COUNTED, count_text, layout_results
from strata.model.names import fields_name, level_name
from strata.model.text import NONE, Cited, Sentence, Table, cited, told
from strata.model.units import factor, number
from strata.run import Row, Run

ORDER = 10
PAPER_SPEEDUP = {"aos": "1.0× / 1.0×", "soa": "≈ 1.1× / –", "soaoas": "≈ 1.5× / ≈ 1.3×"}
"""Speed against aos on an 8800 GTX with CUDA 1.0 and 2.2: the text of Siegel et al. 2009, III-A."""


def _gain(value: float | None, row: Row) -> Sentence:
    return (Cited(factor(value), row),) if value else NONE


def make(run: Run) -> Table | None:
    """Latency and best bandwidth of every layout at every level; None without `layout_read`."""
    lines = []
    for result in layout_results(run.of("layout_read")):
        alone: tuple[Sentence, ...] = (NONE,) * 3
        loaded = alone
        if bar := result.latency:
            ends = (*told(bar.p5, number), "–", *told(bar.p95, number))
            spread = ends if bar.p5 and bar.p95 else NONE
            alone = ((cited(bar.cycles),), spread, _gain(result.latency_factor, bar.cycles))
        if point := result.bandwidth:
            where = (Cited(f"{point.warps} × {point.block_size}", point.row),)
            loaded = ((cited(point.row),), where, _gain(result.bandwidth_factor, point.row))
        counted = point.counted if point else {}
        rows = map(counted.get, COUNTED)
        counts = tuple((Cited(count_text(row), row),) if row else NONE for row in rows)
        paper = PAPER_SPEEDUP.get(result.layout, "–") if result.fields == "all" else "–"
        names = (level_name(result.level), fields_name(result.fields), result.layout)
        lines.append((*((name,) for name in names), *alone, *loaded, *counts, (paper,)))
    header = (
        "level", "fields", "layout", "latency", "p5–p95", "vs aos", "useful bandwidth",
        "warps × block", "vs aos", *COUNTED.values(), "paper: CUDA 1.0 / 2.2",
    )  # fmt: skip
    title = "Latency alone and best useful bandwidth by layout"
    numeric = frozenset(range(3, 9 + len(COUNTED)))
    return Table("layout_read", title, header, tuple(lines), numeric) if lines else None
