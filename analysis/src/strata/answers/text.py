"""Answers as text for a terminal, and as data for programs."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from strata.answers import Answer, Answers, names
from strata.answers import topics as names_by_topic
from strata.model.tables import terminal
from strata.model.text import Table
from strata.run import one_line

FEW = 8
"""So many answers are shown with their cases."""


def topics() -> str:
    """The topics and the names of their answers, and how to ask."""
    lines = [((topic,), (", ".join(names),)) for topic, names in names_by_topic().items()]
    listed = terminal(Table("topics", "", ("topic", "answers"), tuple(lines), frozenset()))
    return f"{listed}\nstrata ask [RUN] WORDS...: strata ask h200 l2 latency; strata ask h200 all"


def shown(name: str, main: Answers, found: Sequence[Answer]) -> str:
    """The answers of a device as a table, and the case of each, if they are few."""
    lines = tuple(
        ((one.what,), (one.text,), (one.interval,), (_also(one),), (_remark(one, main.run),))
        for one in found
    )
    table = terminal(Table("answers", "", ("",) * 5, lines, frozenset((1, 2))), head=False)
    title = one_line(f"{main.device}, {main.run}" + (f" ({name})" if name in names() else ""))
    if len(found) > FEW:
        return f"{title}\n{table}The case of each: --json"
    proofs = (f"{one.name}: {one.case} by {one.method}" for one in found if one.case)
    return "\n".join((title, table, *map(one_line, dict.fromkeys(proofs)))).rstrip()


def _also(answer: Answer) -> str:
    return ", ".join(f"{one.quantity.replace('_', ' ')} {one.text}" for one in answer.also)


def _remark(answer: Answer, main: str) -> str:
    invalid = answer.value is not None and not answer.valid
    why = f"not valid: {answer.why.partition(';')[0]}" if invalid else answer.why
    note = answer.note if answer.interpolated else ""
    source = f"from {answer.run}" if answer.run != main and answer.value is not None else ""
    return one_line("; ".join(filter(None, (why, note, source))))


def as_data(main: Answers, found: Sequence[Answer]) -> dict[str, Any]:
    """The answers with all that is known of each; `run` is the main one of the device."""
    data: list[Mapping[str, Any]] = msgspec.to_builtins(found)
    named = [{key: value for key, value in one.items() if key != "key"} for one in data]
    return {"run": main.run, "device": main.slug, "answers": named}
