"""The table of a profile on a terminal, and the ceilings that it compares with."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from strata.ladder.stalls import STATES
from strata.model import Table
from strata.model.truth import load_run
from strata.model.units import SPACE, quantity
from strata.profile.kernels import (
    COPIES,
    SUITE,
    TIMELINE,
    Kernel,
    Use,
    kernels,
    limits_of,
    percent,
    sentence,
    uses,
)
from strata.roofline.ceilings import Ceiling
from strata.run import Case, Run, RunError

MOST = 20
"""Kernels in the table."""
_WIDTH = 44
"""Letters of a kernel's name."""
_NEEDED = ("ceilings", "bandwidth")
_WANTED = (*_NEEDED, "tensor_rate")
MEASURE = "measure them in 20 s: strata run ceilings, then --ceilings RUN"


def recorded() -> Path:
    """The folder of the recorded runs; it is absent where only the package is installed."""
    return Path(__file__).resolve().parents[4] / "results"


def lender(name: str, slug: str) -> Run | None:
    """The run with the ceilings: a folder, a recorded device (h200), or by default the device.

    None if nothing is recorded of the device. Raises `RunError` for a `name` that is neither.
    """
    if name and Path(name).is_dir():
        return load_run(Path(name))
    if name and not re.fullmatch(r"[a-z0-9-]+", name):
        raise RunError(
            Path(name), found="no such folder", expected="a run", mend="check --ceilings"
        )
    folders = [one for one in sorted(recorded().glob("*")) if one.name == slug]
    if name:
        folders = [one for one in sorted(recorded().glob("*")) if name in one.name.split("-")]
    runs = [
        run for one in folders for run in sorted(one.iterdir()) if (run / "context.json").exists()
    ]
    best = max(runs, key=lambda run: (_ceilings_in(run), run.name.split("-")[-2]), default=None)
    if best is None or _ceilings_in(best) < len(_NEEDED):
        if name:
            found, fix = "no recorded run with ceilings", "check --ceilings"
            raise RunError(Path(name), found=found, expected="a run or a recorded device", mend=fix)
        return None
    return load_run(best)


def _ceilings_in(run: Path) -> int:
    """How many of the wanted benchmarks a run has."""
    try:
        cases = json.loads((run / "context.json").read_text())["sweep"]["cases"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0
    benchmarks = {case.split("/")[1] for case in cases if case.count("/") >= 2}
    return len(benchmarks & {*_WANTED}) if benchmarks >= {*_NEEDED} else 0


def table(found: list[Kernel], limits: dict[str, Ceiling]) -> Table:
    """One line per kernel and shape."""
    header = (
        "kernel", "share", "launches", "time", "limit", "of it", "DRAM", "L2", "L1 hits", "L2 hits",
        "occup.", "waits for",
    )  # fmt: skip
    lines = []
    for one in found[:MOST]:
        used = uses(one, limits)
        cells = (
            short_name(one), percent(one.share), f"{one.launches}", quantity(one.time, "s"),
            *_limit(used), _bytes(one.moved("dram")), _bytes(one.moved("l2")),
            _share(one.part("l1_hit_sectors", "l1_sectors")),
            _share(one.part("l2_sm_hit_sectors", "l2_sm_sectors")),
            _occupancy(one), STATES.get(one.stall[0], one.stall[0]) if one.stall else "–",
        )  # fmt: skip
        lines.append(tuple((cell,) for cell in cells))
    numeric = frozenset({1, 2, 3, 5, 6, 7, 8, 9, 10})
    return Table("profile", "Kernels of a program", header, tuple(lines), numeric)


def lines(run: Run, found: list[Kernel], limits: dict[str, Ceiling], of: Run | None) -> list[str]:
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
    text.append(f"ceilings of {of.context.run}" if of else f"no ceilings of this device; {MEASURE}")
    return text


def _device_line(case: Case, of: Mapping[str, float]) -> list[str]:
    """Copies of a kind, or how long the device was busy; nothing without rows."""
    if case.benchmark == COPIES and "bytes" in of:
        kind = case.params.get("kind", "").replace("_", " ")
        moved = f"{quantity(of['bytes'], 'B')} in {quantity(of['total_time'], 's')}"
        return [f"{'fills' if kind == 'fill' else f'copies {kind}'}: {of['launches']:.0f}, {moved}"]
    if of.get("span"):
        busy, span = percent(of["busy_time"] / of["span"]), quantity(of["span"], "s")
        gap = quantity(of["longest_gap"], "s")
        return [f"device busy {busy} of {span}; {of['gaps']:.0f} gaps, the longest {gap}"]
    return []


def short_name(kernel: Kernel) -> str:
    """A kernel and its shape in a line of bounded length."""
    name = re.sub(r"\(.*", "", kernel.name) or kernel.name
    shape = f"{kernel.case.params.get('grid', '')}·{kernel.case.params.get('block', '')}"
    shape = re.sub(r"(x1)+(?=·|$)", "", shape)
    return f"{name if len(name) <= _WIDTH else f'{name[: _WIDTH - 1]}…'} {shape}"


def _limit(used: list[Use]) -> tuple[str, str]:
    return (used[0].name, percent(used[0].share)) if used else ("–", "–")


def _bytes(value: float | None) -> str:
    return "–" if value is None else quantity(value, "B")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}{SPACE}%"


def _occupancy(kernel: Kernel) -> str:
    row = kernel.rows.get("achieved_occupancy")
    return f"{row.value:.0f}{SPACE}%" if row else "–"


def profile(run: Run, ceilings: str = "") -> tuple[Table, list[str]]:
    """The table and the lines below it. Raises `RunError` for a run that is no profile."""
    found = kernels(run)
    if not found:
        fix = "profile a program: strata profile -- PROGRAM"
        raise RunError(run.folder, found="no kernel of a profile", expected="one or more", mend=fix)
    of = lender(ceilings, run.context.device.slug)
    limits = limits_of(of) if of else {}
    return table(found, limits), lines(run, found, limits, of)
