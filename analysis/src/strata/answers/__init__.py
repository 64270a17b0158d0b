"""`strata ask`: numbers of a run for a question in words, each with its condition and its case.

The registry is `answers.toml`. An answer is the value of a row with its interval, the condition in
words, the case that measured it, and whether it is valid.
"""

import functools
import gzip
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from strata.answers import special
from strata.model.cases import CLOCKS
from strata.model.hierarchy import Hierarchy, Level, Number, hierarchy
from strata.model.names import fields_name, level_name
from strata.model.truth import load_run
from strata.model.units import count, interval, quantity, size
from strata.run import Row, Run, RunError, cache, grouped, index
from strata.run.files import packed_resource, resource

PACKED = "recorded.json.gz"
REFERENCES = ("h200", "h100", "xeon")
"""The names of recorded runs whose answers are packed."""
SIZES = ("bytes", "footprint")
"""Axes whose values are bytes."""
_FILLERS = (
    "a an and are at be by can cost costs do does each for from how i in is it long many much ns "
    "of on or per take takes than that the to under use value versus vs what when which with"
)
"""Words of a question that are no part of a condition."""
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([kmg]?)(?:i?b|bytes?)\b", re.IGNORECASE)
_SCALES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the registry; the head of `answers.toml` describes its members."""

    what: str
    words: str
    more: str = ""
    rows: str = ""
    where: Mapping[str, str] = {}
    method: str = ""
    each: str = ""
    values: str = ""
    pick: str = "median"
    also: str = ""
    between: str = ""
    number: str = ""
    function: str = ""

    @property
    def sources(self) -> list[tuple[str, str]]:
        """Benchmarks and their quantities."""
        return [(text.partition(".")[0], text.partition(".")[2]) for text in self.rows.split()]

    @property
    def axes(self) -> list[str]:
        """The axes whose values distinguish the lines of the answer."""
        return self.each.split()


class Beside(Struct, frozen=True):
    """Another quantity of the same case."""

    quantity: str
    value: float | None
    unit: str
    text: str


class Answer(Struct, frozen=True):
    """A number of a run and its condition `what`; without a number, `why` is the reason.

    `key` is the entry of the registry, `axes` the values that distinguish its answers. `why` is the
    reason of an invalid number, `note` a remark on a valid one. `low` and `high` bound the 95 %
    interval in `unit`; with fewer than six samples their range. `interpolated` numbers have the
    case of the smaller end.
    """

    key: str
    name: str
    what: str
    axes: Mapping[str, str] = {}
    value: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    text: str = "–"
    case: str = ""
    quantity: str = ""
    method: str = ""
    valid: bool = False
    why: str = ""
    note: str = ""
    interpolated: bool = False
    also: tuple[Beside, ...] = ()
    run: str = ""

    @property
    def interval(self) -> str:
        """The interval as text; empty for a number without one, or of one value."""
        if self.low is None or self.high is None or self.low == self.high:
            return ""
        return interval(self.low, self.high, self.unit)


@functools.cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(resource(__name__, "answers.toml"))


@functools.cache
def registry() -> Mapping[str, Entry]:
    """Each entry by its name `topic.name`, in the order of the file."""
    topics = {topic: here for topic, here in _tables().items() if topic != "values"}
    return {
        f"{topic}.{name}": msgspec.convert(entry, Entry)
        for topic, entries in topics.items()
        for name, entry in entries.items()
    }


def topics() -> Mapping[str, list[str]]:
    """The names of the answers of each topic; a number of the map is one for each level."""
    found: dict[str, list[str]] = {}
    for key, entry in registry().items():
        levels = entry.values.split() if entry.number and entry.each else [""]
        for name in (_name(key, level) for level in levels):
            topic, _, rest = name.partition(".")
            found.setdefault(topic, []).append(rest)
    return found


def _name(key: str, level: str) -> str:
    """The name of an answer of an entry: `latency.level` of L2 is `latency.l2`."""
    return f"{key.removesuffix('.level')}.{level}" if level else key


# --- answers of a run -----------------------------------------------------------------------------


class Answers(Struct, frozen=True):
    """The answers of a run of a device: at least one for each entry of the registry."""

    run: str
    device: str
    slug: str
    answers: tuple[Answer, ...]


def answers(run: Run) -> Answers:
    """All answers of the registry in a run."""
    context = run.context
    levels, cases = hierarchy(run), grouped(run.rows, lambda row: row.case)
    found: list[Answer] = []
    for key, entry in registry().items():
        of_entry = (
            _of_map(levels, key, entry) if entry.number else _of_cases(run, cases, key, entry)
        )
        found += [replace(one, run=context.run) for one in of_entry]
    return Answers(context.run, context.device.name, context.device.slug, tuple(found))


def load_answers(folder: Path) -> Answers:
    """The answers of the run in a folder, from the cache if neither run nor code changed."""
    key = cache.key_of_run(folder)
    kept = cache.read(f"{key}.answers") if key else None
    with suppress(msgspec.MsgspecError):
        if kept:
            return msgspec.json.decode(kept, type=Answers)
    made = msgspec.json.encode(answers(load_run(folder)))
    if key:
        cache.write(f"{key}.answers", made)
    return msgspec.json.decode(made, type=Answers)


def names() -> list[str]:
    """The short names of recorded runs; without their folders those whose answers are packed."""
    return [*(index.recorded() or _packed())]


def answers_of(name: str) -> Iterator[Answers]:
    """The answers of each run of a device, or of the run in a folder."""
    if index.recorded() or name not in _packed():
        yield from map(load_answers, index.folders(name))
    else:
        yield from _packed()[name]


@functools.cache
def _packed() -> Mapping[str, Sequence[Answers]]:
    """The answers of the reference runs, which a wheel carries in place of the runs."""
    return msgspec.json.decode(packed_resource(__name__, PACKED), type=dict[str, list[Answers]])


def pack() -> bytes:
    """The file of `_packed` by the recorded runs of today."""
    found = {name: [*map(load_answers, index.recorded()[name])] for name in REFERENCES}
    return gzip.compress(msgspec.json.encode(found), mtime=0)


def _of_cases(
    run: Run, cases: Mapping[str, Sequence[Row]], key: str, entry: Entry
) -> Iterator[Answer]:
    """An answer for each line of an entry; `cases` are the rows of each case."""
    found = getattr(special, entry.function)(run) if entry.function else _of_rows(run, entry)
    lines: list[tuple[Mapping[str, str], Row]] = list(found)
    if not lines:
        yield Answer(key, key, _unfilled(entry), why=_missing(run.context.run, entry))
    for axes, row in lines:
        case = sorted(cases[row.case], key=lambda one: one.method == row.method)
        here = {one.quantity: one for one in case}
        also = [here[name] for name in entry.also.split() if name in here]
        words = {axis: _shown(axis, value) for axis, value in ({**row.params, **axes}).items()}
        found = _of_row(Answer(key, key, entry.what.format_map(words), axes), row)
        yield replace(found, also=tuple(_beside(one.quantity, one.value, one.unit) for one in also))


def _unfilled(entry: Entry) -> str:
    return entry.what.replace("{", "<").replace("}", ">")


def _shown(axis: str, value: str) -> str:
    if axis in SIZES and value.isdecimal():
        return size(int(value))
    return fields_name(value) if axis == "fields" else level_name(value)


def _of_row(answer: Answer, row: Row) -> Answer:
    low, high = row.interval
    return replace(
        answer, value=row.value, unit=row.unit, low=low, high=high, text=_text(row.value, row.unit),
        case=row.case, quantity=row.quantity, method=row.method, valid=row.valid,
        why="" if row.valid else row.reasons, note=row.reasons if row.valid else "",
    )  # fmt: skip


def _text(value: float, unit: str) -> str:
    if unit in ("warp", "sector"):
        return f"{count(value)} {unit}{'s' * (value != 1)}"
    return size(round(value)) if unit == "B" else quantity(value, unit)


def _beside(name: str, value: float | None, unit: str) -> Beside:
    return Beside(name, value, unit, _text(value or 0, unit))


def _of_map(found: Hierarchy, key: str, entry: Entry) -> Iterator[Answer]:
    """A number of levels of the map, with its text there; none of levels that the device lacks."""
    levels = {level.name: level for level in found.levels}
    for name in entry.values.split():
        level = levels.get(name)
        number = level and level.numbers.get(entry.number)
        words = _level_words(level) if level else level_name(name)
        axes = {entry.each: name} if entry.each else {}
        answer = Answer(key, _name(key, name if axes else ""), entry.what.format(level=words), axes)
        if not level or not number or number.source == "missing":
            why = number.why if number else f"{found.device} has no such level"
            row = number and number.row
            yield _of_row(answer, row) if row else replace(answer, why=why)
            continue
        beside = (level.numbers.get(name) for name in entry.also.split())
        also = tuple(
            Beside(one.what.replace("core", found.core.lower()), one.value, _unit(one), one.text)
            for one in beside
            if one and one.text
        )
        yield replace(_of_number(answer, number), also=also)


def _level_words(level: Level) -> str:
    name = level_name(level.part_of or level.name)
    return f"{name}, {level.title}" if level.part_of else name


def _unit(number: Number) -> str:
    """The unit of a number's value: of its row, unless it follows from that."""
    units = {"time": "s", "per_core": "B/cycle", "share": "1"}
    if number.what in ("cycles", "bandwidth", "writing", "first_touch", "half_l2") and number.row:
        return number.row.unit
    return units.get(number.what, "B")


