"""The ladder of n-body: what each rung gained, used and changed, and tables of others, redone."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise

from strata.ladder import rungs as ladder
from strata.ladder.best import Best, along, best_cases
from strata.ladder.launch import bytes_used_per_sector
from strata.ladder.rungs import GIGA, Cases, case_words, rung_name, size_words
from strata.ladder.seeds import FOUR, THESSALY, UNROLL_GAINS, ThessalyStep, thessaly
from strata.ladder.steps import FACTORS, MEASURED, RULES, Change, changes
from strata.model import units
from strata.model.text import NONE, Cited, Sentence, Table, cell, table
from strata.model.units import factor, number
from strata.report.tables import at
from strata.report.tables._cells import over, percent
from strata.run import Row, Run

TERA = 1e12
OVER = "over the rung before"


def _giga(value: float) -> str:
    """Small rates, as of a CPU, also with three digits."""
    return number(value / GIGA) if value >= GIGA else f"{value / GIGA:.3f}"


def _rate(row: Row | None) -> Sentence:
    """In 10⁹/s, with its interval; marked if it is invalid."""
    if row is None or (row.valid and row.ci_low is None):
        return cell(row, _giga)
    spread = "–".join(map(_giga, row.interval)) if row.valid else "invalid"
    return (*cell(row, _giga), f" ({spread})")


def _dram_bytes(row: Row, cases: Cases) -> Sentence:
    """A net count per interaction; otherwise the chip's per step: all that the kernel does."""
    net, read = cases.get(row, "dram_bytes_per_interaction"), cases.get(row, "dram_read_bytes")
    pairs = ladder.interactions(row)
    return (
        cell(net, _small) if net or not pairs else cell(read, lambda value: _small(value / pairs))
    )


def _fact(row: Row, name: str, cases: Cases) -> Sentence:
    value = cases.facts[row.case].get(name)
    return NONE if value is None else (units.fact(name, value),)


def _small(value: float) -> str:
    """A net count per item, of many: a negative one is noise, and is shown as 0."""
    return _scientific(value) if value > 0 else "0"


