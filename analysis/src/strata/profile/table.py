"""The table of a profile on a terminal, and the ceilings that it compares with."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from strata.model import Cited, Sentence, Table
from strata.model.truth import load_run
from strata.model.units import SPACE, quantity
from strata.profile.kernels import (
    COPIES,
    SUITE,
    TIMELINE,
    WAITS,
    Kernel,
    kernels,
    limits_of,
    percent,
    sentence,
    uses,
)
from strata.roofline.ceilings import Ceiling
from strata.run import Case, Run, RunError, read_text
from strata.run.index import RESULTS, folders

MOST = 20
"""Kernels in the table."""
_WANTED = (
    (frozenset({"ceilings", "peak_bandwidth"}), frozenset({"ceilings", "bandwidth"})),
    (frozenset({"tensor_rate"}),),
)
"""Benchmarks with ceilings, of the levels and arithmetic, and of tensor cores: the best first."""
_STARTED = re.compile(r"\d{8}T\d{6}Z")
MEASURE = "measure them in 20 s: strata run ceilings, then --ceilings RUN"


def lenders(name: str, slug: str) -> list[Run]:
    """The runs with the ceilings: `name` (a folder, or a recorded run), or those of device `slug`.

    Of a device the newest complete run with ceilings and bandwidths, and the newest with tensor
    cores; quick runs do not count. Raises `RunError` for a `name` that is neither.
    """
    if name:
        named = folders(name)
        if len(named) == 1:
            return [load_run(named[0])]
        slug = named[0].parent.name  # of a device with several runs
    found_in = {
        file.parent: _benchmarks(file) for file in sorted(RESULTS.glob(f"{slug}/*/context.json"))
    }
    chosen: dict[Path, None] = {}
    for choices in _WANTED:
        runs = [[run for run, has in found_in.items() if wanted <= has] for wanted in choices]
        best = next(filter(None, runs), [])
        if best and not any(run in chosen for run in best):
            chosen[max(best, key=_started)] = None
    return [load_run(run) for run in chosen]


def _started(run: Path) -> str:
    found = _STARTED.search(run.name)
    return found.group() if found else ""


def _benchmarks(context: Path) -> frozenset[str]:
    """The benchmarks of a complete run that is not quick; none of another."""
    try:
        found = json.loads(read_text(context))
        is_fit = found["state"] == "complete" and found["sweep"]["name"] != "quick"
        cases = found["sweep"]["cases"] if is_fit else []
        return frozenset(case.split("/")[1] for case in cases if case.count("/") >= 2)
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()


def table(
    found: Sequence[Kernel], limits: Mapping[str, Ceiling], *, explained: bool = False
) -> Table:
    """One line per kernel and shape, on request with the sentence that explains it."""
    header = (
        "kernel", "share", "launches", "time", "limit", "of it", "DRAM", "L2", "L1 hits", "L2 hits",
        "occup.", "waits for", *(["what limits it"] if explained else []),
    )  # fmt: skip
    made = []
    for one in found[:MOST]:
        used = uses(one, limits)
        limit, share = (used[0].name, percent(used[0].share)) if used else ("–", "–")
        waits = WAITS.get(one.stall[0], one.stall[0]) if one.stall else "–"
        occupancy = one.rows.get("achieved_occupancy")
        l2_hits = one.part("l2_hit_sectors", "l2_load_miss_sectors")
        cells: list[Sentence] = [
            (short_name(one),),
            _cited(one, "total_time", percent(one.share)),
            _cited(one, "launches", f"{one.launches}"),
            _cited(one, "gpu_time", quantity(one.time, "s")),
            (limit,),
            (share,),
            _cited(one, "dram_read_bytes", _bytes(one.moved("dram"))),
            _cited(one, "l2_sm_sectors", _bytes(one.moved("l2"))),
            _cited(one, "l1_hit_sectors", _part(_ratio(one, "l1_hit_sectors", "l1_sectors"))),
            _cited(one, "l2_hit_sectors", _part(l2_hits)),
            _cited(one, "achieved_occupancy", _part(occupancy.value / 100 if occupancy else None)),
            (waits,),
        ]
        made.append((*cells, *([(sentence(one, used),)] if explained else [])))
    numeric = frozenset({1, 2, 3, 5, 6, 7, 8, 9, 10})
    return Table("profile", "Kernels of a program", header, tuple(made), numeric)


def _ratio(kernel: Kernel, above: str, below: str) -> float | None:
    top, bottom = kernel.total({above: 1}), kernel.total({below: 1})
    return top / bottom if top is not None and bottom else None


def _cited(kernel: Kernel, name: str, text: str) -> Sentence:
    row = kernel.rows.get(name)
    return (Cited(text, row) if row and text != "–" else text,)


def lines(run: Run, found: list[Kernel], limits: dict[str, Ceiling], of: list[Run]) -> list[str]:
    """What the table does not show: one sentence per kernel, the rest, copies, gaps, the source."""
    text = [f"{short_name(one)}: {sentence(one, uses(one, limits))}" for one in found[:MOST]]
    if rest := found[MOST:]:
        share = percent(sum(one.share for one in rest))
        text.append(f"{len(rest)} further kernels and shapes: {share} of the time of kernels")
    for case in run.cases:
        if case.suite == SUITE and case.benchmark in (COPIES, TIMELINE):
            of_case = {row.quantity: row.value for row in run.rows if row.case == case.id}
            text += _device_line(case, of_case)
    counters = run.context.counters
    if counters and counters.state == "unavailable":
        text.append("; ".join(filter(None, (f"no counters: {counters.reason}", counters.mend))))
    names = " and ".join(one.context.run for one in of)
    text.append(f"ceilings of {names}" if limits else f"no ceilings of this device; {MEASURE}")
    return text


def _device_line(case: Case, of: Mapping[str, float]) -> list[str]:
    """Copies of a kind, or how long the device was busy; nothing without rows."""
    if case.benchmark == COPIES and "bytes" in of:
        kind = case.params.get("kind", "").replace("_", " ")
        moved = f"{_bytes(of['bytes'])} in {quantity(of['total_time'], 's')}"
        return [f"{'fills' if kind == 'fill' else f'copies {kind}'}: {of['launches']:.0f}, {moved}"]
    if of.get("span"):
        busy, span = percent(of["busy_time"] / of["span"]), quantity(of["span"], "s")
        gap = quantity(of["longest_gap"], "s")
        return [f"device busy {busy} of {span}; {of['gaps']:.0f} gaps, the longest {gap}"]
    return []


def short_name(kernel: Kernel) -> str:
    """A kernel and its shape: blocks and threads, without dimensions of 1 at their ends."""
    shape = f"{kernel.case.params.get('grid', '')}·{kernel.case.params.get('block', '')}"
    return f"{kernel.name} {re.sub(r'(x1)+(?=·|$)', '', shape)}"


def _bytes(value: float | None) -> str:
    """In powers of ten, as ceilings have them."""
    return "–" if value is None else quantity(value, "B/s").removesuffix("/s")


def _part(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}{SPACE}%"


def profile(run: Run, ceilings: str = "") -> tuple[Table, list[str]]:
    """The table and the lines below it. Raises `RunError` for a run that is no profile."""
    found = kernels(run)
    if not found:
        fix = "profile a program: strata profile -- PROGRAM"
        raise RunError(run.folder, found="no kernel of a profile", expected="one or more", fix=fix)
    of = lenders(ceilings, run.context.device.slug)
    limits = limits_of(of)
    return table(found, limits), lines(run, found, limits, of)
