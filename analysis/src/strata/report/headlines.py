"""The ten most important numbers of a run, and how many cases they come from.

One small function each; if a run lacks a number, others take its place. `strata summary` and
`strata report` print them, and they are at the top of the page.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from strata.ladder import rungs
from strata.ladder.best import best_cases
from strata.model import atlas, layouts
from strata.model.cases import TIME_STAMPS
from strata.model.hierarchy import hierarchy
from strata.model.l2 import l2
from strata.model.names import LAYOUTS, LEVELS, level_name, ordered
from strata.model.text import Cited, Sentence, Table, cited, joined
from strata.model.timers import agreements
from strata.model.truth import fallen
from strata.model.units import MINUS, factor, number, quantity
from strata.report import sentences
from strata.report.attempt import attempt
from strata.report.sentences import beside, percent, size_of, walked, with_commas, words
from strata.run import Row, Run
from strata.run.validate import Validity, validity

MOST = 10


class Headline(NamedTuple):
    """A headline number: what it is, the number, and a remark."""

    what: str
    value: Sentence
    remark: Sentence = ()
    trust: bool = False
    """Whether it tells how far to trust the others."""


def headlines(run: Run, notices: list[str] | None = None) -> tuple[Headline, ...]:
    """At most ten numbers; then how far to trust them."""

    def found(*parts: Callable[[Run], Iterator[Headline]]) -> list[Headline]:
        lines: list[Headline] = []
        for part in parts:
            with attempt(f"The first number of {part.__name__}", notices):
                lines += part(run)
        return lines

    chip = found(latencies, bandwidths, cache_sizes), found(fp32_ceiling, nbody)
    numbers = [*chip[0], *found(best_layout), *chip[1]] if any(chip) else found(best_layouts)
    if len(numbers) < MOST:
        numbers += found(core_clock)
    return (*numbers[:MOST], *found(timers, valid_rows, cases))


def table(run: Run, found: Sequence[Headline] | None = None) -> Table:
    """The headlines of a run, or the given ones, as a table."""
    lines = headlines(run) if found is None else found
    rows = tuple(((one.what,), one.value, one.remark) for one in lines)
    return Table("headlines", "First numbers", ("what", "value", "remark"), rows, frozenset({1}))


def as_data(run: Run) -> dict[str, Any]:
    """The headlines for programs: values by name, then how many rows and cases are good.

    A name is what a headline is, and the words that precede a number in it; the same number in
    seconds is its `seconds`, a layout its `name`. `l2` are the latencies and sizes of a GPU's L2.
    """
    statuses, counters = Counter(case.status for case in run.cases), run.context.counters
    numbers: dict[str, dict[str, object]] = {}
    for one in headlines(run):
        before = ""
        for part in one.value if not one.trust else ():
            name = f"{one.what} {before}".strip()
            if isinstance(part, str):
                before = part.strip(" ,()")
            elif name in numbers:
                numbers[name]["seconds"] = part.row.value
            else:
                of_layout = {"name": part.text} if part.text in LAYOUTS else {}
                numbers[name] = _number(part.row) | of_layout
    time = hierarchy(run).numbers("l2").get("time")
    if "L2 latency" in numbers and time and time.value:
        numbers["L2 latency"]["seconds"] = time.value
    return {
        "run": run.context.run,
        "device": run.context.device.slug,
        "numbers": numbers,
        "l2": _l2_numbers(run),
        "best_layouts": [
            {"level": one.level, "by": one.kind, "name": one.layout} | _number(one.row)
            for one in _best_layouts(run)
        ],
        "rows": len(run.rows),
        "valid_rows": sum(row.valid for row in run.rows),
        "validity": {one.kind: {"rows": one.rows, "valid": one.valid} for one in validity(run)},
        "cases": len(run.context.sweep.cases),
        "measured_cases": statuses["measured"],
        "failed_cases": statuses["failed"],
        "counters": counters.state if counters else "unavailable",
    }


def _number(row: Row) -> dict[str, object]:
    low, high = row.interval
    return {"value": row.value, "unit": row.unit, "low": low, "high": high, "case": row.case}


def _l2_numbers(run: Run) -> dict[str, dict[str, object]]:
    """What the run knows of L2, by name: see analysis/README.md."""
    cache, sizes_of = l2(run), atlas.geometry(run, "l2_size")
    rows: dict[str, Row | None] = {"reported_bytes": sizes_of.get("reported")}
    numbers: dict[str, dict[str, object]] = {}
    if cache:
        load, parts = cache.load, cache.parts
        rows |= {"used_by_one_sm_bytes": sizes_of.get("size")}
        rows |= {"one_sm": load and load.row, "median_of_sms": load and load.over}
        rows |= {"near": parts and parts.near, "far": parts and parts.far}
        if cache.first_touch is not None and parts:
            numbers["first_touch"] = {"value": cache.first_touch, "unit": parts.near.unit}
        for name, reach in (("one_sm_plateau", cache.one), ("all_sms_plateau", cache.all)):
            if reach:
                last, after = (row.count("footprint") for row in reach)
                numbers[name] = {"last_bytes": last, "next_bytes": after}
        if beyond := cache.beyond:
            first, last = (row.count("footprint") for row in (beyond.first, beyond.last))
            more = {"first_bytes": first, "last_bytes": last, "memory_share": beyond.share}
            numbers["half_dram"] = _number(beyond.row) | more
    return {name: _number(row) for name, row in rows.items() if row} | numbers


def latencies(run: Run) -> Iterator[Headline]:
    """A dependent load from each level; shared memory beside L1."""
    found, cache = dict(atlas.latencies(run)), l2(run)
    parts = cache and cache.parts
    shared = found.pop("shared", None) if "l1" in found else None
    for level in ordered(found, LEVELS):
        one = found[level]
        remark = walked(one.first, one.last)
        if level == "l1" and shared:
            neighbour = atlas.neighbour(run)
            other = words(", another SM's {}", neighbour) if neighbour else ()
            remark = words("shared memory {}{}", shared.row, other)
        elif level == "l2" and cache and parts:
            near, far = (Cited(number(part.value), part) for part in (parts.near, parts.far))
            remark = () if parts.access == "a load" else (f"{parts.access}: ",)
            if one.over and one.time:
                # Of a median over SMs, at the clock of the chain that one SM walked.
                seconds = one.time.value * one.over.value / one.row.value
                remark = words("≈\u00a0{}; {}", Cited(quantity(seconds, "s"), one.over), remark)
            remark = words("{}near {}, far {}", remark, near, far)
            if cache.first_touch is not None:
                mean = Cited(number(cache.first_touch), parts.far)
                remark = words("{}, mean {}", remark, mean)
        yield Headline(f"{level_name(level)} latency", sentences.latency_words(one), remark)


def bandwidths(run: Run) -> Iterator[Headline]:
    """The best read bandwidth of each level; shared memory is not a headline."""
    for level, best in atlas.bandwidths(run).items():
        if level != "shared":
            remark = with_commas(sentences.against_limit(level, best), beside(best))
            yield Headline(f"{level_name(level)} bandwidth, reading", (cited(best.row),), remark)


def fp32_ceiling(run: Run) -> Iterator[Headline]:
    """The highest rate of fp32 multiply-adds."""
    if best := atlas.ceilings(run).get("fp32"):
        share = words("{} of lanes × clock", percent(best.share)) if best.share else ()
        yield Headline("fp32 multiply-adds", (cited(best.row),), with_commas(share, beside(best)))


def nbody(run: Run) -> Iterator[Headline]:
    """The fastest rung of the n-body ladder on one device."""
    steps = (step for step in best_cases(run) if step.row.valid and rungs.gpus(step.row) == 1)
    if top := max(steps, key=lambda step: step.row.value, default=None):
        rate = top.row.value / rungs.GIGA
        value = Cited(f"{number(rate) if rate >= 1 else f'{rate:.3f}'} × 10⁹/s", top.row)
        remark = f"{rungs.rung_name(top.rung)}, {rungs.size_words(top.row)}"
        yield Headline("n-body interactions", (value,), (remark,))


def cache_sizes(run: Run) -> Iterator[Headline]:
    """The cache sizes: as found by loads, of a GPU's L2 as reported and as used."""
    value, remark = list[Sentence](), list[Sentence]()
    for level, (seen, reported) in sentences.sizes(run).items():
        whole = run.context.backend == "cuda" and level == "l2"
        first, name = reported if whole else seen or reported, level_name(level)
        if first:
            value.append(words(f"{name} {{}}", size_of(first)))
        if first and whole:
            remark = [(f"{name} by the driver",)]
        elif reported and first is not reported:
            remark.append(words(f"{{}} of {name} reported", size_of(reported)))
    used = zip(("; one SM {}", ", all {}"), (one[0] for one in sentences.l2_sizes(run)))  # noqa: B905
    if value:
        more = [part for template, size in used for part in words(template, size)]
        yield Headline(
            "cache sizes", with_commas(*value), (*joined(remark), *more) if remark else ()
        )


