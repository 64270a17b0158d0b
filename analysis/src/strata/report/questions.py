"""The questions that a page answers, a section each.

A figure or a table finds its section by its `order`: whoever adds one takes a number of its
question. What has none of these numbers stands in the last section, so that nothing is lost; and
so does what `sentences.PARTS` says that no question asks for.
"""

from collections.abc import Sequence
from typing import NamedTuple

MAP = "hierarchy_map"
"""The name of the figure that stands above all questions, where a run has it."""


class Question(NamedTuple):
    """A section: its name, what it answers, the orders of what it shows, and who says the answer.

    `says` are names of `sentences.PARTS`. The first figure stands open where it is the answer.
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
    Question("ladder", "What does each optimisation bring?", range(200, 210), ("rungs",)),
    Question("roofline", "What bounds the kernels?", range(210, 220), ("rooflines",)),
    Question("trust", "How far to trust it", range(40, 60), ("clocks",),
             leads=False),
    Question("steps", "The ladder, step by step", range(220, 300), ("steps between rungs",),
             leads=False),
    Question("published", "Beside published results", range(300, 400), ("the papers' kernels",),
             leads=False),
    LAST,
)  # fmt: skip


def question_of(what: int | str) -> Question:
    """Where a figure or a table with this order belongs, or what the part of this name says."""
    return next((one for one in QUESTIONS if what in one.orders or what in one.says), LAST)
