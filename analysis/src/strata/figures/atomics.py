"""What do lanes pay for wanting the same word? Latency and rate of every atomic operation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from strata.figures import AxesGrid, Figure, Grid
from strata.figures._palette import GREY, hollow_key, invalid_note, legend_above
from strata.model import ordered
from strata.run import Row

BENCHMARK = "atomics"
SPACES = ("shared", "global")
OPERATIONS = ("add_int", "add_int64", "add_float", "exch_int", "cas_int")
NAMES = {
    "add_int": "add int32",
    "add_int64": "add int64",
    "add_float": "add float",
    "exch_int": "exchange",
    "cas_int": "compare & swap",
}
TARGETS = ("disjoint", "warp", "same")
_STYLE = {
    "disjoint": ("#009E73", "o", "a word for each lane"),
    "warp": ("#0072B2", "s", "a word for each warp"),
    "same": ("#D55E00", "^", "one word for all"),
}
CPU_TARGETS = ("disjoint", "line", "same")
_CPU_STYLE = {
    "disjoint": ("#009E73", "o", "a line for each core"),
    "line": ("#0072B2", "s", "a word for each core, on shared lines"),
    "same": ("#D55E00", "^", "one word for all"),
}
LATENCY = "atomic_latency"
RATE = "atomics_per_cycle"
LABELS = {
    LATENCY: "latency of a warp's operation (cycles)",
    RATE: "operations of lanes per SM and cycle",
}
_CPU_LABELS = {
    LATENCY: "latency of a lone core's operation (TSC cycles)",
    RATE: "operations per core and TSC cycle",
}
METHODS = frozenset({"clock64_slope", "tsc_slope"})
DECADE = 10


@dataclass(frozen=True, slots=True)
class Mark:
    """The latency or the rate of one case."""

    space: str
    operation: str
    returns: bool
    target: str
    row: Row

    @property
    def on_a_cpu(self) -> bool:
        """Of cores, and not of lanes and their SMs."""
        return self.row.backend == "host"

    @property
    def name(self) -> str:
        """What stands at its line of the figure."""
        return _name(self.operation, returns=self.returns, on_a_cpu=self.on_a_cpu)


def _name(operation: str, *, returns: bool, on_a_cpu: bool) -> str:
    name = NAMES.get(operation, operation)
    if returns:
        return name
    return f"{name}, no return" if on_a_cpu else f"{name}, red"


def _on_a_cpu(marks: Sequence[Mark]) -> bool:
    return any(mark.on_a_cpu for mark in marks)


def _style(marks: Sequence[Mark]) -> Mapping[str, tuple[str, str, str]]:
    """Colour, marker and words of each target."""
    return _CPU_STYLE if _on_a_cpu(marks) else _STYLE


def prepare(rows: Sequence[Row]) -> Sequence[Mark]:
    """Latencies and rates by the clock inside, by space and operation."""
    marks = [
        Mark(
            space=row.params.get("space", "?"),
            operation=row.params.get("operation", "?"),
            returns=row.params.get("returns", "yes") == "yes",
            target=row.params.get("target", "?"),
            row=row,
        )
        for row in rows
        if row.benchmark == BENCHMARK
        and row.provenance == "timed"
        and row.quantity in LABELS
        and row.method in METHODS
    ]
    return sorted(
        (mark for mark in marks if mark.target in _style([mark])),
        key=lambda one: (
            one.space, one.operation, not one.returns, one.target, one.row.quantity, one.row.case,
        ),
    )  # fmt: skip


def _spaces(marks: Sequence[Mark]) -> list[str]:
    return ordered({mark.space for mark in marks}, SPACES)


def _quantities(marks: Sequence[Mark]) -> list[str]:
    found = {mark.row.quantity for mark in marks}
    return [quantity for quantity in LABELS if quantity in found]


def _lines(marks: Sequence[Mark]) -> list[tuple[str, bool]]:
    """Operation and whether it returns, in the order of the lines from the top."""
    kinds = {(mark.operation, mark.returns) for mark in marks}
    operations = ordered({operation for operation, _ in kinds}, OPERATIONS)
    return [
        (operation, returns)
        for operation in operations
        for returns in (True, False)
        if (operation, returns) in kinds
    ]


def grid(marks: Sequence[Mark]) -> Grid:
    """A row of panels for each space, a column for each quantity."""
    spaces = _spaces(marks)
    return Grid(
        len(spaces),
        len(_quantities(marks)),
        width=7.6,
        height=1.0 + len(spaces) * (0.6 + 0.24 * len(_lines(marks))),
    )


def _panel(marks: Sequence[Mark], lines: Sequence[tuple[str, bool]], panel: Axes) -> None:
    """Marks: medians, with the range of the samples; the targets of an operation on one line."""
    targets = CPU_TARGETS if _on_a_cpu(marks) else TARGETS
    for mark in marks:
        colour, marker, _ = _style(marks)[mark.target]
        place = lines.index((mark.operation, mark.returns))
        y = place + 0.22 * (targets.index(mark.target) - 1)
        row = mark.row
        if row.valid:
            panel.plot([row.minimum, row.maximum], [y, y], color=colour, linewidth=1.0)
        panel.plot(
            [row.value], [y], linestyle="none", marker=marker, markersize=4.2, color=colour,
            markerfacecolor=colour if row.valid else "white", markeredgewidth=0.8,
            label="_valid" if row.valid else "_invalid",
        )  # fmt: skip
    if not marks:
        panel.text(0.5, 0.5, "not timed", transform=panel.transAxes, ha="center", color=GREY)
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(10))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_ylim(len(lines) - 0.5, -0.5)
    panel.yaxis.grid(visible=False)
    for edge in range(1, len(lines)):
        panel.axhline(edge - 0.5, color="#dddddd", linewidth=0.6, zorder=0)


def draw(marks: Sequence[Mark], axes: AxesGrid) -> None:
    """Spaces beneath each other, latency beside rate."""
    lines = _lines(marks)
    on_a_cpu = _on_a_cpu(marks)
    names = [_name(operation, returns=returns, on_a_cpu=on_a_cpu) for operation, returns in lines]
    quantities = _quantities(marks)
    spaces = _spaces(marks)
    for row, space in zip(axes, spaces, strict=True):
        for panel, quantity in zip(row, quantities, strict=True):
            here = [m for m in marks if (m.space, m.row.quantity) == (space, quantity)]
            _panel(here, lines, panel)
            panel.set_yticks(range(len(lines)), names if panel is row[0] else [""] * len(lines))
            panel.tick_params(axis="y", length=0)
            if panel is row[0]:
                panel.set_title("memory" if on_a_cpu else f"{space} memory", loc="left")
            if space == spaces[-1]:
                panel.set_xlabel((_CPU_LABELS if on_a_cpu else LABELS)[quantity])
    for column, quantity in enumerate(quantities):
        values = [m.row.value for m in marks if m.row.quantity == quantity and m.row.value > 0]
        low, high = min(values, default=1) / 1.8, max(values, default=1) * 1.8
        for row in axes:
            row[column].set_xlim(low, high)
            if high < DECADE * low:
                row[column].xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    found = {mark.target for mark in marks}
    handles: list[Artist] = [
        Line2D([], [], color=colour, marker=marker, markersize=4.2, linestyle="none", label=label)
        for target, (colour, marker, label) in _style(marks).items()
        if target in found
    ]
    if any(not mark.row.valid for mark in marks):
        handles.append(hollow_key())
    legend_above(axes[0][0], handles)
    layout = axes[0][0].figure.get_layout_engine()
    if isinstance(layout, ConstrainedLayoutEngine):
        # Names are some percent wider on paper than where the layout measures them.
        layout.set(w_pad=0.12)


def caption(marks: Sequence[Mark]) -> str:
    """What is timed, and what is not an instruction."""
    invalid = invalid_note(
        f"{mark.space}, {mark.name}, {mark.target}" for mark in marks if not mark.row.valid
    )
    if _on_a_cpu(marks):
        return (
            "Atomic operations of a CPU. Left: latency where each needs what the one before "
            "returned, in one core alone, whose word nobody else wants whatever the target. Right: "
            "how many operations a core finishes in a cycle while all cores are at work, each on a "
            "line of its own, on a word of its own beside those of others, or all on one word. "
            "Cycles are those of the time-stamp counter. Where nothing is returned there is no "
            "latency. Marks: medians; lines: range of the samples. Additions of floats are a loop "
            f"of compare and swap.{invalid}"
        )
    return (
        "Atomic operations of a warp. Left: latency where each needs what the one before returned, "
        "in a warp that has the chip to itself. Right: how many operations of lanes an SM finishes "
        "in a cycle, 32 warps on every SM; one word for all is one of the block in shared memory, "
        "one of the whole chip in global memory. Red returns nothing, so it has "
        "no latency. Marks: medians; lines: range of the samples. "
        "Additions of floats and of 64 bits in shared memory are a loop of compare and swap."
        f"{invalid}"
    )


def cells(mark: Mark) -> tuple[object, ...]:
    """One line of the data file."""
    row = mark.row
    return (
        mark.space, mark.operation, "yes" if mark.returns else "no", mark.target, row.quantity,
        row.value, row.minimum, row.maximum, row.unit, row.valid, row.case,
    )  # fmt: skip


FIGURE = Figure(
    name="atomics",
    title="Atomic operations by contention",
    order=68,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "space", "operation", "returns", "target", "quantity", "median", "low", "high", "unit",
        "valid", "case",
    ),
    cells=cells,
    source=lambda mark: mark.row,
)  # fmt: skip
