"""The questions that a page answers, one section each.

A figure or a table is assigned to a section by its `order`: a new one takes a number of its
question. Items without such a number are in the last section, so that nothing is lost, and so are
those of `sentences.PARTS` that no question uses.
"""

from collections.abc import Sequence
from typing import NamedTuple

MAP = "hierarchy_map"
"""The name of the figure above all questions, where a run has it."""

AS_FILES = frozenset(
    """
    distributed_shared latency_vs_warps bytes_moved request_merging misalignment stride_gather
    slice_camping short_words issue_mix clock_under_load small_copies async_copy ladder_time neighbours_work
    neighbours_scale timer_agreement roofline_instructions nbody_stalls nbody_unroll nbody_gpus
    nbody_block_size nbody_accuracy published_constant
    """.split()  # noqa: SIM905  (names, a line of them)
)
"""Figures that the page links to: it shows 25 that answer a question, and folds those of papers."""


class Question(NamedTuple):
    """A section: its name, its question, the orders of its items, and the sources of its answer.

    `says` are names of `sentences.PARTS`. With `leads` the first figure is open.
    """

    key: str
    title: str
    orders: range
    says: Sequence[str] = ()
    leads: bool = True


LAST = Question("more", "Everything else", range(0), leads=False)
QUESTIONS = (
    Question("latency", "How long does a load take, and how large is each cache?", range(10),
             ("sizes of caches", "latencies", "the parts of L2", "the reach of the TLB")),
    Question("bandwidth", "How many bytes does each level deliver?", range(20, 30),
             ("bandwidths",)),
    Question("layouts", "Which memory layout is best?", range(10, 20), ("layouts",)),
    Question("coalescing", "What does a warp's access pattern cost?", range(60, 66),
             ("coalescing",)),
    Question("banks", "What does a bank conflict cost?", range(66, 68), ("bank conflicts",)),
    Question("instructions", "What do instructions cost?", range(70, 80),
             ("instructions", "arithmetic")),
    Question("atomics", "What does an atomic operation cost?", range(68, 70), ("atomics",)),
    Question("copies", "How fast are copies?", range(80, 100),
             ("transfers", "small copies")),
    Question("ladder", "How much does each optimisation gain?", range(200, 210), ("rungs",)),
    Question("roofline", "What limits the kernels?", range(210, 220), ("rooflines",)),
    Question("trust", "How far can the numbers be trusted?", range(40, 60), ("clocks",),
             leads=False),
    Question("steps", "The ladder, step by step", range(220, 300), ("steps between rungs",),
             leads=False),
    Question("published", "Comparison with published results", range(300, 400),
             ("the papers' kernels",), leads=False),
    LAST,
)  # fmt: skip


def question_of(what: int | str) -> Question:
    """The section of a figure or a table with this order, or of the sentences of this part."""
    return next((one for one in QUESTIONS if what in one.orders or what in one.says), LAST)
