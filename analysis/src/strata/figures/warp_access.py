"""What does a warp pay for where its lanes read: sectors of a load, wavefronts in shared memory?

The model says it from the addresses alone and the hardware counts it; beneath, what it costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, params
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
    """One case: what an access of a warp asks for, as predicted and as counted, and its cost.

    `width` is in bytes, `stride` and `misalignment` in elements of that width; `cycles` are an SM's
    for an access among many, `latency` those of a load alone.
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
        """The rows that are there, the one that says most first."""
        return [row for row in (self.counted, self.predicted, self.cycles, self.latency) if row]

    @property
    def row(self) -> Row:
        """The row that says most."""
        return self.shown[0]

    @property
    def valid(self) -> bool:
        """Whether all that is drawn of it is."""
        return not c.any_invalid(*self.shown)


def accesses(run: Run, benchmark: str) -> list[Access]:
    """Every case that has something to show, by width and place; each lane with its own element."""
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
    """The loads of neighbouring elements; nothing without any that is misaligned."""
    shown = [
        one
        for one in accesses(run, "coalescing")
        if one.stride == 1 and (one.predicted or one.counted)
    ]
    return shown if any(one.misalignment for one in shown) else ()


def _by_width(found: Sequence[Access]) -> list[tuple[int, list[Access]]]:
    return sorted(c.grouped(found, lambda one: one.width).items())


def _traffic(
    found: Sequence[Access], axis: str, places: c.Axis, label: str, title: str = "", **look: object
) -> c.Panel:
    """Lines for what is predicted, a mark for what was counted: a dot inside for stores."""
    layers: list[c.Layer] = []
    for width, here in _by_width(found):
        load = c.look_of(c.WIDTH_LOOK, width, **look)
        store = replace(load, colour=c.INK, marker="o", size=1.7)
        predicted = sorted({getattr(one, axis): one.predicted for one in here}.items())
        line = [c.Mark(at, row.value) for at, row in predicted if row]
        words = f"{width} byte{'s' if width > 1 else ''} a lane"
        layers.append(c.Series(marks=line, look=replace(load, marker=""), order=1.5))
        layers.append(c.Series(marks=[], look=load, label=words))
        for operation, of in (("load", load), ("store", store)):
            known = [one for one in here if one.operation == operation]
            marks = [c.mark(getattr(one, axis), one.counted) for one in known if one.counted]
            layers.append(c.Series(marks=marks, look=replace(of, line=""), order=3))
    return c.Panel(
        layers=layers if any(one.predicted or one.counted for one in found) else [],
        places=places, values=c.Axis(label=label, zero=True), title=title,
        blank="neither predicted nor counted",
    )  # fmt: skip


def _times(
    found: Sequence[Access], pick: Callable[[Access], Row | None], places: c.Axis, label: str,
    title: str = "", **look: object,
) -> list[c.Panel]:  # fmt: skip
    """A panel of what was timed, a curve per width; none where nothing was."""
    layers = [
        c.Series(
            marks=[c.mark(one.stride, row) for one in here if (row := pick(one))],
            look=c.look_of(c.WIDTH_LOOK, width, **look), spread="band",
        )
        for width, here in _by_width([one for one in found if pick(one)])
    ]  # fmt: skip
    values = c.Axis(label=label, zero=True)
    return [c.Panel(layers=layers, places=places, values=values, title=title)] if layers else []


def _chart(
    found: Sequence[Access], panels: Sequence[c.Panel], height: float,
    counted: Sequence[tuple[str, str, float]],
) -> c.Chart:  # fmt: skip
    """Panels beneath each other; `counted` has label, operation and size of each kind of mark."""
    told = [("predicted", c.Look(line="-"), [one.predicted for one in found])]
    for label, operation, size in counted:
        rows = [one.counted for one in found if one.operation == operation]
        told.append((label, c.Look(marker="o", size=size), rows))
    keys = [c.Key(label=label, look=look) for label, look, rows in told if any(rows)]
    stacked = [[panel] for panel in panels]
    return c.Chart(rows=stacked, width=7.6, height=height, legend="beside", keys=keys)


def load_chart(loads: Sequence[Access], axis: str) -> c.Chart:
    """Sectors, and beneath them cycles where any were timed, a curve per width."""
    settings = [getattr(one, axis) for one in loads]
    least, most = max(min(settings), 1), max(settings)
    title, times = "", []
    if axis == "stride":
        title, ends = "Traffic", (least / 1.12, most * 1.12)
        places = c.Axis(label="stride from lane to lane (elements)", scale="log2", limits=ends)
        label = "cycles per warp-load"
        times = _times(loads, lambda one: one.cycles, places, label, "Time", size=3.4)
    else:
        ticks = list(range(0, most + 1, 4 if most >= 8 else 1))
        label = "misalignment of the first lane (elements)"
        places = c.Axis(label=label, limits=(-0.5, most + 0.5), ticks=ticks)
    panels = [_traffic(loads, axis, places, "sectors per request", title, size=3.4), *times]
    return _chart(loads, panels, 0.6 + 2.3 * len(panels), [("counted", "load", 4.0)])


