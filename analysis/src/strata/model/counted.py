"""What the counters say, computed from rows: points of figures, tables, sentences.

Counted stands beside predicted, and neither corrects the other. Like `strata.model`: no files, no
drawing, and what a run lacks is simply not there.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from strata.model import (
    FIELDS,
    LAYOUTS,
    LEVELS,
    Cited,
    Sentence,
    Table,
    fields_name,
    level_name,
    ordered,
)
from strata.model.units import count, quantity
from strata.run import Counters, Provenance, Row, Run, Verdict

GENERATIONS = ("1.0-1.1", "1.2-1.3", "2.x", "3.x", "5.x-6.x", "7.x")
"""Compute capabilities that share their rules, as the axis of `layout_traffic` names them."""

COUNTING = "7.x"
"""The generation of every chip whose counters the harness can read (the range profiler's first is
7.5)."""

SECTOR_BYTES = 32

NET = "cupti_net"
"""The method of counts without the kernel's own other loads; a chip's metric by itself has them."""

SHARES = ("l1_hit_share", "l2_hit_share", "dram_share")

SAME = 1e-9
"""Two ratios of the same whole numbers may round differently; anything more is another count."""


class _Quantities:
    """Rows by case, quantity and provenance; of several methods the net one stands."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str, Provenance], Row] = {}
        for row in rows:
            key = (row.case, row.quantity, row.provenance)
            if key not in self._rows or row.method == NET:
                self._rows[key] = row

    def get(self, case: str, name: str, provenance: Provenance) -> Row | None:
        return self._rows.get((case, name, provenance))

    def having(self, benchmark: str, name: str, provenance: Provenance) -> list[Row]:
        return [
            row
            for (_, found, how), row in self._rows.items()
            if (row.benchmark, found, how) == (benchmark, name, provenance)
        ]

    def all(self) -> list[Row]:
        return list(self._rows.values())


_last: tuple[tuple[Row, ...], _Quantities] | None = None


def _quantities(rows: Iterable[Row]) -> _Quantities:
    """The rows as an index, kept for whoever asks next: figures and tables share a run's rows."""
    global _last  # noqa: PLW0603  (what it keeps cannot change: rows and their tuple are frozen)
    if not isinstance(rows, tuple):
        return _Quantities(rows)
    if _last is None or _last[0] is not rows:
        _last = (rows, _Quantities(rows))
    return _last[1]


def _places(known: Sequence[str], value: str) -> tuple[int, str]:
    return (known.index(value) if value in known else len(known), value)


# --- bytes moved ÷ bytes used ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes moved ÷ bytes used by a warp-read of one layout, by the rules of one generation.

    Or as it was counted (`row` is then a count of sectors, the median one of all cases in L2, and
    `low` and `high` the least and the most of them).
    """

    fields: str
    generation: str
    layout: str
    ratio: float
    low: float
    high: float
    row: Row

    @property
    def counted(self) -> bool:
        """Whether hardware counted it."""
        return self.row.provenance == "counted"


def moved(rows: Iterable[Row]) -> tuple[Moved, ...]:
    """What `layout_traffic` predicts for each generation, and what `layout_read` counted in L2.

    Nothing without `layout_traffic`: it says how many bytes a layout uses. A valid count beats
    invalid ones.
    """
    known = _quantities(rows)
    result, used = [], {}
    for row in known.having("layout_traffic", "moved_over_used", "modelled"):
        place = row.params.get("fields", "?"), row.params.get("layout", "?")
        generation = row.params.get("generation", "?")
        result.append(Moved(place[0], generation, place[1], row.value, row.value, row.value, row))
        bytes_used = known.get(row.case, "bytes_used_per_read", "modelled")
        if bytes_used and bytes_used.value > 0:
            used[place] = bytes_used.value
    for place, counted in _in_l2(known, "sectors_per_read").items():
        if place in used:
            low, middle, high = (
                SECTOR_BYTES * row.value / used[place]
                for row in (counted[0], counted[len(counted) // 2], counted[-1])
            )
            fields, layout = place
            row = counted[len(counted) // 2]
            result.append(Moved(fields, COUNTING, layout, middle, low, high, row))
    return tuple(
        sorted(
            result,
            key=lambda item: (
                _places(FIELDS, item.fields),
                _places(GENERATIONS, item.generation),
                item.counted,
                _places(LAYOUTS, item.layout),
            ),
        )
    )


def _in_l2(known: _Quantities, name: str) -> dict[tuple[str, str], list[Row]]:
    """Counts of `name` in the L2 cases of `layout_read`, smallest first, by fields and layout."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in known.having("layout_read", name, "counted"):
        if row.params.get("residency") == "l2":
            found[row.params.get("fields", "?"), row.params.get("layout", "?")].append(row)
    return {
        place: sorted(
            [row for row in group if row.valid] or group, key=lambda row: (row.value, row.case)
        )
        for place, group in found.items()
    }


