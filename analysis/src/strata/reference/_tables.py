"""The tables of published figures (`results/reference`): their columns, and their reader."""

import csv
import re
from collections.abc import Callable, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from strata.reference._bibliography import FIX, ReferenceTableError, folder, source
from strata.run import RunError, read_text

NUMBER = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
PRINTED = re.compile(
    rf">=?{NUMBER}|{NUMBER} \+ wait|{NUMBER}(?:(?:-|\.\.| or ){NUMBER}( KiB)?)?|", re.ASCII
)


class Span:
    """A published number as printed: a value, a range, a bound, or nothing.

    Parsed from `28`, `400-600`, `16 or 32`, `32..128 KiB` (then in bytes), `>=4`, `4 + wait` or a
    blank. `high` is None for a bound, both for a blank.
    """

    def __init__(self, text: str = "") -> None:
        found = PRINTED.fullmatch(text)
        least, waited, low, high, kib = found.groups() if found else (None,) * 5
        scale = 1024 if kib else 1
        self.text = text
        ends = (least or waited or low, high or low)
        self.low, self.high = (float(number) * scale if number else None for number in ends)
        if not found or (self.bounds and self.bounds[0] > self.bounds[1]):
            raise ValueError("a number, a range (400-600) or a bound (>=4)")

    @property
    def value(self) -> float | None:
        """The number, if a single one is printed."""
        return self.low if self.low == self.high else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both ends, if both are printed."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Origin(NamedTuple):
    """The origin of a row: `text` names the source as in the table, `locator` the place in it.

    `tier`: read in the source itself (A), in a transcription (B), in pasted output (C), or unknown.
    `doubt` is a short reason not to trust the row; blank: none. `keys` are those of the
    bibliography, first the one for the statement of the row.
    """

    tier: str
    doubt: str
    keys: tuple[str, ...]
    text: str
    locator: str


class Published:
    """A row of a table: a value for each column of its schema, and `origin` for those of ORIGIN."""

    def __init__(self, **values: Any) -> None:
        self.__dict__ = {name: values[name] for name in values if name not in PLACE}
        origin = [values.get(name, "") for name in PLACE]
        self.origin = Origin(*origin)

    @property
    def rate(self) -> float:
        """Interactions per second of n-body; of a search agent steps, or neighbours if given."""
        if "interactions_per_second" in self.__dict__:
            return float(self.interactions_per_second)
        return float(self.value * (self.agents if self.quantity == "steps_per_second" else 1))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


# --- cells: functions of the text, which raise ValueError with what they expect -------------------

Cell = Callable[[str], Any]


def _word(text: str) -> str:
    if not text:
        raise ValueError("a word or a number")
    return text


def _one_of(*known: str) -> Cell:
    def word(text: str) -> str:
        if text not in known:
            raise ValueError(" or ".join(filter(None, known)))
        return text

    return word


def _above_zero(text: str) -> float:
    if not re.fullmatch(NUMBER, text, re.ASCII) or not 0 < float(text) < float("inf"):
        raise ValueError("a number above zero")
    return float(text)


def _count(text: str) -> int | None:
    if text and not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError("a whole number")
    return int(text) if text else None


def _number(text: str) -> float | None:
    return _above_zero(text) if text else None


def _span(text: str) -> Span:
    return Span(_word(text))


def _keys(text: str) -> tuple[str, ...]:
    for key in _word(text).split():
        try:
            source(key)
        except KeyError:
            raise ValueError(f"{key} in sources.bib") from None
    return tuple(text.split())


GPU: Mapping[str, Cell] = {"gpu": _word, "architecture": _word}
ORIGIN: Mapping[str, Cell] = {
    "tier": _one_of("A", "B", "C", ""), "doubt": str, "key": _keys, "source": _word,
}  # fmt: skip
PLACE: Mapping[str, Cell] = {**ORIGIN, "locator": _word}
LEVELS = ("l1", "l2", "constant_l1", "constant_l15", "texture")

