"""What do a byte of each level and an operation of each kind cost in energy?"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from strata.figures._plot import columns, figure, prose
from strata.figures._style import (
    LEVEL,
    beside_marks,
    listed,
    mark_rows,
    plain_log,
    points,
    stacked,
)
from strata.model.energy import WORKS, energies, predictions, prices
from strata.model.units import short
from strata.run import Run, tidy

PICO = 1e12
PRICES = {
    "gross": ("with the idle power", "#0072B2", "o"),
    "net": ("without the idle power", "#009E73", "s"),
    "marginal": ("marginal: slope over the SMs at work", "#D55E00", "^"),
}
PANELS = {"B": "energy of a byte (pJ)", "": "energy of an operation (pJ)"}
ROOFS = {
    "shared_read": ("shared memory", LEVEL["shared"], "-"),
    "l1_read": ("L1", LEVEL["l1"], "--"),
    "l2_near": ("L2", LEVEL["l2"], "-."),
    "dram_read": ("DRAM", LEVEL["dram"], ":"),
}


def data(run: Run) -> pd.DataFrame:
    """Prices by work and data, in J for each unit of work."""
    found = [price for price in prices(run) if price.work in WORKS]
    rows = [price.row for price in found]
    lines = tidy(rows).assign(
        work=[price.work for price in found],
        data=[price.data for price in found],
        work_unit=[price.unit for price in found],
        net=pd.Series([price.net for price in found], dtype=float),
        marginal=pd.Series([price.marginal for price in found], dtype=float),
        _label=[name(price.work, price.data) for price in found],
    )
    return columns(
        lines, "work", "data", "work_unit", gross="value", low="_row.minimum", high="_row.maximum",
        net="net", marginal="marginal",
    )  # fmt: skip


def name(work: str, contents: str) -> str:
    """For lists."""
    return WORKS[work] + (", zeros" if contents == "zeros" else "")


def caption(data: pd.DataFrame) -> str:
    return prose(
        "A loop is repeated for seconds; its joules are those of the device's energy counter. With "
        "the idle power: all that the device takes, over the work; lines: range of the segments "
        "of a window. Without: less the power of the device with a context on which nothing runs. "
        "Marginal: slope of power over rate with 25 to 100 % of the SMs at work. A "
        "multiply-add is two operations.",
        (data.data == "zeros").any() and "Zeros switch fewer wires than random data.",
        not data.valid.all() and "A throttled window is invalid: its clock was lower.",
    )


@figure("energy_prices", "Energy of bytes and operations", 100, data, caption, size=(7, 6))
def draw(data: pd.DataFrame, figure: Figure) -> None:
    parts = [(key, data[(data.work_unit == "B") == (key == "B")]) for key in PANELS]
    parts = [(key, part.reset_index(drop=True)) for key, part in parts if len(part)]
    panels = stacked(figure, [len(part) for _, part in parts], 0.26)
    for ax, (key, part) in zip(panels, parts, strict=True):
        for nth, (column, (label, colour, marker)) in enumerate(PRICES.items()):
            here = part.assign(
                value=PICO * part[column].astype(float), low=PICO * part.low,
                high=PICO * part.high, at=part.index + 0.26 * (nth - 1),
            ).dropna(subset="value")  # fmt: skip
            look = {"color": colour, "marker": marker, "label": label, "ls": "", "ms": 4.5}
            points(ax, here, "value", "at", "x" if column == "gross" else "", **look)
            if column == "gross":
                beside_marks(ax, here.value.map(short), here.value, here["at"])
        plain_log(ax, "x", (1, 2, 5))
        ax.margins(x=0.12)
        listed(ax, part["_label"])
        ax.set_xlabel(PANELS[key])


def roofs(run: Run) -> pd.DataFrame:
    """Joules of a byte of each level, and those of an fp32 operation and of a second at rest."""
    known = energies(run)
    compute = known.get(("fp32", "random"))
    whole = compute.whole() if compute else None
    if compute is None or whole is None:
        return pd.DataFrame()
    found = [known[work, "random"] for work in ROOFS if (work, "random") in known]
    found = [one for one in found if one.whole()]
    if not found:
        return pd.DataFrame()
    lines = tidy(one.rows["rate"] for one in found).assign(
        level=[one.work for one in found],
        bytes_per_second=[(one.whole() or (0, 0))[0] for one in found],
        byte_watts=[(one.whole() or (0, 0))[1] for one in found],
        operations_per_second=whole[0],
        operation_watts=whole[1],
        rest_watts=next((p.rest for p in prices(run)), None),
    )
    return columns(
        lines, "level", "bytes_per_second", "byte_watts", "operations_per_second",
        "operation_watts", "rest_watts",
    )  # fmt: skip


def operations_per_joule(line: Any, intensity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of fp32 at so many operations for each byte, if both take their dynamic energy.

    The rest power is paid for as long as the slower of both takes.
    """
    rest = line.rest_watts
    operation = (line.operation_watts - rest) / line.operations_per_second
    byte = (line.byte_watts - rest) / line.bytes_per_second
    seconds = np.maximum(1 / line.operations_per_second, 1 / (intensity * line.bytes_per_second))
    joules: NDArray[np.float64] = operation + byte / intensity + rest * seconds
    return 1 / joules


