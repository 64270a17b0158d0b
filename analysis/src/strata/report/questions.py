"""The questions that a page answers, one section each: `questions.toml`.

A figure or a table is assigned to a section by its `order`: a new one takes a number of its
question. The last section has all that no other takes, so that nothing is lost.
"""

import tomllib

import msgspec

from strata.run.files import resource

_DATA = tomllib.loads(resource(__package__, "questions.toml"))
AS_FILES = frozenset(_DATA["as_files"])
"""Figures that the page links to."""


class Question(msgspec.Struct, frozen=True):
    """A section: see `questions.toml`."""

    key: str
    title: str
    orders: tuple[int, int] = (0, 0)
    sentences: tuple[str, ...] = ()
    leads: bool = True


QUESTIONS = msgspec.convert(_DATA["question"], tuple[Question, ...])


def question_of(what: int | str) -> Question:
    """The section of a figure or a table with this order, or of the sentences of this part."""
    return next(
        (one for one in QUESTIONS if what in one.sentences or what in range(*one.orders)),
        QUESTIONS[-1],
    )
