"""The launches of a profiled kernel: its time, operations and traffic, in whichever form counted.

A metric of Nsight Compute is a sum, or a rate of it as in the roofline sections: operations for
each cycle (`….sum.per_cycle_elapsed`) or second (`….sum.per_second`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from strata.roofline.forms import FLOP, INSTRUCTION, SECTOR, WARP, Form
from strata.run import Row

OPERATIONS = {
    "fp32": {"fadd": 1, "fmul": 1, "ffma": 2, "fadd2": 2, "fmul2": 2, "ffma2": 4},
    "fp64": {"dadd": 1, "dmul": 1, "dfma": 2},
    "fp16": {"hadd": 2, "hmul": 2, "hfma": 4},
}
"""Operations of one instruction of a thread, by type; not all chips have the packed `…2`."""
_SASS = "{}__sass_thread_inst_executed_op_{}_pred_on"
_DERIVED = "derived__smsp__sass_thread_inst_executed_op_{}_pred_on_x{}"
"""Of ncu's roofline sections: operations for each cycle."""
_TENSOR = re.compile(
    r"sm__ops_path_tensor(?P<op>_op_\w+?)?_src_(?P<type>\w+?)(?P<to>_dst_\w+?)?"
    r"(?P<sparsity>_sparsity_o\w+)?\.sum(\.per_cycle_elapsed|\.per_second|)"
)
_PIPES = {
    "fp32": r"pipe_fma(heavy|lite)?(_cycles_active)?\.",
    "fp64": r"pipe_fp64",
    "fp16": r"pipe_fp16|pipe_fma_type_fp16",
    "tensor": r"pipe_tensor",
}
"""The metrics that show that operations of a type were executed."""
_IDLE = 5
"""Per cent of a pipe's peak: other instructions take so much of it, on Hopper 16-bit multiply-adds
of the tensor pipe (`hmma`), by which compilers also set constants."""
_HALVES = 0.1
"""A share of 16-bit instructions in all that explains a busy tensor pipe."""
_LITTLE = 0.01
"""A share of operations whose rows do not decide whether the sum is valid: rates near 0 have few
digits."""
_TYPES = 4
"""So many types of tensor operations are collected only by ncu's own list, which has all."""
CONSTANTS = "16-bit multiply-adds alone, by which compilers also set constants"
_COLLECT = {
    **{kind: _SASS.format("smsp", f"{letter}{{add,mul,fma}}") + ".sum"
       for kind, letter in (("fp32", "f"), ("fp64", "d"), ("fp16", "h"))},
    "tensor": "sm__ops_path_tensor_src_*.sum",
}  # fmt: skip
_MOVED: tuple[tuple[str, dict[str, int]], ...] = (
    ("l1", {"l1_load_sectors": SECTOR, "l1_store_sectors": SECTOR, "shared_wavefronts": 128}),
    ("l1", {"l1tex__t_bytes": 1}),
    ("l1", {"derived__l1tex__lsu_writeback_bytes_mem_lgds": 1}),
    ("l1", {"derived__l1tex__lsu_writeback_bytes_mem_lg": 1}),
    ("l2", {"lts__t_sectors_srcunit_tex": SECTOR}),
    ("l2", {"l2_load_sectors": SECTOR, "l2_store_sectors": SECTOR}),
    ("l2", {"lts__t_bytes": 1}),
    ("l2", {"derived__lts__lts2xbar_bytes": 1}),
    ("dram", {"dram_read_bytes": 1, "dram_write_bytes": 1}),
    ("dram", {"dram__bytes_read": 1, "dram__bytes_write": 1}),
    ("dram", {"dram_bytes": 1}),
    ("dram", {"dram__bytes": 1}),
)
"""What is counted at each level, and the bytes of one; the first that was counted is taken."""
_TRAFFIC = "dram__bytes.sum, lts__t_bytes.sum or l1tex__t_bytes.sum"
_TIME = "gpu__time_duration.sum, or sm__cycles_elapsed.avg with its .per_second"
COMMAND = (
    "LC_ALL=C ncu --csv --page raw --print-units base --clock-control none --set roofline "
    "--metrics gpu__time_duration.sum,smsp__inst_executed.sum,dram__bytes_read.sum,"
    "dram__bytes_write.sum,lts__t_sectors_srcunit_tex.sum,"
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,"
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum ./program > kernels.csv"
)
"""Collects all that a roofline needs: the set adds the operations that the chip counts."""


class Total(NamedTuple):
    """A number of one launch, and its rows."""

    value: float
    rows: Sequence[Row]