def _scientific(value: float) -> str:
    """`4.1e-7`: short form of small numbers."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


@at(200)
def rungs(run: Run) -> Table | None:
    """Every rung by its best case, with its step, its counts and its error; None without rungs.

    Columns without any value (such as counters on a CPU) are left out.
    """
    cases, found = Cases(run), best_cases(run)
    others = Counter(one.other.text("problem") for one in found if one.other).most_common(1)
    other = ladder.PROBLEM_WORDS[others[0][0]] if others else ""
    seconds = Counter(size_words(one.second) for one in found if one.second).most_common(1)
    second = seconds[0][0] if seconds else ""
    lines = [_rung(one, other, second, cases) for one in found]
    words = ("rung", "change", "best case", OVER)
    return table("nbody_ladder", "The n-body ladder", lines, words=words, blank=(OVER,))


def _rung(one: Best, other: str, second: str, cases: Cases) -> dict[str, Sentence]:
    row = one.row
    speedup = over(one.after, one.before)
    if one.before and speedup != NONE:
        where = size_words(one.before)
        words = f" {rung_name(one.before.benchmark)}"
        speedup = (*speedup, words if where == size_words(row) else f"{words} at {where}")
    apart = one.second if one.second and size_words(one.second) == second else None
    limit = cell(one.limit, lambda value: percent(100 * row.value / value))
    return {
        "rung": (rung_name(one.rung),),
        "change": (cases.rungs[one.rung].change,),
        "best case": (case_words(row),),
        "10⁹ interactions/s": _rate(row),
        OVER: speedup,
        second: _rate(apart),
        other: _rate(one.other),
        "of issue limit": limit if row.valid else NONE,
        "issue slots used": cell(cases.get(row, "issue_utilisation"), percent),
        "occupancy": cell(cases.get(row, "achieved_occupancy"), percent),
        "registers": _fact(row, "registers", cases),
        "instructions/interaction": cell(cases.get(row, "instructions_per_interaction"), number),
        "FLOP/interaction": cell(cases.get(row, "flops_per_interaction"), number),
        "DRAM bytes/interaction": _dram_bytes(row, cases),
        "relative RMS error": cell(cases.get(row, "relative_rms_error"), _scientific),
    }


@at(220)
def steps(run: Run) -> Table | None:
    """Every measured step, its prediction and the counters that moved; None without two rungs."""
    title = "The steps of n-body: measured, predicted, and what is left unexplained"
    words = ("rung", "over", "where", "counters that moved")
    lines = [_step(change) for change in changes(run)]
    return table("nbody_steps", title, lines, words=words, blank=())


def _step(change: Change) -> dict[str, Sentence]:
    digits = 3 if change.high < 9.995 else 1
    low, high = f"{change.low:.{digits}f}", f"{change.high:.{digits}f}"
    measured = Cited(f"{change.measured:.{digits}f}×", change.after)
    predicted, unexplained = NONE, NONE
    if change.prediction:
        value, source = factor(change.prediction.value), change.prediction.source
        rule = f" ({RULES.get(change.prediction.rule, change.prediction.rule)})"
        predicted = (Cited(value, source) if source else value, rule)
    if change.unexplained is not None:
        counted = "" if change.counted else " (not counted)"
        unexplained = (f"{factor(change.unexplained)}{counted}",)
    factors = dict.fromkeys(FACTORS.values(), NONE)
    for name in FACTORS.keys() & change.factors.keys():
        row = change.cases.get(change.after, MEASURED.get(name, ""))
        words = factor(change.factors[name])
        factors[FACTORS[name]] = (Cited(words, row) if row else words,)
    return {
        "rung": (rung_name(change.rung),),
        "over": (Cited(rung_name(change.before.benchmark), change.before),),
        "where": (case_words(change.after),),
        "measured": (measured, f" ({low if low == high else f'{low}–{high}'})"),
        "predicted": predicted,
        **factors,
        "unexplained": unexplained,
        "counters that moved": change.moved or NONE,
    }


@at(221)
def use_and_accuracy(run: Run) -> Table | None:
    """Every rung by its best case; None without rungs. Columns without any value are left out.

    Errors are relative to the root mean square of all accelerations; drifts to the total energy and
    to the sum of m|v|, over the steps of a sample: of the fastest valid case of `galaxies`, the
    only problem whose bodies move.
    """
    found, cases = best_cases(run), Cases(run, valid=True)
    bases = {one.rung: one.row for one in found}
    lines = [_use(one.row, cases, bases) for one in found]
    title = "What each rung of n-body uses, and how right it is"
    return table("nbody_rungs", title, lines, words=("rung", "best case"), blank=())


def _use(row: Row, cases: Cases, bases: Mapping[str, Row]) -> dict[str, Sentence]:
    def get(name: str, write: Callable[[float], str]) -> Sentence:
        return cell(cases.get(row, name), write)

    def share(part: str, whole: str, of: Callable[[float], float] = float) -> Sentence:
        """One count relative to another, in per cent; empty for 0 of 0."""
        every = cases.get(row, whole)
        if every is None or every.value <= 0:
            return NONE
        all_of_them = every.value
        return get(part, lambda value: percent(100 * of(value / all_of_them)))

    def over_base(rung: str) -> Sentence:
        """Relative to a rung of the same machine, at the same size."""
        base = bases.get(rung)
        same = base and ladder.place_of(base) == ladder.place_of(row)
        return over(row, base) if same else NONE

    def drift(name: str) -> Sentence:
        moving = [one for one in cases.having(ladder.RATE) if cases.get(one, name)]
        rows = ladder.at_size(moving, "galaxies").get(row.benchmark)
        return cell(cases.get(ladder.best(rows), name) if rows else None, _small)

    used = bytes_used_per_sector(row, cases)
    counted = get("flops_per_interaction", lambda value: number(value * row.value / TERA))
    missed = "l2_load_miss_sectors"
    return {
        "rung": (rung_name(row.benchmark),),
        "best case": (case_words(row),),
        "registers": _fact(row, "registers", cases),
        "shared memory": _fact(row, "shared_bytes", cases),
        "threads": _fact(row, "threads", cases),
        "occupancy": get("achieved_occupancy", percent),
        "sectors/request": get("l1_sectors_per_request", number),
        "bytes used/sector": get("l1_load_sectors", lambda _: number(used)) if used else NONE,
        "L1 hits": share("l1_load_hit_sectors", "l1_load_sectors"),
        "L2 hits": share(missed, "l2_load_sectors", lambda part: max(0.0, 1 - part)),
        "DRAM bytes/interaction": _dram_bytes(row, cases),
        "issue slots used": get("issue_utilisation", percent),
        "nominal TFLOP/s": get("nominal_flops_per_second", lambda value: number(value / TERA)),
        "counted TFLOP/s": counted if row.valid else NONE,
        "relative RMS error": get("relative_rms_error", _small),
        "largest error": get("relative_maximum_error", _small),
        "over serial": over_base("serial"),
        "over OpenMP": over_base("openmp"),
        "energy drift": drift("energy_drift"),
        "momentum drift": drift("momentum_drift"),
    }


WHOLE = 256
"""Bodies of a tile: the factor that leaves no loop."""


@at(222)
def unrolling(run: Run) -> Table | None:
    """Rates and gains by unroll factor, for each problem with several; None without any.

    Table 14.2 of the CUDA Handbook, redone; with Siegel, Ributzka and Li (2009, IV-A).
    """
    points = along(run, "unrolled", "unroll")
    if not points:
        return None
    rows = {(point.problem, point.value): point.row for point in points}
    sizes = {point.problem: size_words(point.row) for point in points}
    header = ["bodies of a turn"]
    for words in sizes.values():
        header += [f"10⁹ interactions/s, {words}", "over one"]
    header += ["theirs", "who"]
    lines = []
    for value in sorted({point.value for point in points} | set(UNROLL_GAINS)):
        line: list[Sentence] = [(f"{value} (all)" if value == WHOLE else f"{value}",)]
        for problem in sizes:
            row = rows.get((problem, value))
            line += [_rate(row), over(row, rows.get((problem, 1)))]
        gain = UNROLL_GAINS.get(value)
        lines.append((*line, *([(factor(gain[0]),), (gain[1],)] if gain else [NONE, NONE])))
    title = "Unrolling the inner loop of n-body (CUDA Handbook, Table 14.2, redone)"
    numeric = frozenset(range(len(header) - 1))
    return Table("nbody_unroll", title, tuple(header), tuple(lines), numeric)


@at(321)
def k80_report(run: Run) -> Table | None:
    """Table 1 of Papadouli, Markovitsis and Sanchez Cabrera (2026) beside this run's galaxies."""
    lines = [_k80_step(one, before) for before, one in pairwise((None, *thessaly(run))) if one]
    words, title = ("step", "on two K80 and their host", "here"), f"The table of {THESSALY}, redone"
    return table("nbody_thessaly", title, lines, words=words)


def _k80_step(one: ThessalyStep, before: ThessalyStep | None) -> dict[str, Sentence]:
    row, here = one.row, NONE
    if row:
        many = ladder.gpus(row)
        shared = f", {many} GPU{'s' if many > 1 else ''}" if one.hardware == FOUR else ""
        here = (f"{rung_name(row.benchmark)}, {row.text('layout')}{shared}; {size_words(row)}",)
    same = row and one.before and ladder.size(row) == ladder.size(one.before)
    valid = row if row and row.valid else None
    return {
        "step": (one.name,),
        "on two K80 and their host": (one.hardware,),
        "their 10⁹ interactions/s": (number(one.rate / GIGA),),
        "their step": (factor(one.rate / before.rate),) if before else NONE,
        "here": here,
        "10⁹ interactions/s": _rate(row),
        "our step": over(row, one.before) if same else NONE,
        "over theirs": cell(valid, lambda value: factor(value / one.rate)),
    }
