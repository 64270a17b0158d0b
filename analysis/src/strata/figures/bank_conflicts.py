"""What do lanes pay for wanting words of the same bank? Wavefronts and cycles against stride."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.model.cases import NET, CaseRows, by_case
from strata.run import Row, Run


class Access(CaseRows):
    """One case: wavefronts as predicted and as counted, its latency, its cycles among many.

    `width` is in bytes, `stride` in elements of that width; a row is None where it is not there.
    """

    @property
    def operation(self) -> str:
        """`load` or `store`."""
        return self.text("operation", "load")

    @property
    def width(self) -> int:
        """Bytes of a lane."""
        return self.count("width")

    @property
    def stride(self) -> int:
        """Elements from lane to lane."""
        return self.count("stride")

    @property
    def predicted(self) -> Row | None:
        """Wavefronts by the model."""
        return self.row("wavefronts_per_access", provenance="modelled")

    @property
    def counted(self) -> Row | None:
        """Wavefronts by the counters, less those of the code around."""
        return self.row(f"shared_{self.operation}_wavefronts_per_access", NET, provenance="counted")

    @property
    def latency(self) -> Row | None:
        """Cycles of a load alone."""
        return self.timed("shared_load_latency")

    @property
    def cycles(self) -> Row | None:
        """SM cycles of an access among many."""
        return self.timed("warp_access_cycles")

    @property
    def shown(self) -> list[Row]:
        """The rows that are there, the one that says most first."""
        return [r for r in (self.counted, self.predicted, self.cycles, self.latency) if r]


def items(run: Run) -> Sequence[Access]:
    """The loads and stores whose lanes have an element each, by operation, width and stride."""
    found = [Access(case.rows) for case in by_case(run.of("bank_conflicts"))]
    wanted = [
        one for one in found
        if one.text("pattern", "stride") == "stride" and one.shown and one.width and one.stride
    ]  # fmt: skip
    return sorted(wanted, key=lambda one: (one.operation, one.width, one.stride))


def chart(accesses: Sequence[Access]) -> c.Chart:
    """Wavefronts above, times beneath; a curve per width, a dot inside for stores."""
    wavefronts: list[c.Layer] = []
    for width, here in sorted(c.grouped(accesses, lambda one: one.width).items()):
        look = c.look_of(c.WIDTH_LOOK, width, size=4.6, width=0.9)
        line = sorted({one.stride: one.predicted for one in here}.items())
        wavefronts += c.predicted_and_counted(
            [(stride, row, None) for stride, row in line], look, f"{width} bytes a lane"
        )
        dot = replace(look, colour=c.INK, marker="o", size=1.7)
        for operation, shown in (("load", look), ("store", dot)):
            counted = [one for one in here if one.operation == operation and one.counted]
            marks = [c.mark(one.stride, row) for one in counted if (row := one.counted)]
            wavefronts.append(c.Series(marks=marks, look=replace(shown, line=""), order=3))
    last = max(one.stride for one in accesses)
    places = c.Axis(
        label="stride from lane to lane (elements)", limits=(0, last + 1),
        ticks=[1, *range(4, last + 1, 4)],
    )  # fmt: skip
    first = c.Panel(
        layers=wavefronts if any(one.predicted or one.counted for one in accesses) else [],
        places=places, values=c.Axis(label="wavefronts per access", zero=True),
        blank="neither predicted nor counted",
    )  # fmt: skip

    def times(operation: str, label: str, pick: Callable[[Access], Row | None]) -> list[c.Panel]:
        here = [one for one in accesses if one.operation == operation and pick(one)]
        series = [
            c.Series(
                marks=[c.mark(one.stride, row) for one in of if (row := pick(one))],
                look=c.look_of(c.WIDTH_LOOK, width, size=3.2, width=0.9), spread="band",
            )
            for width, of in sorted(c.grouped(here, lambda one: one.width).items())
        ]  # fmt: skip
        values = c.Axis(label=label, zero=True)
        return [c.Panel(layers=series, places=places, values=values)] if series else []

    panels = [first]
    for operation in ("load", "store"):
        panels += times(operation, f"SM cycles per {operation}", lambda one: one.cycles)
    panels += times("load", "latency of a load\n(cycles)", lambda one: one.latency)
    keys = c.counted_keys((one.predicted, None) for one in accesses)
    keys += [
        c.Key(label=f"counted, {operation}s", look=c.Look(marker="o", size=size))
        for operation, size in (("load", 5.0), ("store", 2.0))
        if any(one.counted and one.operation == operation for one in accesses)
    ]
    height = 0.7 + 1.9 * len(panels)
    rows = [[panel] for panel in panels]
    return c.Chart(rows=rows, width=7.6, height=height, legend="beside", keys=keys)


def caption(accesses: Sequence[Access]) -> str:
    """What lines and marks are, and whether they agree."""
    timed = (
        " Beneath: SM cycles of one access where 32 warps of each SM have eight in flight, and the "
        "latency of a load alone; medians, bands: range of the samples."
        if any(one.cycles or one.latency for one in accesses)
        else " Nothing was timed."
    )
    return (
        "Wavefronts that one access of a warp to shared memory takes, against the distance between "
        "neighbouring lanes, by the width of each lane's element: as many as any of the 32 banks "
        "has words to give. Lines: predicted from the addresses. Marks: counted."
        f"{c.agreement([(one.predicted, one.counted) for one in accesses])}{timed}"
    )


FIGURE = Figure(
    name="bank_conflicts",
    title="Bank conflicts by stride",
    order=66,
    items=items,
    chart=chart,
    caption=caption,
    columns=attributes(
        operation="operation", width_bytes="width", stride_elements="stride",
        wavefronts_predicted="predicted", wavefronts_counted="counted",
    )
    | attributes(
        of="latency", latency_cycles="value", latency_low="minimum", latency_high="maximum"
    )
    | attributes(of="cycles", access_cycles="value", access_low="minimum", access_high="maximum")
    | {
        "valid": lambda one: not c.any_invalid(*one.shown),
        "case": lambda one: one.shown[0].case,
    },
    row=lambda one: one.shown[0],
    invalid=lambda one: (
        f"{one.operation}, {one.width} bytes, stride {one.stride}"
        if c.any_invalid(*one.shown)
        else ""
    ),
)  # fmt: skip