def _of_number(answer: Answer, number: Number) -> Answer:
    unit, row = _unit(number), number.row
    answer = replace(answer, value=number.value, unit=unit, text=number.text, valid=True)
    if row is None:
        return replace(answer, note=f"{number.source}: {number.why}")
    measured = number.value == row.value and row.unit == unit
    low, high = row.interval if measured else (None, None)
    note = "; ".join(filter(None, ("" if measured else number.why, row.reasons)))
    proof = {"case": row.case, "quantity": row.quantity, "method": row.method}
    return replace(answer, low=low, high=high, note=note, **proof)


def _of_rows(run: Run, entry: Entry) -> Iterator[tuple[Mapping[str, str], Row]]:
    """The row of each combination of values of `each`, in the order of the sweep."""
    allowed = {axis: values.split() for axis, values in entry.where.items()}
    if entry.values:
        allowed[entry.axes[0]] = entry.values.split()
    for benchmark, name in entry.sources:
        rows = [
            row
            for row in run.of(benchmark)
            if row.quantity == name and entry.method in ("", row.method)
            if all(row.text(axis) in values for axis, values in allowed.items())
        ]
        timed = [row for row in rows if row.provenance == "timed"] or rows
        lines = grouped(timed, lambda row: tuple(row.text(axis) for axis in entry.axes))
        for values, here in lines.items():
            yield dict(zip(entry.axes, values, strict=True)), _picked(here, entry.pick)
        if lines:
            return