class Work(NamedTuple):
    """The operations of one launch by type (`fp32`, `tensor bf16`), and what was not counted."""

    by_type: Mapping[str, float]
    rows: Sequence[Row]
    lacks: Sequence[str] = ()

    @property
    def total(self) -> float:
        """Operations of all types."""
        return sum(self.by_type.values())

    @property
    def main(self) -> str:
        """The type of most operations; empty without any."""
        return max(self.by_type, key=self.by_type.__getitem__) if self.total else ""

    @property
    def doubt(self) -> str:
        """What its operations may be instead, in words."""
        others = [
            row for row in self.rows if re.search("_h(add|mul)", row.method) and row.value > 0
        ]
        return CONSTANTS if self.main == "fp16" and not others else ""


@dataclass(frozen=True)
class Kernel:
    """A case whose rows are those of one kernel and launch shape.

    `timed` is the row of its time, and `scale` makes seconds of it. `name` is the full name.
    """

    rows: Sequence[Row]
    name: str
    timed: Row | None = None
    scale: float = 1.0
    counts: Mapping[str, Row] = field(default_factory=dict)
    """By quantity and by metric."""

    @classmethod
    def of(cls, rows: Sequence[Row], name: str, timed: Row | None = None) -> "Kernel":
        """The kernel of the rows of a case; without a time of its own, as it was profiled."""
        found = [row for row in rows if row.provenance == "counted"]
        counts = {key: row for row in found for key in (row.method, row.quantity)}
        scale = 1.0
        times = {row.quantity: row for row in rows if row.minimum > 0}
        # Launches of one shape may do different work: those of a profile that were counted.
        own = times.get("paired_time", times.get("gpu_time"))
        if not timed and not (timed := own):
            cycles, rate = _cycles(counts, ""), _cycles(counts, ".per_second")
            timed, scale = cycles if rate else None, 1 / rate.value if rate else 1.0
        return cls(rows, name, timed, scale, counts)

    @property
    def case(self) -> str:
        """The id of its case."""
        return self.rows[0].case

    @property
    def shape(self) -> str:
        """`grid 1024x1x1, block 256x1x1`, as far as known."""
        params = self.rows[0].params
        return ", ".join(f"{axis} {params[axis]}" for axis in ("grid", "block") if axis in params)

    @property
    def seconds(self) -> float:
        """Of one launch; 0 if unknown."""
        return self.scale * self.timed.value if self.timed else 0

    @property
    def all_seconds(self) -> float:
        """Of all launches."""
        total = next((row.value for row in self.rows if row.quantity == "total_time"), 0.0)
        if total or not self.timed:
            return total
        return self.scale * (sum(self.timed.taken) or self.timed.samples * self.timed.value)

    @cached_property
    def _factors(self) -> Mapping[str, float]:
        """What makes a number of one launch of each form of a metric."""
        cycles, rate = _cycles(self.counts, ""), _cycles(self.counts, ".per_second")
        elapsed = cycles.value if cycles else self.seconds * rate.value if rate else 0
        rates = {".sum.per_cycle_elapsed": elapsed, ".sum.per_second": self.seconds}
        return {"": 1, ".sum": 1, **{form: value for form, value in rates.items() if value}}

    def total(self, *names: str) -> Total | None:
        """Of the first of several quantities or metrics (without `.sum`) that was counted."""
        for name in names:
            for form, factor in self._factors.items():
                if row := self.counts.get(f"{name}{form}"):
                    return Total(factor * row.value, [row])
        return None

    def _operations(self, kind: str, op: str, each: int) -> Total | None:
        """The operations of one kind of instruction."""
        names = (f"{kind}_{op[1:]}", *(_SASS.format(unit, op) for unit in ("smsp", "sm")))
        if found := self.total(*names):
            return Total(each * found.value, found.rows)
        derived, cycles = _DERIVED.format(op, each), self._factors.get(".sum.per_cycle_elapsed")
        row = self.counts.get(derived)
        return Total(cycles * row.value, [row]) if row and cycles else None

    def work(self, form: Form) -> Work | None:
        """What one launch executed; None if it was not counted."""
        if form is INSTRUCTION:
            names = ("executed_instructions", "sm__inst_executed", "smsp__inst_executed")
            executed = self.total(*names)
            return Work({"issue": executed.value}, executed.rows) if executed else None
        by_type: dict[str, float] = {}
        parts: list[Total] = []
        lacks = []
        for kind, ops in OPERATIONS.items():
            found = {op: self._operations(kind, op, each) for op, each in ops.items()}
            if counted := [part for part in found.values() if part]:
                by_type[kind] = sum(part.value for part in counted)
                parts += counted
            needed = [op for op in found if not op.endswith("2")]
            if missing := [op for op in needed if not found[op]]:
                if counted:
                    lacks += [_SASS.format("smsp", op) + ".sum" for op in missing]
                elif self._busy(kind):
                    lacks.append(_COLLECT[kind])
        tensor = self._tensor()
        by_type |= {kind: total.value for kind, total in tensor.items()}
        parts += tensor.values()
        known = len(tensor) >= _TYPES or any(total.value for total in tensor.values())
        if not known and self._busy("tensor") and not self._has_halves(by_type.get("fp16", 0)):
            lacks.append(_COLLECT["tensor"])
        least = _LITTLE * sum(by_type.values())
        rows = [row for part in parts if part.value >= least for row in part.rows]
        return Work(by_type, rows, lacks) if by_type or lacks else None

    def _has_halves(self, operations: float) -> bool:
        """Whether 16-bit instructions (of about four operations) are many of the executed ones."""
        executed = self.work(INSTRUCTION)
        return executed is not None and operations / 4 / WARP >= _HALVES * executed.total

    def _tensor(self) -> dict[str, Total]:
        """Operations of tensor cores by source type.

        They are counted as a whole, and in parts by instruction, result and sparsity. The parts of
        one division are added; of several divisions the largest sum is taken.
        """
        parts = defaultdict[str, dict[tuple[bool, ...], set[str]]](lambda: defaultdict(set))
        for metric in self.counts:
            if found := _TENSOR.fullmatch(metric):
                division = tuple(bool(found[key]) for key in ("op", "to", "sparsity"))
                parts[found["type"]][division].add(metric.partition(".sum")[0])
        return {
            f"tensor {kind}": max((self._sum(stems) for stems in divisions.values()),
                                  key=lambda total: total.value)
            for kind, divisions in parts.items()
        }  # fmt: skip

    def _sum(self, names: Iterable[str]) -> Total:
        found = [total for total in map(self.total, names) if total]
        return Total(sum(one.value for one in found), [row for one in found for row in one.rows])

    def _busy(self, kind: str) -> bool:
        """Whether the pipe of the type executed anything, as far as was counted."""
        return any(
            row.value > (_IDLE if row.unit == "%" else 0) and re.search(_PIPES[kind], metric)
            for metric, row in self.counts.items()
            if "pipe_" in metric
            and row.unit in ("%", "instruction")
            and not re.search(r"(?<!pct_of_)peak_sustained", metric)
        )

    def moved(self, form: Form) -> dict[str, Total]:
        """Bytes (sectors) of one launch at each level with any traffic."""
        result: dict[str, Total] = {}
        for level, parts in _MOVED:
            counted = [one for one in map(self.total, parts) if one]
            if level in result or len(counted) < len(parts):
                continue
            total = sum(each * one.value for each, one in zip(parts.values(), counted, strict=True))
            if total > 0:
                rows = [row for one in counted for row in one.rows]
                result[level] = Total(total / form.moved, rows)
        return result

    def lacks(self) -> Iterator[str]:
        """What was not collected and every point needs, in words, with its metrics."""
        if not self.seconds > 0:
            yield f"a time ({_TIME})"
        if not self.work(FLOP):
            yield f"operations ({_COLLECT['fp32']}, …)"
        if not self.moved(FLOP):
            yield f"traffic ({_TRAFFIC})"


