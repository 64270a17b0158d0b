"""What a fleet's verdict is in words, tables and lines of CSV files."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from strata.compare.noise import LEAST
from strata.compare.words import Section, as_csv, percent, size, table_of
from strata.fleet.dataset import Entry, Line, Part, blocks
from strata.fleet.judge import KINDS, Finding, Fleet, Quantity
from strata.fleet.sites import SITES
from strata.model import Table, units
from strata.run import grouped

ROWS = 12
"""Rows that are named for a GPU that is out."""


def name(entry: Entry) -> str:
    """A GPU in words: its node, where it is known, and what it is known by."""
    return f"node {entry.node}, {entry.gpu}" if entry.node else entry.gpu


def findings_text(fleet: Fleet, gpu: int) -> str:
    """In what a GPU is out: `DRAM 1.0 % slower (9 families, most bandwidth …); …`.

    Of each site: whether all of it moved, or families did, and whether that is so since the GPU's
    earlier runs; then rows and counts.
    """
    events = [event.what for event in fleet.events if event.gpu == gpu]
    sites = grouped((one for one in fleet.findings if one.gpu == gpu), lambda one: one.site)
    # Clocks come first: they slow other sites.
    causes = sorted(sites.values(), key=lambda of: of[0].site != "clock")
    return "; ".join([*events, *(text for of in causes for text in _of_site(of))])


def _of_site(found: Sequence[Finding]) -> Iterator[str]:
    kinds = grouped(found, lambda one: one.kind)
    since = kinds.pop("drift", [])
    families, site = kinds.pop("family", []), kinds.pop("site", [])
    # The rows of clocks are of hertz; what is a time or a rate there follows from them.
    if whole := families or site if found[0].site == "clock" else site or families:
        yield _together(whole) + (", unlike in its earlier runs" if since else "")
    elif since:
        yield _together(since)
    yield from map(_together, kinds.values())  # some rows, counts


def _together(found: Sequence[Finding]) -> str:
    """Findings of one kind in one site; the first is the worst."""
    worst, where = found[0], SITES[found[0].site]
    much = abs(worst.change)
    number = f"{units.count(len(found))} families, " if len(found) > 1 else ""
    if worst.kind == "part":
        what = f"some rows of {where} {size(much)} apart"
    elif worst.kind == "counts":
        what = f"{where}: {percent(worst.change)} of {line(worst.line)}"
        return f"{what} and of {units.count(len(found) - 1)} more" if len(found) > 1 else what
    elif worst.kind == "site":
        what = f"most {worst.line.quantity} of {where} {size(much)} {worst.verdict}"
        return f"{what} ({units.count(worst.rows)} families)"
    else:
        since = " than in its earlier runs" if worst.kind == "drift" else ""
        what = f"{where} {size(much)} {worst.verdict}{since}"
    return f"{what} ({number}{'most ' if number else ''}{line(worst.line)})"


def line(of: Line) -> str:
    """A family in words: `latency_vs_footprint load_cycles, dram`."""
    return " ".join(
        filter(None, (of.benchmark, f"{of.quantity}{',' if of.level else ''}", of.level))
    )


def verdict(fleet: Fleet) -> str:
    """The fleet in one sentence."""
    out, gpus = len(fleet.out), units.count(len(fleet.gpus))
    nodes = len({gpu.entry.node for gpu in fleet.gpus} - {""})
    on = f" on {units.count(nodes)} nodes" if nodes else ""
    what = (
        f"{gpus} GPUs of {fleet.gpus[0].entry.device}{on}, {units.count(fleet.expected)} rows each"
    )
    count = f"{units.count(out)} are" if out > 1 else "1 is" if out else "no GPU is"
    return f"{what}: {count} out."


def notes(fleet: Fleet) -> tuple[str, ...]:
    """What the verdict promises, and what it could not see."""
    settings, missing, invalid = fleet.settings, int(fleet.missing.sum()), int(fleet.invalid.sum())
    earlier = sum(len(gpu.earlier) for gpu in fleet.gpus)
    drift = f", and {units.count(earlier)} earlier runs of them for drift" if earlier else ""
    some = int((fleet.missing > 0).sum())
    promise = (
        f"Each GPU is judged by its latest run{drift}. Without a fault even one false alarm in the "
        f"whole fleet has a probability of at most {size(settings.false_alarm)}, in equal shares "
        f"of {fleet.questions} questions; changes below {size(settings.min_change)} do not count."
    )
    gaps = (
        f"Missing, and no alarm: {units.count(missing)} rows that most GPUs have, of "
        f"{units.count(some)} GPUs; {units.count(invalid)} rows failed a gate."
    )
    return promise, gaps


def section(fleet: Fleet) -> Section:
    """The verdict for a terminal."""
    return Section(verdict(fleet), (), (), alarms=out_table(fleet), notes=notes(fleet))


def out_table(fleet: Fleet) -> Table:
    """The GPUs that are out, the worst first."""
    lines = [
        (gpu.node or "–", gpu.gpu, gpu.run, findings_text(fleet, at))
        for at, gpu in ((at, fleet.gpus[at].entry) for at in fleet.out)
    ]
    return table_of("out", "GPUs that are out", ("node", "GPU", "run", "in what"), lines, ())


def family_table(fleet: Fleet) -> Table:
    """Every family of timed rows: how far GPUs differ, and which lie at the ends."""

    def lines() -> Iterator[Sequence[str]]:
        for family, shifts in zip(fleet.families, fleet.shifts, strict=True):
            if family.line.provenance != "timed" or family.rows == 1 or np.isnan(shifts).all():
                continue
            low, high = int(np.nanargmin(shifts)), int(np.nanargmax(shifts))
            wide = 1.4826 * float(np.nanmedian(np.abs(shifts - np.nanmedian(shifts))))
            yield (
                SITES[family.site], line(family.line), units.count(family.rows), size(wide),
                percent(float(shifts[low])), name(fleet.gpus[low].entry),
                percent(float(shifts[high])), name(fleet.gpus[high].entry),
            )  # fmt: skip

    header = ("site", "family", "rows", "spread", "lowest", "of", "highest", "of")
    order = {site: place for place, site in enumerate(SITES.values())}
    listed = sorted(lines(), key=lambda of: (order[of[0]], of[1]))
    return table_of("families", "How far GPUs differ, by family", header, listed, (2, 3, 4, 6))


def worst_rows(fleet: Fleet, parts: Sequence[Part]) -> Mapping[int, Table]:
    """The timed rows of each GPU that is out that are farthest from the fleet's centre.

    Reads those runs once more; raises `DamagedError`.
    """
    known = {of.line[3:6]: of for of in fleet.quantities if of.line.provenance == "timed"}
    runs = [fleet.gpus[gpu].entry.run for gpu in fleet.out]
    far: list[list[tuple[float, Quantity, float]]] = [[] for _ in runs]
    for block in blocks(parts, runs) if runs else ():
        places = [at for at, of in enumerate(block.lines) if of[3:6] in known]
        of = [known[block.lines[at][3:6]] for at in places]
        centre, spread = (
            np.array([getattr(one, what) for one in of]) for what in ("centre", "spread")
        )
        for run, values in enumerate(block.values[:, places].astype(np.float64)):
            with np.errstate(divide="ignore", invalid="ignore"):  # all are 0
                apart = np.abs(values - centre) / np.maximum(spread, LEAST * np.abs(centre))
            for at in np.argsort(-np.nan_to_num(apart))[:ROWS]:
                if apart[at] > 0:
                    far[run].append((float(apart[at]), of[at], float(values[at])))
    header = ("case", "quantity", "here", "fleet", "change", "spread", "sigmas")
    tables = {}
    for gpu, found in zip(fleet.out, far, strict=True):
        lines = [
            (
                one.line.case, f"{one.line.quantity} ({one.line.method})",
                units.quantity(value, one.line.unit), units.quantity(one.centre, one.line.unit),
                percent(value / one.centre - 1) if one.centre else "–",
                size(one.spread / abs(one.centre)) if one.centre else "–",
                units.short(sigmas) if sigmas < np.inf else "–",
            )
            for sigmas, one, value in sorted(found, key=lambda of: -of[0])[:ROWS]
        ]  # fmt: skip
        title = "Rows farthest from the fleet's centre"
        tables[gpu] = table_of(f"rows-{gpu}", title, header, lines, (2, 3, 4, 5, 6))
    return tables


# --- CSV ------------------------------------------------------------------------------------------


def data(fleet: Fleet) -> dict[str, bytes]:
    """gpus.csv, findings.csv, families.csv and quantities.csv."""
    out = set(fleet.out)
    of = grouped(fleet.findings, lambda one: one.gpu)
    gpus = (
        (gpu.entry.node, gpu.entry.gpu, gpu.entry.run, gpu.entry.started, len(gpu.earlier),
         at in out, len(of.get(at, ())), fleet.missing[at], fleet.invalid[at],
         findings_text(fleet, at) if at in out else "")
        for at, gpu in enumerate(fleet.gpus)
    )  # fmt: skip
    findings: list[tuple[object, ...]] = [
        (gpu.node, gpu.gpu, gpu.run, KINDS[one.kind], SITES[one.site], *one.line[:3],
         one.line.quantity, one.rows, one.verdict, one.change,
         "" if np.isnan(one.alike) else one.alike, one.chance)
        for one in fleet.findings
        for gpu in (fleet.gpus[one.gpu].entry,)
    ]  # fmt: skip
    findings += [
        (gpu.node, gpu.gpu, gpu.run, "reported", event.what, *[""] * 9)
        for event in fleet.events
        for gpu in (fleet.gpus[event.gpu].entry,)
    ]
    families = (
        (SITES[one.site], *one.line[:3], one.line.quantity, one.line.provenance, one.rows,
         *(np.nanquantile(shifts, share) for share in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)))
        for one, shifts in zip(fleet.families, fleet.shifts, strict=True)
        if not np.isnan(shifts).all()
    )  # fmt: skip
    quantities = ((*one.line, *one[1:]) for one in fleet.quantities)
    what = ("suite", "benchmark", "level", "quantity")
    ends = ("lowest", "low_5", "low_25", "middle", "high_25", "high_5", "highest")
    return {
        "gpus.csv": as_csv(
            ("node", "gpu", "run", "started", "earlier_runs", "out", "findings", "missing_rows",
             "invalid_rows", "what"), gpus),
        "findings.csv": as_csv(
            ("node", "gpu", "run", "kind", "site", *what, "rows", "verdict", "change", "alike",
             "chance_in_fleet"), findings),
        "families.csv": as_csv(("site", *what, "provenance", "rows", *ends), families),
        "quantities.csv": as_csv(
            (*Line._fields, "gpus", "centre", "spread", "lowest", "highest"), quantities),
    }  # fmt: skip