def _picked(rows: Sequence[Row], pick: str) -> Row:
    """A row of one timer, the core's if there is one: valid if any is."""
    first = next((row.method for row in rows if row.method in CLOCKS), rows[0].method)
    same = [row for row in rows if row.method == first]
    valid = sorted([row for row in same if row.valid] or same, key=lambda row: row.value)
    return {"largest": valid[-1], "smallest": valid[0]}.get(pick, valid[(len(valid) - 1) // 2])


def _missing(run: str, entry: Entry) -> str:
    return f"{run} has no such case of {' or '.join(name for name, _ in entry.sources) or 'it'}"


def _first_valid(runs: Iterable[Sequence[Answer]]) -> list[Answer]:
    """The answers of several runs of a device, from the first run with a valid number.

    Of those of one name that are not valid there, each is from the first run where it is.
    """
    of_runs = [grouped(found, lambda one: one.name) for found in runs]
    best: list[Answer] = []
    for name in dict.fromkeys(name for found in of_runs for name in found):
        here = [found[name] for found in of_runs if name in found]
        valid = {f"{one.axes}": one for lines in here[::-1] for one in lines if one.valid}
        here.sort(key=lambda lines: -max((one.value is not None) + one.valid for one in lines))
        best += [one if one.valid else valid.get(f"{one.axes}", one) for one in here[0]]
    return best


# --- questions ------------------------------------------------------------------------------------


def tokens(question: Iterable[str]) -> list[str]:
    """The words of a question that narrow it, in lower case; `64 KiB` is `65536B`."""

    def in_bytes(size: re.Match[str]) -> str:
        return f"{round(float(size[1]) * _SCALES[size[2].lower()])}B"

    text = _SIZE.sub(in_bytes, " ".join(question).replace("-way", " way"))
    words = (word.strip("?,:;()") for word in text.split())
    words = (word if re.fullmatch(r"\d+B", word) else word.lower() for word in words)
    return [word for word in dict.fromkeys(words) if word and word not in _FILLERS.split()]


def ask(of_runs: Iterable[Answers], question: Iterable[str]) -> tuple[Answers, list[Answer]]:
    """What the runs of a device, the main one first, answer; and all answers of the main one.

    Later runs are taken only if those before have no valid number. Raises `RunError` if no answer
    has the words of the question.
    """
    words, runs, matched = tokens(question), list[Answers](), list[Sequence[Answer]]()
    for run in of_runs:
        runs.append(run)
        matched.append(_matching(run.answers, words))
        found = _first_valid(matched)
        if found and all(one.valid for one in found):
            break
    if words != ["all"]:
        found = [one for one in found if one.value is not None]
        found = found or [*next(filter(None, matched), [])]
    if not found:
        raise _refusal(words, runs)
    return runs[0], found


def _matching(known: Sequence[Answer], words: Sequence[str]) -> Sequence[Answer]:
    """The answers that fit all words; all for `all`."""
    if words == ["all"]:
        return known
    by_entry = grouped(known, lambda one: one.key)
    return [one for key, lines in by_entry.items() for one in _fitting(key, lines, words)]


def _fitting(key: str, lines: Sequence[Answer], words: Sequence[str]) -> Iterator[Answer]:
    """The answers of an entry with most of the words that are values, if all words fit."""
    entry = registry()[key]
    lines = [*lines, *(line for word in words for line in _between(entry, lines, word))]
    values = [_values(line.axes) for line in lines]
    known = _general(key).union(*values)
    first = entry.axes[:1] if entry.number or entry.axes[:1] != ["level"] else []
    named = ({axis: line.axes.get(axis, "") for axis in first} for line in lines)
    naming = {*entry.words.split()}.union(*map(_values, named), _unmeasured(first, lines))
    if not any(_spellings(word) & naming for word in words):
        return
    if not all(_spellings(word) & known for word in words):
        known |= _unmeasured(entry.axes, lines).union(filter(str.isdecimal, words))
        if entry.rows and all(_spellings(word) & known for word in words):
            run = lines[0].run
            yield Answer(key, key, _unfilled(entry), why=_missing(run, entry), run=run)
        return
    sets = [frozenset(word for word in words if _spellings(word) & here) for here in values]
    for line, here in zip(lines, sets, strict=True):
        if not any(here < other for other in sets):
            yield line


def _general(key: str) -> set[str]:
    """The words of an entry that are no values."""
    entry = registry()[key]
    return {*re.split(r"[._]", key), *entry.words.split(), *entry.more.split()}


def _spellings(word: str) -> set[str]:
    return {word, word.removesuffix("s"), f"{word}s", word.removesuffix("B")}


def _values(axes: Mapping[str, str]) -> set[str]:
    """The words for the values of axes."""
    found = set[str]()
    for axis, value in axes.items():
        more = _known_words().get(f"{axis}={value}", [])
        found |= {f"{value}B"} if axis in SIZES else {value, *value.split("_"), *more}
    return found


def _unmeasured(axes: Sequence[str], lines: Sequence[Answer]) -> set[str]:
    """The words for values that axes may have, unless those of `lines` have others."""
    found = set[str]()
    for axis, values in _tables()["values"].items():
        measured = {line.axes[axis] for line in lines if axis in line.axes}
        if axis in axes and (not measured or measured & values.keys()):
            found.update(word for name in values for word in _known_words()[f"{axis}={name}"])
    return found


@functools.cache
def _known_words() -> Mapping[str, list[str]]:
    """Further words for AXIS=VALUE, and the value itself."""
    return {
        f"{axis}={value}": [value, *words.split()]
        for axis, here in _tables()["values"].items()
        for value, words in here.items()
    }


def _between(entry: Entry, lines: Sequence[Answer], word: str) -> Iterator[Answer]:
    """Answers at a number between those of the sweep, on a straight line of logarithms."""
    axis, sought = entry.between, word.removesuffix("B")
    known = [line for line in lines if line.axes.get(axis, "").isdecimal()]
    if not sought.isdecimal() or int(sought) == 0 or sought in {line.axes[axis] for line in known}:
        return
    others = [name for name in entry.axes if name != axis]
    for curve in grouped(known, lambda line: tuple(line.axes[name] for name in others)).values():
        curve.sort(key=lambda line: int(line.axes[axis]))
        axes, at = {**curve[0].axes, axis: sought}, int(sought)
        what = entry.what.format_map({name: _shown(name, value) for name, value in axes.items()})
        blank = Answer(curve[0].key, curve[0].name, what, axes, run=curve[0].run)
        ends = [_shown(axis, line.axes[axis]) for line in (curve[0], curve[-1])]
        yield next(
            (
                _interpolated(blank, below, above, axis)
                for below, above in pairwise(curve)
                if int(below.axes[axis]) < at < int(above.axes[axis])
            ),
            replace(blank, why=f"measured from {ends[0]} to {ends[1]} only"),
        )


def _interpolated(answer: Answer, below: Answer, above: Answer, axis: str) -> Answer:
    least, at, most = (log(int(one.axes[axis])) for one in (below, answer, above))

    def at_it(start: float | None, end: float | None) -> float | None:
        if not start or not end or min(start, end) <= 0:
            return None
        return exp(log(start) + (log(end) - log(start)) * (at - least) / (most - least))

    value = at_it(below.value, above.value)
    text = "–" if value is None else _text(value, below.unit)
    ends = [_shown(axis, one.axes[axis]) for one in (below, above)]
    return replace(
        answer, value=value, unit=below.unit, text=text,
        low=at_it(below.low, above.low), high=at_it(below.high, above.high), case=below.case,
        quantity=below.quantity, method=below.method, valid=below.valid and above.valid,
        why=below.why or above.why, interpolated=True,
        note=f"interpolated between {ends[0]} and {ends[1]}",
    )  # fmt: skip


def _refusal(words: Sequence[str], runs: Sequence[Answers]) -> RunError:
    """The error about the words that no answer has."""
    values = (_values(one.axes) for found in runs for one in found.answers)
    known = set[str]().union(*values, *map(_general, registry()))
    strange = [word for word in words if not _spellings(word) & known]
    near = [one for word in strange for one in get_close_matches(word, known, 2)]
    expected = f"words such as {', '.join(near)}" if near else "the words of one answer"
    found, fix = " ".join(strange or words), "use other or fewer words; strata ask lists topics"
    return RunError(Path("ask"), found=found or "no words", expected=expected, fix=fix)