def _cycles(counts: Mapping[str, Row], of: str) -> Row | None:
    """Elapsed cycles of an SM, or their rate."""
    kinds = ("sm", "avg"), ("sm", "max"), ("smsp", "avg"), ("smsp", "max")
    rows = (counts.get(f"{unit}__cycles_elapsed.{kind}{of}") for unit, kind in kinds)
    return next((row for row in rows if row and row.minimum > 0), None)


# --- names ----------------------------------------------------------------------------------------


def short_names(kernels: Iterable[tuple[str, str]], most: int = 30) -> dict[str, str]:
    """A name for display by case: no namespaces, no arguments, at most `most` letters, each once.

    What distinguishes it from names with the same beginning is kept.
    """
    bare = {case: bare_name(name) for case, name in kernels}
    words = sorted({*bare.values()})
    common = {one: _alike(one, other) for one, other in pairwise(words)}
    common = {other: max(_alike(one, other), common.get(other, 0))
              for one, other in pairwise(["", *words])}  # fmt: skip
    result: dict[str, str] = {}
    times = Counter[str]()
    for case, text in bare.items():
        # The last word that begins in what both have.
        start = max(text.rfind(mark, 0, common[text]) for mark in "<, ") + 1
        cut = len(text) > most and start > most // 3
        short = f"{text[: most // 3]}…{text[start:]}" if cut else text
        short = short if len(short) <= most else f"{short[: most - 1]}…"
        times[short] += 1
        result[case] = f"{short} #{times[short]}" if times[short] > 1 else short
    return result


def _alike(one: str, other: str) -> int:
    """How many letters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def bare_name(name: str) -> str:
    """`void a::f<b::c<4>>(T1 *)` as `f<c<4>>`."""
    text = name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    text = re.sub(r"\w+::", "", text)
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0 and place:
            text = text[:place]
            break
    return re.sub(r"^(void|static|inline) ", "", text).strip() or name
