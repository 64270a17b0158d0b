"""The levels of memory, and the layouts of particles at each of them."""

from strata.model.hierarchy import WHAT, Number, hierarchy
from strata.model.layouts import COUNTED, count_text, layout_results
from strata.model.names import fields_name, level_name
from strata.model.text import NONE, Cited, Sentence, Table, cell, cited, table
from strata.model.units import factor, number
from strata.report.tables import at
from strata.run import Row, Run, grouped

WHY = "what is missing, and why"


def _cell(one: Number | None) -> Sentence:
    """A number with its row, or its source; an invalid row behind a dash."""
    if one is None or not (one.text or one.row):
        return NONE
    text = one.text or NONE[0]
    source = f" ({one.source})" if one.source in ("fact", "reported") else ""
    return (Cited(f"{text}", one.row) if one.row else text, source)


@at(0)
def memory_levels(run: Run) -> Table | None:
    """One line per level, one column per number; None if nothing was measured."""
    found, lines = hierarchy(run), list[dict[str, Sentence]]()
    titles = {level.name: level.title_of(found.core) for level in found.levels}
    heads = {what: head.replace("core", found.core) for what, head in WHAT.items()}
    for level in found.levels:
        cells = {head: _cell(level.numbers.get(what)) for what, head in heads.items()}
        title = ", ".join(titles[name] for name in (level.part_of, level.name) if name)
        missing = grouped((one for one in level.numbers.values() if not one.text), lambda n: n.why)
        whys = [f"{', '.join(heads[one.what] for one in of)}: {why}" for why, of in missing.items()]
        lines.append({"level": (title,), **cells, WHY: ("; ".join(whys),) if whys else NONE})
    if not found.measured:
        return None
    return table("hierarchy", "The levels of memory", lines, words=("level", WHY), blank=())


PAPER_SPEEDUP = {"aos": "1.0× / 1.0×", "soa": "≈ 1.1× / –", "soaoas": "≈ 1.5× / ≈ 1.3×"}
"""Speed against aos on an 8800 GTX with CUDA 1.0 and 2.2: the text of Siegel et al. 2009, III-A."""


@at(10)
def layout_costs(run: Run) -> Table | None:
    """Latency and best bandwidth of every layout at every level; None without `layout_read`."""

    def gain(value: float | None, row: Row) -> Sentence:
        return (Cited(factor(value), row),) if value else NONE

    lines = []
    for result in layout_results(run.of("layout_read")):
        alone: tuple[Sentence, ...] = (NONE,) * 3
        loaded = alone
        if bar := result.latency:
            ends = (*cell(bar.p5, number), "–", *cell(bar.p95, number))
            spread = ends if bar.p5 and bar.p95 else NONE
            alone = ((cited(bar.cycles),), spread, gain(result.latency_factor, bar.cycles))
        if point := result.bandwidth:
            where = (Cited(f"{point.warps} × {point.block_size}", point.row),)
            loaded = ((cited(point.row),), where, gain(result.bandwidth_factor, point.row))
        rows = map((point.counted if point else {}).get, COUNTED)
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
