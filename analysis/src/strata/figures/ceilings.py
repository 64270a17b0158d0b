"""How much arithmetic does the chip do in a second, and how much should it?

Measured rates of multiply-adds, with what SMs, lanes and the clock held allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, invalid_note, legend_above
from strata.model.units import SPACE
from strata.run import Row

RATES = ("flops_per_second", "operations_per_second")
KINDS = {
    "fp32": "fp32",
    "fp64": "fp64",
    "fp16x2": "fp16, packed",
    "bf16x2": "bf16, packed",
    "int32": "int32",
    "int8_dp4a": "int8, dp4a",
}
COLOUR = "#0072B2"
ROOM = 2 * SPACE
"""Before the names: letters are a little wider at the resolution of the stored image."""
TERA = 1e12


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best rate of one kind of arithmetic, those of other forms, the limit where known."""

    kind: str
    measured: Row
    limit: Row | None
    others: tuple[Row, ...] = ()

    @property
    def form(self) -> str:
        """How the operands came where the rate is best."""
        return self.measured.params.get("form", "")

    @property
    def share(self) -> float | None:
        """Of the limit."""
        return self.measured.value / self.limit.value if self.limit else None


def prepare(rows: Sequence[Row]) -> Sequence[Ceiling]:
    """One item per kind of arithmetic that was timed."""
    own = [row for row in rows if row.benchmark == "ceilings" and row.quantity in RATES]
    result = []
    for kind in KINDS:
        here = [row for row in own if row.params.get("arithmetic") == kind]
        timed = [row for row in here if row.provenance == "timed"]
        if not timed:
            continue
        # A ceiling is what no form exceeds; one that fails its checks is none.
        measured = max(timed, key=lambda row: (row.valid, row.value))
        limit = next(
            (
                row
                for row in here
                if row.provenance == "modelled" and row.case == measured.case and row.value > 0
            ),
            None,
        )
        others = tuple(row for row in timed if row is not measured and row.valid)
        result.append(Ceiling(kind, measured, limit, others))
    return result


def _on_a_cpu(ceilings: Sequence[Ceiling]) -> bool:
    return any(one.measured.backend == "host" for one in ceilings)


def grid(ceilings: Sequence[Ceiling]) -> Grid:
    """One panel, a bar for each kind."""
    return Grid(1, 1, width=7.2, height=1.2 + 0.34 * len(ceilings))


def draw(ceilings: Sequence[Ceiling], axes: AxesGrid) -> None:
    """Bars from zero, an upright stroke for the limit."""
    (panel,) = flat(axes)
    for place, one in enumerate(ceilings):
        valid = one.measured.valid
        panel.barh(
            place, one.measured.value / TERA, height=0.62, color=COLOUR if valid else "white",
            edgecolor=COLOUR, linewidth=0.9, linestyle="-" if valid else "--",
            label="_valid" if valid else "_invalid",
        )  # fmt: skip
        panel.hlines(
            place,
            one.measured.minimum / TERA,
            one.measured.maximum / TERA,
            color=INK,
            linewidth=1.2,
        )
        panel.plot(
            [row.value / TERA for row in one.others],
            [place] * len(one.others),
            marker="o", markersize=3.6, markerfacecolor="white", markeredgecolor=INK,
            markeredgewidth=0.8, linestyle="none", label="_others",
        )  # fmt: skip
        if one.limit:
            panel.vlines(
                one.limit.value / TERA, place - 0.4, place + 0.4, color=INK, linewidth=1.6,
                label="_limit",
            )  # fmt: skip
        words = f"{one.measured.value / TERA:.3g}"
        if one.share is not None:
            words += f"  ({100 * one.share:.1f} %)"
        if one.others:
            words += f"  {one.form}"
        furthest = max(one.measured.maximum, one.limit.value if one.limit else 0)
        panel.annotate(
            words, (furthest / TERA, place), xytext=(5, 0), textcoords="offset points",
            va="center", fontsize=7.5, color=INK,
        )  # fmt: skip
    top = max(
        value
        for one in ceilings
        for value in (one.measured.maximum, one.limit.value if one.limit else 0)
    )
    panel.set_xlim(0, 1.36 * top / TERA)
    panel.set_ylim(len(ceilings) - 0.45, -0.55)
    panel.set_yticks(range(len(ceilings)), [ROOM + KINDS[one.kind] for one in ceilings])
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.set_xlabel("operations (10¹²/s; a multiply-add is two)")
    handles: list[Artist] = [
        Patch(
            facecolor=COLOUR, edgecolor=COLOUR,
            label="all cores" if _on_a_cpu(ceilings) else "best form",
        )
    ]  # fmt: skip
    if any(one.limit for one in ceilings):
        handles.append(
            Line2D([], [], color=INK, marker="|", markersize=9, markeredgewidth=1.6,
                   linestyle="none", label="SMs × lanes × clock held")
        )  # fmt: skip
    if any(one.others for one in ceilings):
        handles.append(
            Line2D([], [], color=INK, marker="o", markersize=3.6, markerfacecolor="white",
                   linestyle="none", label="other forms and numbers of warps")
        )  # fmt: skip
    if any(not one.measured.valid for one in ceilings):
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="invalid (hollow)")
        )
    legend_above(panel, handles)


def caption(ceilings: Sequence[Ceiling]) -> str:
    """What bars and strokes are, and what does not count."""
    silent = [KINDS[one.kind] for one in ceilings if one.limit is None]
    unknown = f" No limit is published for {', '.join(silent)}." if silent else ""
    invalid = invalid_note(
        one.measured.case.partition("/")[2] for one in ceilings if not one.measured.valid
    )
    if _on_a_cpu(ceilings):
        return (
            "Fused multiply-adds in registers, by the widest vectors of the CPU, every core at "
            "work. Bars: medians; lines in them: range of the samples. Nobody publishes the limit "
            f"of a CPU that is found at run time.{invalid}"
        )
    return (
        "Multiply-adds in registers, every SM at work, tensor cores not; in brackets the share of "
        "the limit, then how the operands came in the form that was fastest. Bars: medians; lines "
        "in them: range of the samples. Strokes: results per cycle of the CUDA C++ Best Practices "
        "Guide (Throughput of Native Arithmetic Instructions) × SMs × the clock under this "
        f"load.{unknown}{invalid}"
    )


def cells(one: Ceiling) -> tuple[object, ...]:
    """One line of the data file."""
    return (
        one.kind, one.measured.unit, one.measured.value, one.measured.minimum, one.measured.maximum,
        one.limit.value if one.limit else "", one.share if one.share is not None else "",
        one.measured.valid, one.form, one.measured.case,
    )  # fmt: skip


def source(one: Ceiling) -> Row:
    """The measured row."""
    return one.measured


FIGURE = Figure(
    name="ceilings",
    title="Ceilings of arithmetic",
    order=91,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "arithmetic", "unit", "measured", "low", "high", "limit", "share_of_limit", "valid", "form",
        "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