# --- which level served ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """One share of the sectors of one case of `layout_read`, as counted, and as predicted."""

    level: str
    fields: str
    layout: str
    name: str
    counted: Row
    predicted: Row | None


def level_shares(rows: Iterable[Row]) -> tuple[Share, ...]:
    """Every share that `layout_read` counted, by level, share, layout and case."""
    known = _quantities(rows)
    result = [
        Share(
            level=row.params.get("residency", "?"),
            fields=row.params.get("fields", "?"),
            layout=row.params.get("layout", "?"),
            name=name,
            counted=row,
            predicted=known.get(row.case, name, "modelled"),
        )
        for name in SHARES
        for row in known.having("layout_read", name, "counted")
    ]
    return tuple(
        sorted(
            result,
            key=lambda share: (
                _places(LEVELS, share.level),
                SHARES.index(share.name),
                _places(LAYOUTS, share.layout),
                _places(FIELDS, share.fields),
                share.counted.case,
            ),
        )
    )


# --- predicted beside counted ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """A quantity of one case whose count is not what the model predicted."""

    case: str
    quantity: str
    predicted: Row
    counted: Row


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """How the model did: verdicts of the gate `model` by case, and every difference.

    `silent` are cases whose gate failed although no predicted quantity differs: case and detail.
    """

    verdicts: Mapping[Verdict, int]
    differences: tuple[Difference, ...]
    silent: tuple[tuple[str, str], ...]

    @property
    def cases(self) -> int:
        """Cases that have a verdict."""
        return sum(self.verdicts.values())


def model_check(run: Run) -> ModelCheck:
    """The gate `model` of every case, and where counts differ from the prediction.

    Shares are left out: the level gate bounds them, the model gate wants whole numbers equal.
    """
    known = _quantities(run.rows)
    differences = []
    for counted in known.all():
        if counted.provenance != "counted" or counted.quantity in SHARES:
            continue
        predicted = known.get(counted.case, counted.quantity, "modelled")
        if predicted and not math.isclose(counted.value, predicted.value, rel_tol=SAME):
            differences.append(Difference(counted.case, counted.quantity, predicted, counted))
    named = {difference.case for difference in differences}
    gates = [(case.id, gate) for case in run.cases for gate in case.gates if gate.name == "model"]
    return ModelCheck(
        verdicts=Counter(gate.verdict for _, gate in gates),
        differences=tuple(differences),
        silent=tuple(
            (case, gate.detail)
            for case, gate in gates
            if gate.verdict == "failed" and case not in named
        ),
    )


def level_rows(run: Run) -> Mapping[Verdict, int]:
    """Rows by the verdict of their case's level gate; rows without such a gate are not counted."""
    verdicts = {
        case.id: gate.verdict for case in run.cases for gate in case.gates if gate.name == "level"
    }
    return Counter(verdicts[row.case] for row in run.rows if row.case in verdicts)


def proof(run: Run) -> str:
    """How many rows have proof of the level that served them, in one sentence."""
    rows = level_rows(run)
    told = sum(rows.values()) - rows["not_applicable"]
    if not told:
        return "Level: no row says which level of memory served it."
    parts = [f"{rows['passed']} of {told} rows proved by counters"]
    if rows["unverified"]:
        parts.append(f"{rows['unverified']} level unverified")
    if rows["failed"]:
        parts.append(f"{rows['failed']} served by another level than they claim, or by several")
    return f"Level: {', '.join(parts)}."


def state(counters: Counters | None) -> str:
    """Whether anything was counted, with what, and if not, why and what mends it."""
    if counters is None:
        return "Nothing was counted: the run is of schema version 1, whose harness had no counters."
    why = f": {counters.reason}" if counters.reason else ""
    mend = f" To mend: {counters.mend}." if counters.mend else ""
    if counters.state == "not_asked":
        return f"Nothing was counted: counters were not asked for.{mend}"
    if counters.state == "unavailable":
        return f"Nothing was counted: {counters.reason or 'counters cannot be read here'}.{mend}"
    if counters.state == "external":
        return f"A profiler outside the harness was to count; the run holds no counts{why}.{mend}"
    sets = ", ".join(counters.sets) or "raw metrics"
    passes = f"{counters.passes} pass{'es' if counters.passes != 1 else ''}"
    number = len(counters.quantities)
    quantities = f"{number} quantit{'ies' if number != 1 else 'y'}"
    return (
        f"Counted on {counters.chip}: {quantities} ({sets}) in {passes}. "
        f"Counting took {quantity(counters.counting_seconds, 's')}, timing "
        f"{quantity(counters.timing_seconds, 's')}.{mend}"
    )