def conflict_chart(found: Sequence[Access]) -> c.Chart:
    """Wavefronts above, times beneath; a curve per width, a dot inside for stores."""
    last = max(one.stride for one in found)
    label, ticks = "stride from lane to lane (elements)", [1, *range(4, last + 1, 4)]
    places = c.Axis(label=label, limits=(0, last + 1), ticks=ticks)
    label = "wavefronts per access"
    panels = [_traffic(found, "stride", places, label, size=4.6, width=0.9)]
    for operation in ("load", "store"):
        here = [one for one in found if one.operation == operation]
        label = f"SM cycles per {operation}"
        panels += _times(here, lambda one: one.cycles, places, label, size=3.2, width=0.9)
    label = "latency of a load\n(cycles)"
    panels += _times(found, lambda one: one.latency, places, label, size=3.2, width=0.9)
    counted = [("counted, loads", "load", 5.0), ("counted, stores", "store", 2.0)]
    return _chart(found, panels, 0.7 + 1.9 * len(panels), counted)


def _caption(found: Sequence[Access], what: str, times: str = "") -> str:
    """What lines and marks are, whether they agree, and which times stand beneath them."""
    both = [(one.predicted, one.counted.value) for one in found if one.predicted and one.counted]
    equal = sum(abs(row.value - counted) <= 1e-9 * row.value for row, counted in both)
    agreement = f"Counted equals predicted in {equal} of {len(both)} cases."
    if not any(one.predicted or one.counted for one in found):
        agreement = "In this run they were neither predicted nor counted."
    elif not both:
        agreement = "Nothing was counted to stand beside the prediction."
    timed = times if any(one.cycles or one.latency for one in found) else " Nothing was timed."
    return f"{what} Marks: counted. {agreement}{timed if times else ''}"


LOAD_COLUMNS = (
    attributes(
        width_bytes="width", stride_elements="stride", misalignment_elements="misalignment",
    )
    | params("permutation", of="case")
    | attributes(
        sectors_per_request_predicted="predicted", sectors_per_request_counted="counted",
    )
    | attributes(of="cycles", warp_load_cycles="value", cycles_low="minimum", cycles_high="maximum")
    | {"useful_bandwidth": lambda one: one.case.row("useful_bandwidth", provenance="timed")}
    | attributes(valid="row.valid", case="row.case")
)  # fmt: skip


def _name(one: Access) -> str:
    return f"{one.width} bytes, stride {one.stride}, misalignment {one.misalignment}"


FIGURES = (
    Figure(
        name="coalescing",
        title="Sectors of a warp-load by stride",
        order=60,
        items=lambda run: [one for one in accesses(run, "coalescing") if not one.misalignment],
        chart=lambda loads: load_chart(loads, "stride"),
        caption=lambda loads: _caption(
            loads,
            "Sectors of 32 bytes that one load of a warp asks for, against the distance between "
            "neighbouring lanes, by the width of each lane's read; curves meet where every lane "
            "has a sector of its own (32). Lines: predicted from the addresses (compute capability "
            "7.x and later).",
            " Below: cycles of one warp-load, every SM at work; medians, bands: range of the "
            "samples.",
        ),
        columns=LOAD_COLUMNS,
        label=_name,
    ),
    Figure(
        name="misalignment",
        title="Sectors of a warp-load by misalignment",
        order=61,
        items=by_misalignment,
        chart=lambda loads: load_chart(loads, "misalignment"),
        caption=lambda loads: _caption(
            loads,
            "Sectors of 32 bytes that one load of a warp asks for when lanes read neighbouring "
            "elements and the first of them stands behind the start of a 128-byte line, by the "
            "width of each lane's read. Lines: predicted (compute capability 7.x and later).",
        ),
        columns=LOAD_COLUMNS,
        label=lambda one: _name(one) if c.any_invalid(one.counted) else "",
    ),
    Figure(
        name="bank_conflicts",
        title="Bank conflicts by stride",
        order=66,
        items=lambda run: [one for one in accesses(run, "bank_conflicts") if one.stride],
        chart=conflict_chart,
        caption=lambda found: _caption(
            found,
            "Wavefronts that one access of a warp to shared memory takes, against the distance "
            "between neighbouring lanes, by the width of each lane's element: as many as any of "
            "the 32 banks has words to give. Lines: predicted from the addresses.",
            " Beneath: SM cycles of one access where 32 warps of each SM have eight in flight, "
            "and the latency of a load alone; medians, bands: range of the samples.",
        ),
        columns=attributes(
            operation="operation", width_bytes="width", stride_elements="stride",
            wavefronts_predicted="predicted", wavefronts_counted="counted",
        )
        | attributes(
            of="latency", latency_cycles="value", latency_low="minimum", latency_high="maximum"
        )
        | attributes(
            of="cycles", access_cycles="value", access_low="minimum", access_high="maximum"
        )
,
        label=lambda one: f"{one.operation}, {one.width} bytes, stride {one.stride}",
    ),
)  # fmt: skip
