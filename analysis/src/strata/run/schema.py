"""What a run says of its benchmarks and of the n-body ladder, as `results/schema` has it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec


class Axis(msgspec.Struct, frozen=True, gc=False):
    """One parameter of a benchmark: either `choices`, or a whole number in a range."""

    name: str
    meaning: str
    defaults: tuple[str, ...]
    choices: tuple[str, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None


class Quantity(msgspec.Struct, frozen=True, gc=False):
    """One quantity that a benchmark measures, and what it means."""

    name: str
    meaning: str


class Benchmark(msgspec.Struct, frozen=True, gc=False):
    """What a benchmark says of itself."""

    suite: str
    question: str
    axes: tuple[Axis, ...]
    quantities: tuple[Quantity, ...]


class Rung(msgspec.Struct, frozen=True, gc=False):
    """One rung of the n-body ladder: the rung `before` it, what it changes, how it adds up.

    Zero where a number would say nothing: `issue_slots` (instructions that a warp issues for an
    interaction), `bodies_of_block`, `threads_of_read`, `vector_operations` (of an interaction).
    """

    name: str
    backend: Literal["cuda", "host"]
    before: str
    question: str
    change: str
    source: str
    expectation: str
    sum: Literal["running", "blocks"]
    approximate: bool
    issue_slots: float = 0.0
    bodies_of_block: int = 0
    launch_for_each_system: bool = False
    threads_of_read: int = 0
    vector_operations: float = 0.0
    layouts: tuple[str, ...] = ()


class Declared(msgspec.Struct, frozen=True, gc=False):
    """The members of `context.json` that runs of older harnesses lack."""

    benchmarks: Mapping[str, Benchmark] | None = None
    rungs: tuple[Rung, ...] | None = None


@cache
def before() -> Declared:
    """What runs of older harnesses take for granted."""
    return msgspec.json.decode(Path(__file__).with_name("before.json").read_bytes(), type=Declared)
