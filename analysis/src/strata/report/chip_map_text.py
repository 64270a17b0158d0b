"""The map of a chip in sentences, for a terminal."""

from collections.abc import Iterator, Sequence

import numpy as np

from strata.model import chip_map
from strata.model.chip_map import Cells, Groups, Labels, Parity
from strata.model.units import number, quantity
from strata.run import Run

GROUPS, COARSE = (3, 20), (3, 6)
"""How many groups of SMs above TPCs a chip may have, and groups of GPCs."""


def lines(run: Run) -> Iterator[str]:
    """The map of one run; nothing if it has no valid cells of `chip_map`."""
    loads, exchanges = (chip_map.cells(run, operation) for operation in ("load", "exchange"))
    for one in filter(None, (loads, exchanges)):
        low, high = np.quantile(one.cycles, (0.01, 0.99))
        sms, count = one.cycles.shape
        noise = one.rows.get("line_noise_cycles")
        yield (
            f"{one.operation}: {sms} SMs, {count} lines; {number(low)} to {number(high)} cycles "
            "(percentiles 1 and 99)" + (f", noise {number(noise.value)}" if noise else "")
        )
    if exchanges:
        yield from _sides(exchanges)
    for one in filter(None, (loads, exchanges)):
        yield from _groups(one)
    if slices := _slices(run):
        yield f"L2 slices, by counters (sum over mean of a slice): {number(slices)}"
    yield from _placement(run)


def _sides(exchanges: Cells) -> Iterator[str]:
    found = chip_map.sides(exchanges)
    if not found.are_two:
        yield f"sides: one (two groups explain {found.apart:.2f} of the variance)"
        return
    ones = [" and ".join(map(str, np.bincount(of, minlength=2))) for of in (found.sms, found.lines)]
    counted = exchanges.rows.get("fabric_sectors_per_access")
    yield (
        f"sides: two, of {ones[0]} SMs and {ones[1]} lines; crossing costs "
        f"{number(found.crossing)} cycles; {found.far_share:.4f} of all pairs are far"
        + (f", {counted.value:.4f} sectors cross per exchange (counted)" if counted else "")
    )
    yield from _bits("side", found.lines, exchanges.offsets)


def _groups(of: Cells) -> Iterator[str]:
    yield f"{of.operation}: SMs in {_words(chip_map.sm_groups(of, *GROUPS))}"
    gpc, tpc = of.known("gpc"), of.known("tpc")
    if gpc is not None:
        coarse, linked = chip_map.sm_groups(of, *COARSE), chip_map.by_first(gpc)
        share = chip_map.nested(linked, coarse.labels)
        yield (
            f"  clusters link SMs in {linked.max() + 1} groups, of which {share:.1%} lie within "
            f"one of {coarse.count} coarse groups by latency"
        )
    if tpc is not None:
        linked = chip_map.by_first(tpc)
        share = chip_map.nearest_share(of, linked)
        yield (
            f"  clusters of two link SMs in {linked.max() + 1} TPCs; the most similar SM is the "
            f"other one of the TPC for {share:.1%}"
        )
    lines_of = chip_map.line_groups(of)
    yield f"{of.operation}: lines in {_words(lines_of)}"
    yield from _bits("group", lines_of.labels, of.offsets)


def _words(groups: Groups) -> str:
    sizes = groups.sizes
    clear = "" if groups.is_clear else "; not clear"
    return (
        f"{groups.count} groups of {sizes[0]} to {sizes[-1]} (distance between over within "
        f"{groups.gap:.2f}; other evidence places {groups.repeated:.1%} alike, and gives as many "
        f"groups in {groups.same_count:.0%} of trials{clear})"
    )


def _bits(what: str, labels: Labels, offsets: Labels) -> Iterator[str]:
    found = chip_map.parities(labels, offsets)
    if not found:
        yield f"  no XOR of address bits 7 to 20 decides the {what} of a line"
        return
    for one in found:
        yield f"  {_function(one)}; {_of_pages(one, labels, offsets)}"
    right = chip_map.determined(found, labels, offsets)
    yield f"  these tell the {what} of {right:.1%} of unseen lines of a page"


def _function(one: Parity) -> str:
    bits = " ^ ".join(map(str, one.bits))
    return f"bits {bits}: right for {one.unseen:.2%} of unseen lines of a page"


def _of_pages(one: Parity, labels: Labels, offsets: Labels) -> str:
    mask, share = chip_map.page_mask(one, labels, offsets)
    words = f"{one.other_pages:.2%} in other pages, up to a constant of the page"
    if share >= chip_map.CLAIMED:
        bits = [str(bit) for bit in range(mask.bit_length()) if mask >> bit & 1]
        return f"{words} that bits {' ^ '.join(bits) or 'none'} decide"
    return f"{words} that no bits of the buffer decide"


def _slices(run: Run) -> float | None:
    counted = {row.quantity: row.value for row in run.valid("chip_map", operation="load")}
    mean, whole = counted.get("l2_mean_slice_sectors"), counted.get("l2_load_sectors")
    return whole / mean if mean and whole else None


def _placement(run: Run) -> Iterator[str]:
    """What reads of the own side gain."""
    rows = run.valid("l2_placement", "bandwidth")
    shares = {
        (row.params["order"], row.params["part"]): row.value
        for row in run.valid("l2_placement", "fabric_sectors_per_sector")
    }
    rates = {(row.params["order"], row.params["part"]): row.value for row in rows}
    for part in sorted({row.params["part"] for row in rows}, key=int):
        found = {order: rates.get((order, part)) for order in ("default", "near", "far")}
        if (usual := found["default"]) is None:
            continue
        words = [
            f"{order} {quantity(rate, 'B/s')} ({rate / usual - 1:+.1%}"
            + (f", {share:.2f} cross)" if (share := shares.get((order, part))) is not None else ")")
            for order, rate in found.items()
            if rate is not None
        ]
        yield f"reads of {int(part) >> 10} KiB per SM: {', '.join(words)}"


def distances(runs: Sequence[Run]) -> Iterator[str]:
    """How far the maps of runs are from each other, and which is nearest to which."""
    maps = [one for run in runs if (one := chip_map.cells(run, "load"))]
    if len(maps) <= 1:
        return
    groups = [
        (chip_map.sm_groups(one, *GROUPS).labels, chip_map.line_groups(one).labels) for one in maps
    ]
    near = chip_map.nearest(maps)
    yield "distance of maps (cycles):"
    for one, (other, least, every) in zip(maps, near, strict=True):
        shown = " ".join(f"{value:6.2f}" if np.isfinite(value) else "     –" for value in every)
        yield f"  {shown}  {one.run}; nearest: {maps[other].run} ({least:.2f})"
    yield "groups that the nearest map has, too (SMs; lines of the first page):"
    for place, (other, *_) in enumerate(near):
        (sms, of_lines), (others, of_others) = groups[place], groups[other]
        first = maps[place].offsets < chip_map.PAGE
        yield (
            f"  {chip_map.alike(sms, others):.1%}; "
            f"{chip_map.alike(of_lines[first], of_others[first]):.1%}  "
            f"{maps[place].run}"
        )