LATENCY: Mapping[str, Cell] = {
    **GPU,
    "level": _one_of(
        "shared", "dram", "l1_5", "l2_near", "l2_far", "tlb_l1_miss", "tlb_l2_miss", "dsmem",
        *LEVELS,
    ),
    "metric": _word, "value": _span, "unit": _one_of("cycles", "ns", "cycles per warp"),
    "method": str, **PLACE,
}  # fmt: skip
BANDWIDTH: Mapping[str, Cell] = {
    **GPU, "level": _one_of("shared", "l1", "l2", "dram", "constant_l1", "compute"),
    "operation": _word, "value": _above_zero,
    "unit": _one_of(
        "B/clk", "B/clk/SM", "GB/s", "GB/s/SM", "GiB/s", "TB/s", "GFLOP/s", "ops/clk/SM"
    ),
    **PLACE,
}  # fmt: skip
"""With the level `compute` an arithmetic rate."""
GEOMETRY: Mapping[str, Cell] = {
    **GPU, "level": _one_of("l2_segment", "tlb_l1", "tlb_l2", "tlb_l3", *LEVELS),
    "size_bytes": Span, "line_bytes": _count, "fetch_granularity_bytes": _count, **PLACE,
}  # fmt: skip
"""The sizes of a cache; for a TLB its reach and the page size of an entry."""
INSTRUCTION: Mapping[str, Cell] = {
    **GPU, "instruction": _word, "latency_cycles": _span, "throughput_per_clk_per_sm": _number,
    **PLACE,
}  # fmt: skip
"""An instruction is named as in the source; thread operations per clock and SM."""
NBODY: Mapping[str, Cell] = {
    **GPU, "problem": _one_of("single", "galaxies"), "precision": _one_of("fp32", "fp64"),
    "implementation": _word, "name": str, "label": _word, "bodies": _count,
    "interactions_per_second": _above_zero, **PLACE,
}  # fmt: skip
"""N² for each step; `name` as in the source, `label` for a figure; `bodies` of one system."""
NEIGHBOURS: Mapping[str, Cell] = {
    **GPU, "problem": _one_of("boids", "circles", "list"), "implementation": _word, "label": _word,
    "world": _one_of("fit", "50", "100", "200", ""), "agents": _count,
    "quantity": _one_of("steps_per_second", "agent_steps_per_second", "neighbours_per_second"),
    "value": _above_zero, **PLACE,
}  # fmt: skip
"""`problem` is the most similar one here, `world` that of boids, blank if unknown."""
FSTAT: Mapping[str, Cell] = {
    **GPU, "implementation": _word, "version": _count,
    "quantity": _one_of("seconds", "times_of_cpu", "memory_share", "copies_share"),
    "value": _above_zero, **PLACE,
}  # fmt: skip
"""Of several rows of one quantity and version the last is of the F-statistic alone."""
GPUS: Mapping[str, Cell] = {
    **GPU, "compute_capability": str, "year": _count, "sm_count": _count, "boost_mhz": _number,
    "fp32_gflops": _number, "mem_type": str, "mem_gb": Span, "mem_bus_bits": _count,
    "dram_peak_gbs": _number, "l2_bytes": _count, "l1_shared_bytes_per_sm": _count, **ORIGIN,
}  # fmt: skip
"""By a data sheet, a white paper or the device; GB and GB/s are 10⁹ bytes, blank: not found."""


def read(path: Path, schema: Mapping[str, Cell]) -> tuple[Published, ...]:
    """The rows of a CSV file whose columns are those of `schema`, in file order.

    Raises `ReferenceTableError` for a missing file, text that is not UTF-8, other columns, or an
    invalid cell.
    """

    def refused(line: int | None, found: str, expected: str) -> ReferenceTableError:
        return ReferenceTableError(path, line, found=found, expected=expected, fix=FIX)

    try:
        header, *lines = [*csv.reader(StringIO(read_text(path), newline=""))] or [[]]
    except (RunError, csv.Error) as error:
        raise refused(None, f"{error}", "a readable table in UTF-8") from error
    if sorted(header) != sorted(schema):
        raise refused(1, f"columns {','.join(header) or 'none'}", ",".join(schema))
    rows = []
    for number, cells in enumerate(lines, 2):
        if len(cells) != len(header):
            raise refused(number, f"{len(cells)} cells", f"{len(header)}")
        values = {}
        for name, cell in zip(header, cells, strict=True):
            try:
                values[name] = schema[name](cell)
            except ValueError as error:
                found = f"'{cell}'" if cell else "nothing"
                raise refused(number, f"{found} under {name}", f"{error}") from None
        rows.append(Published(**values))
    return tuple(rows)


def _table(name: str, schema: Mapping[str, Cell]) -> Callable[[], tuple[Published, ...]]:
    """Returns the function for the rows of a table, read once. Raises `ReferenceTableError`."""
    return cache(lambda: read(folder() / name, schema))


latencies = _table("latency.csv", LATENCY)
bandwidths = _table("bandwidth.csv", BANDWIDTH)
geometries = _table("cache_geometry.csv", GEOMETRY)
instructions = _table("instruction_latency.csv", INSTRUCTION)
nbody = _table("nbody.csv", NBODY)
neighbours = _table("neighbours.csv", NEIGHBOURS)
fstat = _table("fstat.csv", FSTAT)
gpus = _table("gpus.csv", GPUS)


def is_of(published: Published, device: str) -> bool:
    """Whether it describes the chip with the slug `device`: `H200` does, `H200 NVL` does not."""
    slug = re.sub(r"[^a-z0-9]+", "-", published.gpu.lower()).strip("-")
    return device == slug or device.endswith(f"-{slug}")
