"""How many sectors does a warp-load ask for when its lanes read far apart, or off a line's start?

The model says it from the addresses alone and the hardware counts it; beneath, what it costs.
"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.model.counted import WarpLoad, warp_loads
from strata.run import Run


def by_stride(run: Run) -> Sequence[WarpLoad]:
    """The loads that start at a line, lane after lane."""
    return [
        load
        for load in warp_loads(run.of("coalescing"))
        if (load.misalignment, load.permutation) == (0, "identity")
    ]


def by_misalignment(run: Run) -> Sequence[WarpLoad]:
    """The loads of neighbouring elements; nothing without any that is misaligned."""
    shown = [
        load
        for load in warp_loads(run.of("coalescing"))
        if (load.stride, load.permutation) == (1, "identity") and (load.predicted or load.counted)
    ]
    return shown if any(load.misalignment for load in shown) else ()


def chart(loads: Sequence[WarpLoad], axis: str) -> c.Chart:
    """Sectors, and beneath them cycles where any were timed, a curve per width."""
    sectors: list[c.Layer] = []
    times: list[c.Layer] = []
    for width, here in sorted(c.grouped(loads, lambda load: load.width).items()):
        look = c.look_of(c.WIDTH_LOOK, width, size=3.4)
        label = f"{width} byte{'s' if width > 1 else ''} a lane"
        here.sort(key=lambda load: float(getattr(load, axis)))
        sectors += c.predicted_and_counted(
            [(getattr(load, axis), load.predicted, load.counted) for load in here], look, label
        )
        timed = [c.mark(getattr(load, axis), load.cycles) for load in here if load.cycles]
        times.append(c.Series(marks=timed, look=look, spread="band"))
    highest = max(getattr(load, axis) for load in loads)
    if axis == "stride":
        low = max(min(load.stride for load in loads), 1)
        places = c.Axis(
            label="stride from lane to lane (elements)", scale="log2",
            limits=(low / 1.12, highest * 1.12),
        )  # fmt: skip
    else:
        ticks = list(range(0, highest + 1, 4 if highest >= 8 else 1))
        label = "misalignment of the first lane (elements)"
        places = c.Axis(label=label, limits=(-0.5, highest + 0.5), ticks=ticks)
    panels = [
        c.Panel(
            layers=sectors if any(load.predicted or load.counted for load in loads) else [],
            places=places, values=c.Axis(label="sectors per request", zero=True),
            title="Traffic" if axis == "stride" else "", blank="neither predicted nor counted",
        )
    ]  # fmt: skip
    if axis == "stride" and any(load.cycles for load in loads):
        values = c.Axis(label="cycles per warp-load", zero=True)
        panels.append(c.Panel(layers=times, places=places, values=values, title="Time"))
    return c.Chart(
        rows=[[panel] for panel in panels], width=7.6, height=0.6 + 2.3 * len(panels),
        legend="beside", keys=c.counted_keys((one.predicted, one.counted) for one in loads),
    )  # fmt: skip


def stride_caption(loads: Sequence[WarpLoad]) -> str:
    """What lines and marks are, and whether they agree."""
    below = (
        " Below: cycles of one warp-load, every SM at work; medians, bands: range of the samples."
        if any(load.cycles for load in loads)
        else " Nothing was timed."
    )
    return (
        "Sectors of 32 bytes that one load of a warp asks for, against the distance between "
        "neighbouring lanes, by the width of each lane's read; curves meet where every lane has a "
        "sector of its own (32). Lines: predicted from the addresses "
        f"(compute capability 7.x and later). Marks: counted.{_agreement(loads)}{below}"
    )


def misalignment_caption(loads: Sequence[WarpLoad]) -> str:
    """What lines and marks are, and whether they agree."""
    return (
        "Sectors of 32 bytes that one load of a warp asks for when lanes read neighbouring "
        "elements and the first of them stands behind the start of a 128-byte line, by the width "
        "of each lane's read. Lines: predicted (compute capability 7.x and later). Marks: counted."
        f"{_agreement(loads)}"
    )


def _agreement(loads: Sequence[WarpLoad]) -> str:
    return c.agreement([(load.predicted, load.counted) for load in loads])


def _name(load: WarpLoad) -> str:
    return f"{load.width} bytes, stride {load.stride}, misalignment {load.misalignment}"


COLUMNS = (
    attributes(
        width_bytes="width", stride_elements="stride", misalignment_elements="misalignment",
        permutation="permutation", sectors_per_request_predicted="predicted",
        sectors_per_request_counted="counted",
    )
    | attributes(of="cycles", warp_load_cycles="value", cycles_low="minimum", cycles_high="maximum")
    | attributes(useful_bandwidth="bandwidth")
    | attributes("valid", "case", of="row")
)  # fmt: skip

FIGURES = (
    Figure(
        name="coalescing",
        title="Sectors of a warp-load by stride",
        order=60,
        items=by_stride,
        chart=lambda loads: chart(loads, "stride"),
        caption=stride_caption,
        columns=COLUMNS,
        invalid=lambda load: _name(load) if c.any_invalid(load.counted, load.cycles) else "",
    ),
    Figure(
        name="misalignment",
        title="Sectors of a warp-load by misalignment",
        order=61,
        items=by_misalignment,
        chart=lambda loads: chart(loads, "misalignment"),
        caption=misalignment_caption,
        columns=COLUMNS,
        invalid=lambda load: _name(load) if c.any_invalid(load.counted) else "",
    ),
)
