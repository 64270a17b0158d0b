"""Tables that papers print, each number beside the one of this run; `papers.toml` has theirs."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from math import prod

from strata import reference
from strata.ladder import fstat
from strata.ladder.phases import steps
from strata.model import atlas
from strata.model.cases import CaseRows, by_case, ratio
from strata.model.text import NONE, Cited, Sentence, Table, cell, cited, table
from strata.model.units import SPACE, factor, number, quantity, short, significant, size
from strata.reference import Published, Span, published
from strata.report.tables import at
from strata.report.tables._cells import over, percent
from strata.run import Row, Run, grouped
from strata.run.files import resource

PRINTED = tomllib.loads(resource(__package__, "papers.toml"))
BREITBART = reference.cite("breitbart2008structures")
BRAAK = reference.cite("vandenbraak2010access")


@at(303)
def instruction_latencies(run: Run) -> Table | None:
    """One line per instruction, one column per published GPU; None without own rows."""
    compared = published.instructions(run.rows)
    age = published.GENERATIONS.index
    aged = sorted(
        {one for line in compared for one in line.others},
        key=lambda one: (age(one.architecture), one.gpu, one.origin.keys[0]),
    )
    heads = {one: f"{one.gpu} {reference.cite(one.origin.keys[0])}" for one in aged}
    lines = []
    for line in compared:
        cells: dict[str, Sentence] = {"instruction": (line.name,), "here": cell(line.own, number)}
        cells |= dict.fromkeys(heads.values(), NONE)
        for one in reversed(line.others):
            doubt = " (in doubt)" * bool(one.origin.doubt)
            cells[heads[one]] = (one.latency_cycles.text + doubt,)
        sources = reference.cite(*(one.origin.keys[0] for one in line.others))
        lines.append({**cells, "sources": (sources,)})
    title = "Cycles until the result of an instruction is there, here and as published"
    return table("published_instructions", title, lines, words=("instruction", "sources"))


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


def _span(span: Span) -> str:
    if span.low is None:
        return ""
    if span.value is None and span.high is None:
        return f"{'≥' if span.text.startswith('>=') else '>'}{SPACE}{_bytes(span.low)}"
    return " to ".join(dict.fromkeys((_bytes(span.low), _bytes(span.high or span.low))))


def _theirs(rows: Sequence[Published], level: str, what: str) -> Sentence:
    for row in rows:
        count = row.line_bytes if what == "line" else row.fetch_granularity_bytes
        words = _span(row.size_bytes) if what == "size" else _bytes(count) if count else ""
        if row.level == level and words:
            return (words + " (in doubt)" * bool(row.origin.doubt),)
    return NONE


@at(304)
def caches(run: Run) -> Table | None:
    """One line for this GPU and for each published GPU; None without a measured cache."""
    # The sizes with the whole cache used for data.
    own = {
        (row.text("property"), row.quantity): row
        for row in reversed(run.of("cache_geometry"))
        if row.backend == "cuda" and row.valid and row.text("carveout", "0") == "0"
    }
    keys = [(property_, what) if property_ else ("l2_size", "reported")
            for (_, what), (_, property_) in COLUMNS.items()]  # fmt: skip
    lines: list[tuple[Sentence, ...]] = [(("here",), *(cell(own.get(key), _bytes) for key in keys))]
    if not any(key in own for key in keys):
        return None
    age = published.GENERATIONS.index
    by_age = sorted(reference.geometries(), key=lambda one: age(one.architecture))
    for (gpu, key), rows in grouped(by_age, lambda one: (one.gpu, one.origin.keys[0])).items():
        cells = [_theirs(rows, level, what) for level, what in COLUMNS]
        if any(cell != NONE for cell in cells):
            lines.append(((f"{gpu} {reference.cite(key)}",), *cells))
    header = ("GPU", *(head for head, _ in COLUMNS.values()))
    title, numeric = "Caches of this GPU and of others, as published", range(1, len(header))
    return Table("published_geometry", title, header, tuple(lines), frozenset(numeric))


WIDEST = 16
"""Bytes of a group."""


@at(315)
def matrix_addition(run: Run) -> Table | None:
    """What coalescing and grouping gain for a matrix addition; None if none of it was timed."""
    # Launch times by events, of groups accessed at once, by hand and by the optimizer.
    timed = {
        (row.text("access"), row.count("element"), row.text("order"), row.count("group")): row
        for row in run.of("short_words")
        if (row.backend, row.quantity, row.method) == ("cuda", "kernel_time", "event_slope")
    }

    def time(row: Row | None) -> Sentence:
        return (cited(row), *(() if row.valid else (" (invalid)",))) if row else NONE

    def gain(slow: Row | None, fast: Row | None) -> Sentence:
        faster = ratio(slow, fast)
        return NONE if faster is None else cell(fast, lambda _: factor(faster))

    lines: list[dict[str, Sentence]] = []
    for kernel, original, improved, speedup, before, after in PRINTED["matrix"]:
        keys = (before, after, [*after[:2], WIDEST])
        slow, fast, widest = (timed.get(("together", *key)) for key in keys)
        cells: dict[str, Sentence] = {
            "kernel": (kernel,),
            "8800 GT, original": (original,),
            "with the tool": (improved,),
            "speed-up": (speedup,),
            "here, original": time(slow),
            "changed as the tool does": time(fast),
            "speed-up here": gain(slow, fast),
            "with groups of 16 B": gain(slow, widest),
            "by strata access optimize": gain(slow, timed.get(("mended", *before[:2], after[2]))),
        }
        lines.append(cells)
    if all(line["here, original"] == line["changed as the tool does"] == NONE for line in lines):
        return None
    title = (
        "Table II of van den Braak, Mesman and Corporaal (2010), its matrix rows: a GeForce "
        f"8800 GT {BRAAK} and this GPU, with matrices of 128 MiB"
    )
    return table("vandenbraak_matrix", title, lines, words=["kernel"])


ISSUE = "cycles of an SM for a warp"


@at(316)
def instruction_costs(run: Run) -> Table | None:
    """Table 2.2 of Breitbart (2008) beside this GPU; None if no operation was timed on a GPU."""
    costs, latencies = run.of(published.COST), atlas.own_latencies(run)
    lines = []
    for instruction, cost, here, operation, each in PRINTED["costs"]:
        issue = published.own_cost(costs, operation, chain=False)
        latency = latencies.get(operation) or published.own_cost(costs, operation, chain=True)
        cells = (cell(row, lambda value: short(value / each)) for row in (issue, latency))  # noqa: B023
        named = {"instruction": (instruction,), "G80, cycles per warp": (cost,), "here": (here,)}
        heads = (ISSUE, "cycles until the result is there")
        lines.append({**named, **dict(zip(heads, cells, strict=True))})
    title = (
        f"Table 2.2 of Breitbart (2008) {BREITBART}: instruction costs on the G80, stated there "
        "without a measurement, and on this GPU"
    )
    timed = any(line[ISSUE] != NONE for line in lines)
    words = ("instruction", "here")
    return table("breitbart_costs", title, lines, words=words) if timed else None


def _redone(
    name: str, chapters: str, lines: Iterable[tuple[str, str, Sentence, str]]
) -> Table | None:
    """Questions of Breitbart (2008), the printed number, this run's, and its rung.

    None without a number of this run.
    """
    cells: list[dict[str, Sentence]] = [
        {"question": (question,), "GeForce 8800 GTS": (printed,), "here": here,
         "by": (rung,) if here != NONE else NONE}
        for question, printed, here, rung in lines
    ]  # fmt: skip
    if all(line["here"] == NONE for line in cells):
        return None
    title = f"{chapters} of Breitbart (2008) {BREITBART}, redone"
    return table(name, title, cells, words=("question", "by"))


BOIDS = {"problem": "boids", "spread": "uniform", "shown": "no"}


@at(318)
def neighbour_search(run: Run) -> Table | None:
    """What grids gain for neighbour search, then and now; None if the run has none of it."""
    boids = (
        row for row in run.rows
        if row.suite == "neighbours" and row.backend == "cuda"
        and all(row.text(axis, "no") == value for axis, value in BOIDS.items())
    )  # fmt: skip
    by_rung = grouped(boids, lambda row: row.benchmark.removeprefix("neighbours_"))

    def best(rungs: str, quantity: str = "steps_per_second", **place: int) -> Row | None:
        """The fastest valid case of several rungs at a place, by the first method of each."""
        rows = [
            case.row(quantity)
            for name in rungs.split()
            for case in by_case(by_rung.get(name, ()))
            if all(case.text(axis) == f"{value}" for axis, value in place.items())
        ]
        return max(filter(None, rows), key=lambda row: (row.valid, row.value), default=None)

    def write(row: Row) -> str:
        used = row.quantity == "used_threads"
        return percent(100 * row.value) if used else f"{significant(row.value)} steps/s"

    lines = []
    for entry in PRINTED["neighbours"]:
        row = best(**entry["of"])
        here: Sentence = (Cited(write(row), row),) if row and row.valid else NONE
        here = over(row, best(**entry["over"])) if "over" in entry else here
        rung = row.benchmark.removeprefix("neighbours_").replace("_", " ") if row else ""
        lines.append((entry["question"], entry["printed"], here, rung))
    return _redone("neighbours_seed", "Chapters 5 to 7", lines)


TEMPLATES = 45 * 9 * 84 * 161
"""Of the whole dataset (4.2)."""
RUNGS = {1: "per call", 2: "packed", 3: "one launch"}
"""Version 1 calls the GPU for each sum, version 2 packs the pieces of memory first, version 3 sums
a band by one kernel."""


def _templates(case: CaseRows) -> int:
    return prod(case.count(axis) for axis in fstat.AXES)


def _share(phases: Mapping[str, Row], *parts: str) -> Sentence:
    """What some phases take of all of them."""
    whole = sum(row.value for row in phases.values())
    found = [row for name, row in phases.items() if name in parts]
    if not found or whole <= 0 or not all(row.valid for row in phases.values()):
        return NONE
    return (Cited(percent(100 * sum(row.value for row in found) / whole), found[0]),)


def _redone_fstat(case: CaseRows, what: str, phases: Mapping[str, Row]) -> Sentence:
    if what == "seconds":  # of the whole dataset, if all of it cost what this part does
        whole = (fstat.seconds(case) or 0) / _templates(case) * TEMPLATES
        return cell(case.row(fstat.RATE), lambda _: quantity(whole, "s")) if whole else NONE
    if what == "times_of_cpu":
        return over(case.row("seconds_per_sft"), case.row("core_seconds_per_sft"))
    memory = ["allocate"] if what == "memory_share" else []
    return _share(phases, *memory, "copy_in", "copy_out")


@at(319)
def einstein_at_home(run: Run) -> Table | None:
    """What porting one function of Einstein@Home to a GPU brought, then and now.

    The paper's CPU is one core of the time; beside it is one of the GPU's host. None without any.
    """
    cases: dict[str, CaseRows] = {}  # of each rung, at its largest place
    for (_, name), case in fstat.best(run).items():
        known = cases.get(fstat.short(name))
        if case.rows[0].backend == "cuda" and (not known or _templates(case) > _templates(known)):
            cases[fstat.short(name)] = case
    traced = {step.first.case: step.phases for step in steps(run)}

    def write(what: str, value: float) -> str:
        if what == "seconds":
            return quantity(value, "s")
        return factor(value) if what == "times_of_cpu" else percent(100 * value)

    lines = []
    printed = {(one.version, one.quantity): one.value for one in reference.fstat()}
    for (version, what), value in printed.items():
        rung, here = RUNGS[version], NONE
        if rung in cases:
            phases = traced.get(cases[rung].rows[0].case, {})
            here = _redone_fstat(cases[rung], what, phases)
        question = f"version {version}: {PRINTED['fstat'][what]}"
        lines.append((question, write(what, value), here, rung))
    return _redone("breitbart", "Chapter 4", lines)
