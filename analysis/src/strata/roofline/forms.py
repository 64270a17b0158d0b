"""The two forms of a roofline: what they count, and how levels and numbers are shown."""

from typing import NamedTuple

from strata.model import level_name

WARP = 32
SECTOR = 32
"""Bytes."""
LEVELS = ("l1", "l2", "l3", "dram")
ONCE = "once"
"""The level of an uncounted point: each body read and each result written once a step."""
LOADS = "loads"
"""The level of a point that is the global loads of a kernel alone, against its sectors."""


class Form(NamedTuple):
    """What is counted: units of rate, bandwidth and intensity; bytes per unit of `moved`."""

    name: str
    title: str
    rate: str
    bandwidth: str
    intensity: str
    moved: int


FLOP = Form("roofline", "Roofline", "FLOP/s", "B/s", "FLOP/B", 1)
INSTRUCTION = Form(
    "roofline_instructions", "Instruction roofline", "warp instruction/s", "sector/s", "per sector",
    SECTOR,
)  # fmt: skip


def level_words(level: str, backend: str = "cuda") -> str:
    """`l1` of a GPU as `L1, shared`: both are one memory with one output."""
    if level == "l1" and backend == "cuda":
        return "L1, shared"
    return {ONCE: "touched once", LOADS: "global loads alone"}.get(level, level_name(level))


def brief(value: float) -> str:
    """Three or four digits, large numbers with a power of ten: 0.412, 57.3, 1034, 3.1e6."""
    if 999.5 <= value < 9999.5:
        return f"{value:.0f}"
    return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
