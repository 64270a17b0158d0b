"""What does an access pattern cost a warp: sectors of a load, wavefronts in shared memory?

The model predicts them from the addresses alone and the hardware counts them; below, the times.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params, prose
from strata.model.cases import NET, CaseRows, by_case
from strata.run import Row, Run

QUANTITIES = {
    "coalescing": ("sectors_per_request", "sectors_per_request", "warp_load_cycles"),
    "bank_conflicts": (
        "wavefronts_per_access", "shared_{}_wavefronts_per_access", "warp_access_cycles",
    ),
}  # fmt: skip
"""Of each benchmark: what is predicted, what is counted (of loads or stores), what is timed."""


class Access(NamedTuple):
    """One case: the requests of a warp access, predicted and counted, and its cost.

    `width` is in bytes, `stride` and `misalignment` in elements of that width; `cycles` is the cost
    per access of an SM with many, `latency` that of a single load.
    """

    case: CaseRows
    operation: str
    width: int
    stride: int
    misalignment: int
    predicted: Row | None
    counted: Row | None
    cycles: Row | None
    latency: Row | None

    @property
    def shown(self) -> list[Row]:
        """The existing rows, the most informative first."""
        return [row for row in (self.counted, self.predicted, self.cycles, self.latency) if row]

    @property
    def row(self) -> Row:
        """The most informative row."""
        return self.shown[0]

    @property
    def valid(self) -> bool:
        """Whether everything drawn of it is valid."""
        return all(row.valid for row in self.shown)


def accesses(run: Run, benchmark: str) -> list[Access]:
    """Every case with something to show, by width and place; each lane with its own element."""
    predicted, counted, timed = QUANTITIES[benchmark]
    found = []
    for case in by_case(run.of(benchmark)):
        operation = case.text("operation", "load")
        one = Access(
            case, operation, case.count("width"), case.count("stride"), case.count("misalignment"),
            case.row(predicted, provenance="modelled"),
            case.row(counted.format(operation), NET, provenance="counted"), case.timed(timed),
            case.timed("shared_load_latency"),
        )  # fmt: skip
        lanes = case.text("pattern", "stride"), case.text("permutation", "identity")
        if one.width and one.shown and lanes == ("stride", "identity"):
            found.append(one)
    return sorted(found, key=lambda one: (one.operation, one.width, one.misalignment, one.stride))


def by_misalignment(run: Run) -> Sequence[Access]:
    """The loads of adjacent elements; empty unless some are misaligned."""
    loads = [one for one in accesses(run, "coalescing") if one.stride == 1]
    shown = [one for one in loads if one.predicted or one.counted]
    return shown if any(one.misalignment for one in shown) else ()


def _traffic(
    found: Sequence[Access], axis: str, places: c.Axis, label: str, title: str = "", **look: object
) -> c.Panel:
    """Lines for predictions, marks for counts, with a dot inside for stores."""
    layers: list[c.Layer] = []
    for width, here in sorted(c.grouped(found, lambda one: one.width).items()):
        load = c.look_of(c.WIDTH_LOOK, width, **look)
        store = replace(load, colour=c.INK, marker="o", size=1.7)
        predicted = sorted({getattr(one, axis): one.predicted for one in here}.items())
        line = [c.Mark(at, row.value) for at, row in predicted if row]
        layers.append(c.Series(line, replace(load, marker=""), order=1.5))
        layers.append(c.Series([], load, f"{width} byte{'s' if width > 1 else ''} a lane"))
        for operation, of in (("load", load), ("store", store)):
            known = [one for one in here if one.operation == operation]
            marks = [c.mark(getattr(one, axis), one.counted) for one in known if one.counted]
            layers.append(c.Series(marks, replace(of, line=""), order=3))
    if not any(one.predicted or one.counted for one in found):
        layers = []
    values, blank = c.Axis(label, zero=True), "neither predicted nor counted"
    return c.Panel(layers, places, values, title, blank=blank)


def _times(
    found: Sequence[Access], pick: Callable[[Access], Row | None], places: c.Axis, label: str,
    title: str = "", **look: object,
) -> list[c.Panel]:  # fmt: skip
    """A panel of times, one curve per width; none if nothing was timed."""
    timed = [(one, row) for one in found if (row := pick(one))]
    looks = {width: ("", c.look_of(c.WIDTH_LOOK, width, **look)) for width in sorted(c.WIDTH_LOOK)}
    layers = c.by_look(
        timed, lambda at: at[0].width, looks, lambda at: c.mark(at[0].stride, at[1]), spread="band"
    )
    return [c.Panel(layers, places, c.Axis(label, zero=True), title)] if layers else []


def _chart(
    found: Sequence[Access], panels: Sequence[c.Panel], height: float,
    counted: Sequence[tuple[str, str, float]],
) -> c.Chart:  # fmt: skip
    """Panels one below the other; `counted` has label, operation and size per kind of mark."""
    keys = [c.Key("predicted", c.Look(line="-"))] if any(one.predicted for one in found) else []
    keys += [
        c.Key(label, c.Look(marker="o", size=size))
        for label, operation, size in counted
        if any(one.counted for one in found if one.operation == operation)
    ]
    return c.Chart([[panel] for panel in panels], 7.6, height, "beside", keys=keys)


def stride_chart(loads: Sequence[Access]) -> c.Chart:
    """Sectors, and below them cycles if any were timed, one curve per width."""
    strides = [one.stride for one in loads]
    ends = (max(min(strides), 1) / 1.12, max(strides) * 1.12)
    places = c.Axis("stride from lane to lane (elements)", "log2", ends)
    panels = [_traffic(loads, "stride", places, "sectors per request", "Traffic", size=3.4)]
    label = "cycles per warp-load"
    panels += _times(loads, lambda one: one.cycles, places, label, "Time", size=3.4)
    return _chart(loads, panels, 0.6 + 2.3 * len(panels), [("counted", "load", 4.0)])


def misalignment_chart(loads: Sequence[Access]) -> c.Chart:
    """Sectors, one curve per width."""
    most = max(one.misalignment for one in loads)
    ticks = range(0, most + 1, 4 if most >= 8 else 1)
    label = "misalignment of the first lane (elements)"
    places = c.Axis(label, limits=(-0.5, most + 0.5), ticks=ticks)
    panel = _traffic(loads, "misalignment", places, "sectors per request", size=3.4)
    return _chart(loads, [panel], 2.9, [("counted", "load", 4.0)])


def conflict_chart(found: Sequence[Access]) -> c.Chart:
    """Wavefronts above, times below; one curve per width, a dot inside for stores."""
    last = max(one.stride for one in found)
    label, ticks = "stride from lane to lane (elements)", [1, *range(4, last + 1, 4)]
    places = c.Axis(label, limits=(0, last + 1), ticks=ticks)
    panels = [_traffic(found, "stride", places, "wavefronts per access", size=4.6, width=0.9)]
    loads, stores = ([one for one in found if one.operation == of] for of in ("load", "store"))
    for here, pick, label in (
        (loads, attrgetter("cycles"), "SM cycles per load"),
        (stores, attrgetter("cycles"), "SM cycles per store"),
        (found, attrgetter("latency"), "latency of a load\n(cycles)"),
    ):
        panels += _times(here, pick, places, label, size=3.2, width=0.9)
    counted = [("counted, loads", "load", 5.0), ("counted, stores", "store", 2.0)]
    return _chart(found, panels, 0.7 + 1.9 * len(panels), counted)


def _caption(found: Sequence[Access], what: str, times: str = "") -> str:
    """The meaning of lines and marks, whether they agree, and which times are below them."""
    both = [(one.predicted, one.counted.value) for one in found if one.predicted and one.counted]
    equal = sum(abs(row.value - counted) <= 1e-9 * row.value for row, counted in both)
    agreement = f"Counts equal the prediction in {equal} of {len(both)} cases."
    if not any(one.predicted or one.counted for one in found):
        agreement = "In this run they were neither predicted nor counted."
    elif not both:
        agreement = "No counts are available for comparison."
    timed = any(one.cycles or one.latency for one in found)
    return prose(
        what, "Marks: counted.", agreement, times and (times if timed else "Nothing was timed.")
    )


LOAD_COLUMNS = (
    attributes(width_bytes="width", stride_elements="stride", misalignment_elements="misalignment")
    | params("permutation", of="case")
    | attributes(sectors_per_request_predicted="predicted", sectors_per_request_counted="counted")
    | attributes(of="cycles", warp_load_cycles="value", cycles_low="minimum", cycles_high="maximum")
    | {"useful_bandwidth": lambda one: one.case.row("useful_bandwidth", provenance="timed")}
    | attributes(valid="row.valid", case="row.case")
)  # fmt: skip


def _name(one: Access) -> str:
    return f"{one.width} bytes, stride {one.stride}, misalignment {one.misalignment}"


FIGURES = (
    Figure(
        "coalescing", "Sectors of a warp-load by stride", 60,
        lambda run: [one for one in accesses(run, "coalescing") if not one.misalignment],
        stride_chart,
        lambda loads: _caption(
            loads,
            "Sectors of 32 bytes per warp load, against the distance between adjacent lanes, "
            "by the width of each lane's read; curves meet where every lane has a separate "
            "sector (32). Lines: predicted from the addresses (compute capability 7.x and "
            "later).",
            "Below: cycles of one warp-load, every SM at work; medians, bands: range of the "
            "samples.",
        ),
        LOAD_COLUMNS, label=_name,
    ),
    Figure(
        "misalignment", "Sectors of a warp-load by misalignment", 61,
        by_misalignment, misalignment_chart,
        lambda loads: _caption(
            loads,
            "Sectors of 32 bytes per warp load when lanes read adjacent elements and the "
            "first starts after the start of a 128-byte line, by the width of each lane's "
            "read. Lines: predicted (compute capability 7.x and later).",
        ),
        LOAD_COLUMNS, label=lambda one: _name(one) if one.counted and not one.counted.valid else "",
    ),
    Figure(
        "bank_conflicts", "Bank conflicts by stride", 66,
        lambda run: [one for one in accesses(run, "bank_conflicts") if one.stride],
        conflict_chart,
        lambda found: _caption(
            found,
            "Wavefronts per warp access to shared memory, against the distance between "
            "adjacent lanes, by the width of each lane's element: the maximum number of words "
            "in any of the 32 banks. Lines: predicted from the addresses.",
            "Below: SM cycles of one access where 32 warps of each SM have eight in flight, "
            "and the latency of a single load; medians, bands: range of the samples.",
        ),
        attributes("operation", width_bytes="width", stride_elements="stride")
        | attributes(wavefronts_predicted="predicted", wavefronts_counted="counted")
        | attributes(of="latency", latency_cycles="value")
        | attributes(of="latency", latency_low="minimum", latency_high="maximum")
        | attributes(of="cycles", access_cycles="value")
        | attributes(of="cycles", access_low="minimum", access_high="maximum"),
        label=lambda one: f"{one.operation}, {one.width} bytes, stride {one.stride}",
    ),
)  # fmt: skip
