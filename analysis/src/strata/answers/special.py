"""Answers that follow from several cases: each yields the values of its axes, and a row."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from strata.model import atlas, layouts
from strata.run import Row, Run, grouped

Lines = Iterator[tuple[Mapping[str, str], Row]]

ENOUGH = 0.9
"""Share of the best bandwidth that counts as saturated."""


def constants(run: Run) -> Lines:
    """A constant from the cache of the SM and from the next one."""
    yield from (({"level": level}, row) for level, row in atlas.constants(run).items())


def peaks(run: Run) -> Lines:
    """The best rate of each kind of arithmetic."""
    yield from (({"arithmetic": kind}, best.row) for kind, best in atlas.ceilings(run).items())


def streams(run: Run) -> Lines:
    """What each level gives at most, by operation."""
    for operation in ("read", "write", "copy", "triad", "update"):
        for level, best in atlas.bandwidths(run, operation).items():
            yield {"level": level, "operation": operation}, best.row


def saturating_warps(run: Run) -> Lines:
    """The fewest warps of an SM whose reads reach 90 % of the best of a level, by width."""
    best = {level: found.row.value for level, found in atlas.bandwidths(run).items()}
    enough = (
        (number * block // 32, row)
        for row in run.valid("bandwidth", "bandwidth", operation="read")
        if (number := row.count("blocks_per_sm")) and (block := row.count("block_size"))
        if row.value >= ENOUGH * best.get(row.text("level"), row.value)
    )
    by_shape = grouped(enough, lambda line: (line[1].text("level"), line[1].text("width")))
    for (level, width), lines in by_shape.items():
        warps, row = min(lines, key=lambda line: (line[0], -line[1].value))
        words = {"quantity": "warps_per_sm", "unit": "warp", "method": "launch_shape"}
        value: dict[str, Any] = dict.fromkeys(("value", "minimum", "maximum"), float(warps))
        yield (
            {"level": level, "width": width},
            replace(row, **words, **value, ci_low=None, ci_high=None, provenance="modelled"),
        )


def _of_layout(one: layouts.LayoutResult) -> Mapping[str, str]:
    return {"layout": one.layout, "fields": one.fields, "residency": one.level}


def layout_bandwidths(run: Run) -> Lines:
    """The best useful bandwidth of each layout."""
    for one in layouts.layout_results(run.of("layout_read")):
        if one.bandwidth:
            yield _of_layout(one), one.bandwidth.row


def layout_latencies(run: Run) -> Lines:
    """A warp's read of each layout, alone."""
    for one in layouts.layout_results(run.of("layout_read")):
        if one.latency:
            yield _of_layout(one), one.latency.cycles


def best_layouts(run: Run) -> Lines:
    """The layout with the most useful bandwidth, by level and fields."""
    of_place = grouped(
        layout_bandwidths(run), lambda line: (line[0]["residency"], line[0]["fields"])
    )
    for lines in of_place.values():
        yield max(lines, key=lambda line: line[1].value)