def best_layout(run: Run) -> Iterator[Headline]:
    """The layout with the most useful bandwidth from the farthest level that has one; only that."""
    found = {(pick.kind, pick.level): pick for pick in _best_layouts(run)}
    if loaded := next((found[key] for key in reversed(found) if key[0] == "bandwidth"), None):
        noisy: Sentence = ()
        if loaded.noisy and cited(loaded.noisy).text != cited(loaded.row).text:
            noisy = words(", up to {} in a noisy row", loaded.noisy)
        remark = words(f"{{}} of useful data{loaded.against}{{}}", loaded.row, noisy)
        if alone := found.get(("latency", loaded.level)):
            remark = words("{}; alone: {}", remark, Cited(alone.layout, alone.row))
        if loaded.level != "dram":
            remark = (*remark, "; none of DRAM")
        what = f"best layout in {level_name(loaded.level)}"
        yield Headline(what, (Cited(loaded.layout, loaded.row),), remark)


def best_layouts(run: Run) -> Iterator[Headline]:
    """The cheapest layout and the one of best bandwidth for each level."""
    whats = {"latency": "latency, cheapest", "bandwidth": "useful bandwidth, best"}
    for pick in _best_layouts(run):
        what = f"{level_name(pick.level)} {whats[pick.kind]} layout"
        yield Headline(what, (cited(pick.row),), (pick.layout + pick.against,))


