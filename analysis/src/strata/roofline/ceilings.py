"""The limits of a device: the roofs and the lower ceilings of a roofline, from a run."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import ClassVar

from strata.model import atlas
from strata.model.atlas import beyond_limit
from strata.model.cases import by_case
from strata.roofline.forms import FLOP, INSTRUCTION, LEVELS, WARP, Form, level_words
from strata.run import Row, Run

MAIN = "fp32"
"""The arithmetic of the n-body kernels: their roof."""
ISSUE = "issue"
WITHOUT_FMA = "fp32 without FMA"
_ISSUED = 4
"""Warp instructions that an SM issues in a cycle: one of each of its four schedulers."""
_SAME = 0.97
"""A lower ceiling that is this much of the roof, or more, is the roof."""
_KINDS = {
    "fp16x2": ("fp16, packed", 4),
    "fp32": ("fp32", 2),
    "fp64": ("fp64", 2),
    "bf16x2": ("bf16, packed", 4),
    "int32": ("int32", 2),
    "int8_dp4a": ("int8", 8),
}
"""Of `ceilings`: the name, and the operations of one instruction of a thread."""
_TENSOR = {
    "fp16": "fp16",
    "bf16": "bf16",
    "tf32": "tf32",
    "e4m3": "fp8 (e4m3)",
    "e5m2": "fp8 (e5m2)",
    "fp64": "fp64",
    "int8": "int8",
}
"""Types of `tensor_rate`, and their names."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A roof, or a lower ceiling, which limits only kernels without some optimisation.

    `value` (and its interval) is a rate, or a bandwidth if `sloped`; `how` is how it was reached.
    `run` is the run that contains it, which may have borrowed it.
    """

    entry: ClassVar = "ceiling"
    run: str
    name: str
    level: str
    lower: bool
    basis: str
    value: float
    low: float
    high: float
    valid: bool
    how: str
    row: Row

    @property
    def sloped(self) -> bool:
        """Whether it is the bandwidth of a memory level."""
        return self.level in LEVELS

    @property
    def bounds(self) -> bool:
        """Whether it was measured and is valid; others are not limits."""
        return self.basis == "measured" and self.valid

    @property
    def roof(self) -> bool:
        """Whether it limits every kernel."""
        return self.bounds and not self.lower


def joined(runs: Sequence[Run]) -> Run:
    """The first run, with the rows of the next ones of benchmarks that none before has."""
    rows: list[Row] = []
    for run in runs:
        known = {row.benchmark for row in rows}
        rows += [row for row in run.rows if row.benchmark not in known]
    return Run(runs[0].folder, runs[0].context, runs[0].cases, tuple(rows))


def ceilings(run: Run, form: Form) -> list[Ceiling]:
    """All ceilings of a run; none if none is valid."""
    found = [*peaks(run, form), *_bandwidths(run, form)]
    return found if any(one.bounds for one in found) else []


def _best(rows: Iterable[Row], beyond: frozenset[str] = frozenset()) -> Row | None:
    """The highest valid row; if none is valid, the highest invalid one, which is not a ceiling.

    One `beyond` its limit only if all valid ones are.
    """
    return max(rows, key=lambda row: (row.valid, row.case not in beyond, row.value), default=None)


def _ceiling(
    row: Row, name: str, level: str, how: str, *,
    scale: float = 1, lower: bool = False,
    most: float = 0, why: str = "", source: Row | None = None,
) -> list[Ceiling]:  # fmt: skip
    """A measured ceiling and, if known, the `most` that the chip should reach there."""
    value, low, high = (scale * one for one in (row.value, *row.interval))
    one = Ceiling(row.run, name, level, lower, "measured", value, low, high, row.valid, how, row)
    if not most or not row.valid:
        return [one]
    source = source or row
    limit = replace(one, value=most, low=most, high=most, valid=source.valid, how=why, row=source)
    return [one, replace(limit, basis="theoretical")]


def peaks(run: Run, form: Form) -> list[Ceiling]:
    """Peaks from the benchmarks `ceilings` and, except for multiply-adds, `instruction_cost`."""
    known = (row for row in run.of("ceilings") if row.text("arithmetic") in _KINDS)
    rates = [row for row in known if row.quantity in atlas.RATES]
    timed = [row for row in rates if row.provenance == "timed"]
    if form is INSTRUCTION:
        return _issue(run, [row for row in timed if row.backend == "cuda" and row.valid])
    limits = {row.case: row for row in rates if row.provenance == "modelled"}
    beyond = beyond_limit(run.of("ceilings"))
    result = []
    for kind in ("fp16x2", MAIN, "fp64"):
        if row := _best((row for row in timed if row.text("arithmetic") == kind), beyond):
            limit = limits.get(row.case)
            result += _ceiling(
                row, _KINDS[kind][0], kind, f"multiply-adds, form {row.text('form')}",
                lower=kind != MAIN, most=limit.value if limit else 0,
                why="lanes × SMs × clock under this load", source=limit,
            )  # fmt: skip
    result += _tensor_peaks(run)
    wanted = ("operation_rate", "cuda")  # on a CPU these were measured on one core
    costs = [row for row in run.of("instruction_cost") if (row.quantity, row.backend) == wanted]
    alone = _best(row for row in costs if row.text("operation") in ("fadd", "fmul"))
    if alone and alone.valid:
        how = "additions or multiplications alone"
        result += _ceiling(alone, WITHOUT_FMA, MAIN, how, lower=True)
    return result


def _tensor_peaks(run: Run) -> Iterable[Ceiling]:
    """Dense products of random numbers, by type: the best instruction and shape."""
    wanted = ("operations_per_second", "dense", "random")
    rows = [
        row
        for row in run.of("tensor_rate")
        if (row.quantity, row.text("sparsity"), row.text("data")) == wanted
    ]
    for kind, name in _TENSOR.items():
        if row := _best(row for row in rows if row.text("type") == kind):
            how = f"{row.text('instruction')}, shape {row.text('shape')}, A in {row.text('a')}"
            yield from _ceiling(row, f"{name}, tensor cores", f"tensor {kind}", how, lower=True)


def _issue(run: Run, rates: Sequence[Row]) -> list[Ceiling]:
    """Warp instructions per second: of the arithmetic with the most, or the schedulers' limit."""
    lanes = ((row, WARP * _KINDS[row.text("arithmetic")][1]) for row in rates)
    best = max(lanes, key=lambda one: one[0].value / one[1], default=None)
    if best is None:
        return []
    row, operations = best
    (case,) = by_case(one for one in run.of("ceilings") if one.case == row.case)
    clock = case.row("core_clock")
    sms = run.context.device.sm_count or 0
    return _ceiling(
        row, ISSUE, ISSUE, f"{_KINDS[row.text('arithmetic')][0]} multiply-adds",
        scale=1 / operations, most=_ISSUED * sms * clock.value if clock else 0,
        why=f"{_ISSUED} a cycle × {sms} SMs × clock", source=clock,
    )  # fmt: skip


