"""Counted values beside predicted ones; neither corrects the other."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from strata.model.cases import CaseRows, by_case
from strata.model.layouts import place_of
from strata.model.names import FIELDS, LAYOUTS, LEVELS, fields_name, level_name, ordered, rank
from strata.model.text import NONE, Cited, Sentence, Table, cell, table
from strata.model.units import count, quantity
from strata.run import Counters, Row, Run, Verdict, grouped

GENERATIONS = ("1.0-1.1", "1.2-1.3", "2.x", "3.x", "5.x-6.x", "7.x")
"""Compute capabilities that share their rules, as the axis of `layout_traffic` names them."""

COUNTING = "7.x"
"""The generation of every chip whose counters the harness can read: the profiler's first is 7.5."""

SECTOR_BYTES = 32

SHARES = ("l1_hit_share", "l2_hit_share", "dram_share")

SAME = 1e-9
"""Two ratios of the same whole numbers may round differently; anything more is another count."""


class Moved(NamedTuple):
    """Bytes moved ÷ bytes used by a warp-read of a layout: by a generation's rules, or counted.

    `row` is the median of the sector counts of all cases in L2, `low` to `high` their range.
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
        """Whether it was counted by hardware."""
        return self.row.provenance == "counted"


def moved(rows: Iterable[Row]) -> tuple[Moved, ...]:
    """The predictions of `layout_traffic` per generation, and the counts of `layout_read` in L2.

    Nothing without the former, which knows the bytes used. A valid count precedes invalid ones.
    """
    cases = by_case(row for row in rows if row.benchmark in ("layout_traffic", "layout_read"))
    result, used = [], {}
    for case in cases:
        if row := case.of("moved_over_used", "modelled"):
            fields, layout, ratio = row.text("fields"), row.text("layout"), row.value
            result.append(Moved(fields, row.text("generation"), layout, ratio, ratio, ratio, row))
            if bytes_used := case.of("bytes_used_per_read", "modelled"):
                used[fields, layout] = bytes_used.value
    for (fields, layout), counts in _in_l2(cases, "sectors_per_read").items():
        if bytes_ := used.get((fields, layout)):
            row = counts[len(counts) // 2]
            ends = (row, counts[0], counts[-1])
            ratio, low, high = (SECTOR_BYTES * count.value / bytes_ for count in ends)
            result.append(Moved(fields, COUNTING, layout, ratio, low, high, row))

    def place(one: Moved) -> tuple[object, ...]:
        generation = rank(one.generation, GENERATIONS)
        return rank(one.fields, FIELDS), generation, one.counted, rank(one.layout, LAYOUTS)

    return tuple(sorted(result, key=place))


def _in_l2(cases: Iterable[CaseRows], name: str) -> dict[tuple[str, str], list[Row]]:
    """Counts of `name` in the L2 cases of `layout_read`, smallest first, by fields and layout."""
    in_l2 = (case.of(name, "counted") for case in cases if case.text("residency") == "l2")
    rows = sorted(filter(None, in_l2), key=lambda row: (row.value, row.case))
    found = grouped(rows, lambda row: (row.text("fields"), row.text("layout")))
    return {place: [row for row in here if row.valid] or here for place, here in found.items()}


class Share(NamedTuple):
    """One share of the sectors of one case of `layout_read`, counted and predicted."""

    level: str
    fields: str
    layout: str
    name: str
    counted: Row
    predicted: Row | None


def level_shares(rows: Iterable[Row]) -> tuple[Share, ...]:
    """Every share that `layout_read` counted, by level, share, layout and case."""
    found = [
        Share(*place_of(case), name, row, case.of(name, "modelled"))
        for case in by_case(row for row in rows if row.benchmark == "layout_read")
        for name in SHARES
        if (row := case.of(name, "counted"))
    ]

    def place(one: Share) -> tuple[object, ...]:
        level, layout = rank(one.level, LEVELS), rank(one.layout, LAYOUTS)
        return level, SHARES.index(one.name), layout, rank(one.fields, FIELDS), one.counted.case

    return tuple(sorted(found, key=place))


class ModelCheck(NamedTuple):
    """Verdicts of the gate `model` by case, and predicted and counted rows that differ.

    `silent` are case and detail of gates that failed although no predicted quantity differs.
    """

    verdicts: Counter[Verdict]
    differences: tuple[tuple[Row, Row], ...]
    silent: tuple[tuple[str, str], ...]


def model_check(run: Run) -> ModelCheck:
    """The results of the model; shares are left to the level gate, which bounds them."""
    modelled = {(row.case, row.quantity) for row in run.rows if row.provenance == "modelled"}
    rows = (row for row in run.rows if (row.case, row.quantity) in modelled)
    differences = []
    for (_, name), here in grouped(rows, lambda row: (row.case, row.quantity)).items():
        if name not in SHARES and len({row.value for row in here}) > 1:
            case = CaseRows(tuple(here))
            counted, predicted = case.of(name, "counted"), case.of(name, "modelled")
            if counted and predicted and not _same(counted.value, predicted.value):
                differences.append((predicted, counted))
    named = {counted.case for _, counted in differences}
    gates = [(case.id, gate) for case in run.cases for gate in case.gates if gate.name == "model"]
    failed = [(case, gate.detail) for case, gate in gates if gate.verdict == "failed"]
    silent = tuple((case, detail) for case, detail in failed if case not in named)
    return ModelCheck(Counter(gate.verdict for _, gate in gates), tuple(differences), silent)


def _same(counted: float, predicted: float) -> bool:
    return math.isclose(counted, predicted, rel_tol=SAME)


# --- in words -------------------------------------------------------------------------------------


def proof(run: Run) -> str:
    """One sentence: the number of rows whose level is proved."""
    of_case, rows = Counter(row.case for row in run.rows), Counter[Verdict]()
    for case in run.cases:
        for gate in case.gates:
            rows[gate.verdict] += of_case[case.id] if gate.name == "level" else 0
    every = rows.total() - rows["not_applicable"]
    if not every:
        return "Level: no row reports which memory level served it."
    parts = [f"{rows['passed']} of {every} rows proved by counters"]
    if rows["unverified"]:
        parts.append(f"{rows['unverified']} level unverified")
    if rows["failed"]:
        parts.append(f"{rows['failed']} served by another level than they claim, or by several")
    return f"Level: {', '.join(parts)}."


def state(counters: Counters | None) -> str:
    """Whether anything was counted, with what, and if not, the reason and the remedy."""
    if counters is None:
        return "Nothing was counted: the run is of schema version 1, whose harness had no counters."
    why, number, passes = counters.reason, len(counters.quantities), counters.passes
    if counters.state == "counted":
        words = (
            f"Counted on {counters.chip}: {number} quantit{'ies' if number != 1 else 'y'} "
            f"({', '.join(counters.sets) or 'raw metrics'}) in {passes} "
            f"pass{'es' if passes != 1 else ''}. Counting took "
            f"{quantity(counters.counting_seconds, 's')}, "
            f"timing {quantity(counters.timing_seconds, 's')}."
        )
    elif counters.state == "external":
        words = f"An external profiler was to count; the run holds no counts{why and f': {why}'}."
    else:
        why = why or "counters cannot be read here"
        not_requested = counters.state == "not_asked"
        words = f"Nothing was counted: {'counters were not requested' if not_requested else why}."
    return f"{words} To fix: {counters.mend}." if counters.mend else words


def model_words(check: ModelCheck) -> str:
    """One sentence: the number of cases that the model predicted exactly."""
    verdicts, cases = check.verdicts, check.verdicts.total()
    if not cases:
        return "Model: no case has both a prediction and a count."
    passed, failed = verdicts["passed"], verdicts["failed"]
    others = {"not equal": failed, "not compared": cases - passed - failed}
    rest = "".join(f"; {number} {what}" for what, number in others.items() if number)
    return f"Model: prediction and count agree in {passed} of {cases} cases{rest}."


# --- tables ---------------------------------------------------------------------------------------


def difference_table(check: ModelCheck) -> Table | None:
    """Every count that differs from the prediction; None if there are none."""
    lines: list[dict[str, Sentence]] = []
    for predicted, counted in check.differences:
        name = predicted.quantity.replace("_", " ")
        values = {"predicted": cell(predicted, count), "counted": cell(counted, count)}
        lines.append({"case": (predicted.case,), "quantity": (name,), **values})
    title = "Counts that the model did not predict"
    return table("model_differences", title, lines, words=("case", "quantity"))


def traffic_table(run: Run) -> Table | None:
    """Sectors per request, and bytes moved ÷ used by generation and as counted in L2, by layout.

    Counts are a range if they differ. None without a prediction or a count.
    """
    rows = (*run.of("layout_traffic"), *run.of("layout_read"))
    ratios = {(m.fields, m.layout, "" if m.counted else m.generation): m for m in moved(rows)}
    cases = {case.rows[0].case: case for case in by_case(rows)}
    requests = _in_l2(cases.values(), "sectors_per_request")
    places = {(fields, layout) for fields, layout, _ in ratios} | requests.keys()
    present = {generation for _, _, generation in ratios}
    lines = []
    for fields, layout in sorted(places, key=lambda p: (rank(p[0], FIELDS), rank(p[1], LAYOUTS))):
        found = requests.get((fields, layout), [])
        by_rule = ratios.get((fields, layout, COUNTING))
        traffic = [cases[by_rule.row.case]] if by_rule else []
        line: dict[str, Sentence] = {
            "fields": (fields_name(fields),),
            "layout": (layout,),
            "sectors per request: predicted": _predicted(
                [*(cases[r.case] for r in found), *traffic]
            ),
            "sectors per request: counted": _range(found[:1] + found[-1:]),
        }
        for column in (*ordered(present - {""}, GENERATIONS), *present & {""}):
            ratio = ratios.get((fields, layout, column))
            line[f"moved ÷ used: {column or 'counted here'}"] = _moved_cell(ratio)
        lines.append(line)
    title = "Sectors per request, and bytes moved ÷ bytes used by compute capability"
    return table("traffic", title, lines, words=("fields", "layout"))


def _predicted(cases: Iterable[CaseRows]) -> Sentence:
    for case in cases:
        names = ("sectors_per_request", "sectors_per_read", "requests_per_read")
        ratio, sectors, requests = (case.of(name, "modelled") for name in names)
        if ratio:
            return cell(ratio, count)
        if sectors and requests:
            return (Cited(count(sectors.value / requests.value), sectors),)
    return NONE


def _range(ends: Sequence[Row]) -> Sentence:
    """Two values, as one if they agree to the printed digits, otherwise as a range."""
    cells = {count(row.value): row for row in reversed(ends)}
    parts = [Cited(text, row) for text, row in reversed(cells.items())]
    return (*parts[:1], "–", *parts[1:]) if len(parts) > 1 else (*parts,) or NONE


def _moved_cell(one: Moved | None) -> Sentence:
    if one is None:
        return NONE
    low, high = count(one.low), count(one.high)
    return (Cited(count(one.ratio) if low == high else f"{low}–{high}", one.row),)


def level_table(run: Run) -> Table | None:
    """Cases by claimed level (or benchmark) and level gate; None without one."""
    counts = Counter[tuple[str, Verdict]](
        (case.params.get("residency", case.benchmark), gate.verdict)
        for case in run.cases
        for gate in case.gates
        if gate.name == "level" and gate.verdict != "not_applicable"
    )
    heads: dict[str, Verdict] = {
        "proved": "passed", "refuted": "failed", "unverified": "unverified"
    }  # fmt: skip
    lines: list[dict[str, Sentence]] = []
    for level in ordered((level for level, _ in counts), LEVELS):
        cells: dict[str, Sentence] = {head: (f"{counts[level, of]}",) for head, of in heads.items()}
        lines.append({"level": (level_name(level),), **cells})
    title = "Cases by the level that they claim, and what the counters show"
    return table("levels", title, lines, words=("level",))


TABLES = (level_table, traffic_table)
"""Of a run, in the order in which a page shows them; then come the differences."""