ROOFS_CAPTION = (
    "Operations of fp32 multiply-adds for each joule against the operations for each byte that a "
    "level delivers: the energy of operations and bytes without the idle power, and the idle power "
    "for as long as the slower of both takes (after Choi, Bedard, Fowler and Vuduc 2013). Marks: "
    "the intensity at which bytes and operations cost the same energy."
)


@figure(
    "energy_intensity", "Operations per joule by intensity", 101, roofs, ROOFS_CAPTION,
    size=(7, 3.4),
)  # fmt: skip
def draw_roofs(data: pd.DataFrame, ax: Axes) -> None:
    intensity = np.logspace(-3, 9, 121, base=2)
    for _, line in data.dropna(subset="rest_watts").iterrows():
        label, colour, style = ROOFS[line.level]
        ax.plot(intensity, operations_per_joule(line, intensity) / 1e9, style, c=colour)
        balance = (line.byte_watts - line.rest_watts) / line.bytes_per_second
        balance /= (line.operation_watts - line.rest_watts) / line.operations_per_second
        mark = pd.DataFrame([{
            "x": balance, "y": operations_per_joule(line, np.array([balance]))[0] / 1e9,
            "valid": line.valid, "_row": line["_row"],
        }])  # fmt: skip
        points(ax, mark, "x", "y", color=colour, ls=style, marker="o", label=label)
    plain_log(ax, "x", (1,))
    plain_log(ax, "y", (1, 2, 5))
    ax.set(xlabel="fp32 operations per byte", ylabel="10⁹ operations per joule")


WORDS = {
    "mix_fma": "multiply-adds, two registers",
    "mix_mufu": "multiply-adds, powers of two",
    "mix_fma_tensor": "multiply-adds, mma",
    "mix_fma_tensor_mufu": "multiply-adds, mma, powers of two",
    "mix_memory": "reads of DRAM",
    "mix_dram_copy": "copy, DRAM",
    "mix_dram_triad": "triad, DRAM",
    "mix_l2_stride_2": "stride of 2, L2",
    "mix_dram_stride_2": "stride of 2, DRAM",
    "mix_dram_gather": "gather, DRAM",
}
KINDS = {"rest": "#BBBBBB", "bytes": "#0072B2", "operations": "#009E73"}


def power(run: Run) -> pd.DataFrame:
    """Measured and predicted power of mixes and rungs in W."""
    found = predictions(run)
    known = energies(run)
    bytes_of = [sum(w for p, w in one.shares.items() if _moves(p)) for one in found]
    lines = tidy(one.row for one in found).assign(
        work=[one.work for one in found],
        predicted=[one.watts for one in found],
        rest=[one.rest for one in found],
        bytes=bytes_of,
        operations=[
            sum(one.shares.values()) - moved for one, moved in zip(found, bytes_of, strict=True)
        ],
        error=[one.error for one in found],
        joules=[known[one.work, "random"].value("energy") or np.nan for one in found],
        joules_of=[known[one.work, "random"].unit for one in found],
        step_joules=[known[one.work, "random"].value("step_energy") or np.nan for one in found],
        _label=[_word(one.work) for one in found],
    )
    return columns(
        lines, "work", "predicted", "rest", "bytes", "operations", "error", "joules",
        "joules_of", "step_joules", measured="value",
    )  # fmt: skip


def _moves(price: str) -> bool:
    return price.startswith(("shared_", "l1_", "l2_", "l3_", "dram_", "host_"))


def _word(work: str) -> str:
    return WORDS.get(work, f"rung {work.removeprefix('rung_')}")


def power_caption(data: pd.DataFrame) -> str:
    errors = data[data.valid].error.abs()
    return prose(
        "Power of work that decided no price. Bars: predicted, the device with a context at rest "
        "and the work of each kind at its net price; marks: measured. Amounts follow from the "
        "construction of a mix and from the counted instructions of a rung.",
        len(errors)
        and f"Error: {100 * errors.median():.1f} % in the median, "
        f"{100 * errors.max():.1f} % at most.",
    )


@figure("energy_power", "Power predicted by prices", 102, power, power_caption, size=(7, 4))
def draw_power(data: pd.DataFrame, ax: Axes) -> None:
    start = pd.Series(0.0, data.index)
    for kind, colour in KINDS.items():
        drawn = ax.barh(
            data.index, data[kind], left=start, color=colour, height=0.6,
            label="at rest" if kind == "rest" else kind,
        )  # fmt: skip
        mark_rows(drawn, data)
        start += data[kind]
    shown = data.assign(at=data.index)
    points(ax, shown, "measured", "at", color="k", marker="|", ms=14, ls="", label="measured")
    beside_marks(
        ax, [f"{100 * error:+.0f} %" for error in data.error],
        data[["measured", "predicted"]].max(axis=1), data.index,
    )  # fmt: skip
    listed(ax, data["_label"])
    ax.margins(x=0.12)
    ax.set_xlabel("power (W)")