def _bandwidths(run: Run, form: Form) -> list[Ceiling]:
    """The best of each level over all operations: one that also writes may exceed all reads.

    The limit of a level is bandwidth divided by its share of the limit. If shares are relative to
    bytes per cycle, a fast clock gives a higher limit than a slow one: the median is used.
    """
    whole, known = defaultdict[str, list[Row]](list), defaultdict[str, list[Row]](list)
    limits = defaultdict[str, list[float]](list)
    streams = [row for name in atlas.STREAMS for row in run.of(name)]
    for case in by_case(streams):
        row, share = case.row("bandwidth"), case.row("share_of_limit")
        # Shared memory and L1 are one memory.
        level = case.text("level").replace("shared", "l1")
        whole[level] += [row] if row else []
        limits[level] += [row.value / share.value] if row and share and share.value > 0 else []
    for operation in dict.fromkeys(row.text("operation") for row in streams):
        for level, found in atlas.bandwidths(run, operation).items():
            known[level.replace("shared", "l1")].append(found.row)
    result, beyond = [], beyond_limit(streams)
    for level in LEVELS:
        if best := _best(known[level] or whole[level], beyond):
            operation, width = best.text("operation", "read"), best.text("width", "")
            how = f"{width} B wide" if width else f"by {best.benchmark}"
            roof, *limit = _ceiling(
                best, f"{level_words(level, best.backend)}, {operation}", level,
                f"{operation}, {how}", scale=1 / form.moved,
                most=median(limits[level]) / form.moved if limits[level] else 0,
                why="bus width × clock" if level == "dram" else "bytes a cycle × SMs × clock",
            )  # fmt: skip
            result += [roof, *limit]
            if roof.bounds and form is FLOP and best.backend == "cuda":
                result += _lower_ceilings(roof, whole[level], run.of("stride_gather"))
    return result


def _lower_ceilings(roof: Ceiling, rows: Sequence[Row], others: Sequence[Row]) -> list[Ceiling]:
    """Lower ceilings of a level: ungrouped 4-byte words, and lanes far apart.

    After van den Braak, Mesman and Corporaal (2010, Fig. 3), so the bytes are useful bytes. Of the
    strides only the widest is certainly uncoalesced.
    """
    useful = [row for row in others if (row.quantity, row.unit) == ("useful_bandwidth", "B/s")]
    wanted = ("strided", roof.level)
    strided = [row for row in useful if (row.text("pattern"), row.text("level")) == wanted]
    words = [row for row in rows if (row.text("operation"), row.text("width")) == ("read", "4")]
    words += [row for row in strided if (row.text("width"), row.text("stride")) == ("4", "1")]
    wide = [row for row in strided if (row.count("width") or 0) > 4 and row.valid]
    widest = max((row.count("stride") or 1 for row in wide), default=1)
    apart = [row for row in wide if row.count("stride") == widest > 1]
    result = []
    for name, row in (("ungrouped", _best(words)), ("uncoalesced", _best(apart))):
        if row and row.valid and row.value < _SAME * roof.value:
            stride = f", stride {row.text('stride')}" if name == "uncoalesced" else ""
            how = f"{row.text('width')} B wide{stride}"
            result += _ceiling(row, f"{roof.name}, {name}", roof.level, how, lower=True)
    return result