def model_words(check: ModelCheck) -> str:
    """How many cases the model predicted exactly, in one sentence."""
    if not check.cases:
        return "Model: no case has both a prediction and a count."
    passed = check.verdicts.get("passed", 0)
    words = f"Model: predicted equals counted in {passed} of {check.cases} cases"
    failed = check.verdicts.get("failed", 0)
    open_ = check.cases - passed - failed
    parts = [f"{failed} not equal"] if failed else []
    parts += [f"{open_} not compared"] if open_ else []
    return f"{words}{'; ' if parts else ''}{', '.join(parts)}."


def _cited(row: Row) -> Sentence:
    return (Cited(count(row.value), row),)


_NONE: Sentence = ("–",)


def difference_table(check: ModelCheck) -> Table | None:
    """Every count that is not what the model predicted; None when all are."""
    if not check.differences:
        return None
    return Table(
        name="model_differences",
        title="Counts that the model did not predict",
        header=("case", "quantity", "predicted", "counted"),
        rows=tuple(
            (
                (one.case,),
                (one.quantity.replace("_", " "),),
                _cited(one.predicted),
                _cited(one.counted),
            )
            for one in check.differences
        ),
        numeric=frozenset({2, 3}),
    )


def traffic_table(rows: Sequence[Row]) -> Table | None:
    """Sectors per request, and bytes moved ÷ used by generation and as counted, of every layout.

    Counts are those of the L2 cases of `layout_read`, as a range where they differ. None without a
    prediction or a count.
    """
    known = _quantities(rows)
    ratios = {(m.fields, m.layout, m.generation): m for m in moved(rows) if not m.counted}
    counted = {(m.fields, m.layout): m for m in moved(rows) if m.counted}
    requests = _in_l2(known, "sectors_per_request")
    places = {place[:2] for place in ratios} | counted.keys() | requests.keys()
    if not places:
        return None
    generations = ordered((place[2] for place in ratios), GENERATIONS)
    lines = []
    for fields in ordered((place[0] for place in places), FIELDS):
        for layout in ordered((p[1] for p in places if p[0] == fields), LAYOUTS):
            found = requests.get((fields, layout), [])
            line: list[Sentence] = [(fields_name(fields),), (layout,)]
            line += [_predicted_sectors(known, found, ratios.get((fields, layout, COUNTING)))]
            line += [_range([(row.value, row) for row in found])]
            for generation in generations:
                one = ratios.get((fields, layout, generation))
                line.append((Cited(count(one.ratio), one.row),) if one else _NONE)
            if counted:
                both = counted.get((fields, layout))
                line.append(_moved_cell(both) if both else _NONE)
            lines.append(tuple(line))
    header = ["fields", "layout", "sectors per request: predicted", "sectors per request: counted"]
    header += [f"moved ÷ used: {generation}" for generation in generations]
    header += ["moved ÷ used: counted here"] if counted else []
    return Table(
        name="traffic",
        title="Sectors per request, and bytes moved ÷ bytes used by compute capability",
        header=tuple(header),
        rows=tuple(lines),
        numeric=frozenset(range(2, len(header))),
    )


def _predicted_sectors(known: _Quantities, found: Sequence[Row], traffic: Moved | None) -> Sentence:
    """Sectors per request: what stands beside the counts, else what `layout_traffic` says."""
    for row in found:
        beside = known.get(row.case, "sectors_per_request", "modelled")
        if beside:
            return _cited(beside)
    if traffic:
        sectors = known.get(traffic.row.case, "sectors_per_read", "modelled")
        requests = known.get(traffic.row.case, "requests_per_read", "modelled")
        if sectors and requests and requests.value > 0:
            return (Cited(count(sectors.value / requests.value), sectors),)
    return _NONE


def _range(values: Sequence[tuple[float, Row]]) -> Sentence:
    """The values, smallest first, as one where they agree to what is printed, else as a range."""
    if not values:
        return _NONE
    (low, first), (high, last) = values[0], values[-1]
    if count(low) == count(high):
        return (Cited(count(low), first),)
    return (Cited(count(low), first), "–", Cited(count(high), last))


def _moved_cell(one: Moved) -> Sentence:
    text = count(one.ratio)
    if count(one.low) != count(one.high):
        text = f"{count(one.low)}–{count(one.high)}"
    return (Cited(text, one.row),)


def level_table(run: Run) -> Table | None:
    """Cases by the level that they claim (by benchmark, where it is not an axis) and its gate.

    None without such a gate.
    """
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for case in run.cases:
        for gate in case.gates:
            if gate.name == "level" and gate.verdict != "not_applicable":
                counts[case.params.get("residency", case.benchmark)][gate.verdict] += 1
    if not counts:
        return None
    columns: tuple[Verdict, ...] = ("passed", "failed", "unverified")
    return Table(
        name="levels",
        title="Cases by the level that they claim, and what the counters say of it",
        header=("level", "proved", "refuted", "unverified"),
        rows=tuple(
            ((level_name(level),), *((f"{counts[level][verdict]}",) for verdict in columns))
            for level in ordered(counts, LEVELS)
        ),
        numeric=frozenset({1, 2, 3}),
    )