class _Pick(NamedTuple):
    """The best layout of a level by its latency or its bandwidth, `against` the baseline."""

    level: str
    kind: str
    row: Row
    layout: str
    against: str
    noisy: Row | None = None


def _best_layouts(run: Run) -> Iterator[_Pick]:
    whole = [one for one in layouts.layout_results(run.of("layout_read")) if one.fields == "all"]
    for level in ordered((one.level for one in whole), LEVELS):
        here = [one for one in whole if one.level == level]
        timed = [(one.latency.cycles, one, one.latency_factor) for one in here if one.latency]
        loaded = [(one.bandwidth.row, one, one.bandwidth_factor) for one in here if one.bandwidth]
        for kind, found, pick in (("latency", timed, min), ("bandwidth", loaded, max)):
            if found:
                row, best, gain = pick(found, key=lambda item: item[0].value)
                shown = gain and best.layout != layouts.BASELINE
                against = f", {factor(gain)} {layouts.BASELINE}" if gain and shown else ""
                noisy = best.noisy if kind == "bandwidth" else None
                yield _Pick(level, kind, row, best.layout, against, noisy)


def core_clock(run: Run) -> Iterator[Headline]:
    """The clock of the cores, and its range over all cases."""
    found = [row for row in run.rows if row.quantity == "core_clock" and row.method != TIME_STAMPS]
    if clocks := sorted((row for row in found if row.valid), key=lambda row: row.value):
        ends = " to ".join(quantity(row.value, row.unit) for row in (clocks[0], clocks[-1]))
        yield Headline("core clock", (cited(clocks[len(clocks) // 2]),), (ends,))


def timers(run: Run) -> Iterator[Headline]:
    """The largest difference between two independent timers."""
    if pairs := agreements(run.rows):
        worst = max(pairs, key=lambda pair: abs(pair.ratio - 1))
        bound = run.context.bounds["timer"].value
        apart = sum(abs(pair.ratio - 1) > bound for pair in pairs)
        beyond = f"{apart} of {len(pairs)} pairs beyond {100 * bound:g} %"
        value = Cited(f"{100 * (worst.ratio - 1):+.2f} %".replace("-", MINUS), worst.other)
        yield Headline("timers, largest disagreement", (value,), (beyond,), trust=True)


def valid_rows(run: Run) -> Iterator[Headline]:
    """The number of timed rows that passed all gates; counted and modelled ones beside them."""
    timed, *others = validity(run)
    invalid = timed.rows - timed.valid
    flagged = f"{invalid} flagged by a gate" if invalid else "no gate failed"
    if later := sum(one.rows for one in fallen(run) if not one.is_note):
        flagged += f"; {later} rows by rules that are newer than the run"
    beside = "".join(f"; {one.kind} {one.valid} of {one.rows}" for one in others if one.rows)
    found = valid_of(timed)
    yield Headline("valid timed rows", (found,), (f"{flagged}{beside}",), trust=True)


def valid_of(rows: Validity) -> str:
    """`95 of 100 (95.0 %)`."""
    share = f" ({100 * rows.valid / rows.rows:.1f} %)" if rows.rows else ""
    return f"{rows.valid} of {rows.rows}{share}"


def cases(run: Run) -> Iterator[Headline]:
    """The number of measured cases of the sweep."""
    statuses = Counter(case.status for case in run.cases)
    measured = f"{statuses['measured']} of {len(run.context.sweep.cases)}"
    rest = f"{statuses['skipped']} skipped, {statuses['failed']} failed"
    yield Headline("cases measured", (measured,), (rest,), trust=True)
