"""Series of a figure can be distinguished: by colour with any colour vision, or by shape.

What an eye without one kind of cone sees is simulated with the matrices of Machado, Oliveira and
Fernandes (2009), severity 1.0, on linear RGB; a distance is that of CIE 1976 L*a*b*, D65. Two
series of a panel whose colours lie nearer than `LEAST` to one another in any eye must differ in
marker, line, hatch or filling too. The smallest distance of all others is printed (`pytest -s`).
"""

import re
import sys
from collections.abc import Collection
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from compare_images import PLOTS
from figure_images import drawings, figure_of, run_of
from plots import drawn as drawn_of
from plots import plotted, points_of
from strata.figures import _style

EYES = {
    "all cones": np.eye(3),
    "protanopia": np.reshape(
        [
            0.152286,
            1.052583,
            -0.204868,
            0.114503,
            0.786281,
            0.099216,
            -0.003882,
            -0.048116,
            1.051998,
        ],
        (3, 3),
    ),
    "deuteranopia": np.reshape(
        [
            0.367322,
            0.860646,
            -0.227968,
            0.280085,
            0.672501,
            0.047413,
            -0.011820,
            0.042940,
            0.968881,
        ],
        (3, 3),
    ),
}
TO_XYZ = np.reshape(
    [
        0.4124564,
        0.3575761,
        0.1804375,
        0.2126729,
        0.7151522,
        0.0721750,
        0.0193339,
        0.1191920,
        0.9503041,
    ],
    (3, 3),
)
ROOT = Path(__file__).parents[2]
LEAST = 15.0
"""Of CIE L*a*b*, where 2.3 can just be distinguished side by side."""


@cache
def lab(colour: str, eye: str) -> npt.NDArray[np.float64]:
    """The colour as the eye sees it."""
    rgb = np.asarray(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(EYES[eye] @ linear, 0, 1)
    t = TO_XYZ @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: str, other: str, eyes: Collection[str] = EYES) -> float:
    """Between two colours, in the eye that distinguishes them worst."""
    return float(min(np.linalg.norm(lab(one, eye) - lab(other, eye)) for eye in eyes))


class Seen(NamedTuple):
    """What distinguishes a series from others."""

    colour: str
    shape: tuple[object, ...]


def seen_in(ax: Axes) -> set[Seen]:
    """The colour and the shape of every series that is drawn in a panel."""
    lines = {
        Seen(
            to_hex(one.get_color()),
            (one.get_marker(), one.get_linestyle(), to_hex(one.get_markerfacecolor()) == "#ffffff"),
        )
        for one in ax.lines
        if points_of(one)
    }
    bars = {
        Seen(to_hex(one.get_facecolor()), ("bars", one.get_hatch(), one.get_linestyle()))
        for one in ax.patches
        if isinstance(one, Rectangle) and one in _style.tooltips and one.get_gid() != "shade"
    }
    return lines | bars


def pairs(figure: Figure, eyes: Collection[str] = EYES) -> list[tuple[float, str, str]]:
    """The distances of all pairs that only colour distinguishes."""
    with _style.styled():  # "C0" is a colour of the style
        shown = [seen_in(ax) for ax in figure.axes]
    return [
        (distance(one.colour, other.colour, eyes), one.colour, other.colour)
        for series in shown
        for one, other in combinations(sorted(series, key=str), 2)
        if one.shape == other.shape and one.colour != other.colour
    ]


@cache
def charts() -> list[tuple[str, Figure]]:
    """Every figure of the tiny runs and of their comparisons."""
    every: list[tuple[str, Figure]] = []
    for one in drawings():
        with plotted(figure_of(one), run_of(one.run)) as drawn:
            every.append((one.path.stem, drawn))
    for name, plot in PLOTS.items():
        with drawn_of(plot()) as drawn:
            every.append((f"compare {name}", drawn))
    return every


def test_series_are_told_apart_by_every_eye() -> None:
    found = {name: min(here) for name, chart in charts() if (here := pairs(chart))}
    for name, (least, *colours) in sorted(found.items(), key=lambda item: item[1]):
        sys.stdout.write(f"{least:6.1f}  {name}  {' '.join(colours)}\n")
    near = {name: pair for name, pair in found.items() if pair[0] < LEAST}
    assert not near


def test_the_manual_states_the_smallest_distances() -> None:
    text = (ROOT / "docs/figures.md").read_text(encoding="utf-8")
    told = re.findall(r"^- with ([a-z ]+): ([\d.]+) apart \(`(\w+)`\)", text, re.MULTILINE)
    assert [eye for eye, *_ in told] == list(EYES)
    for eye, said, figure in told:
        near = [(min(found)[0], name) for name, one in charts() if (found := pairs(one, [eye]))]
        assert f"{min(near)[0]:.1f}" == said, eye
        assert figure in {name.partition("-")[0] for least, name in near if least == min(near)[0]}
    assert f"at least {LEAST:g};" in text


def test_the_simulation_knows_what_is_confused() -> None:
    # Seen as nearly the same without the cones for long, or for middle, waves.
    assert distance("#ff0000", "#8f7f00") < distance("#ff0000", "#0000ff") / 2
    assert float(np.linalg.norm(lab("#ff0000", "all cones") - lab("#8f7f00", "all cones"))) > 60
    assert distance("#0072B2", "#0072B2") == 0
    for grey in ("#000000", "#808080", "#ffffff"):
        for eye in EYES:
            assert lab(grey, eye)[1:] == pytest.approx([0, 0], abs=0.5)


def test_a_pair_that_only_colour_tells_apart_is_found() -> None:
    def lines(other: str) -> Figure:
        figure = Figure()
        ax = figure.add_subplot()
        ax.plot([1], [1], "o", color=red)
        ax.plot([1], [1], other, color=brown)
        return figure

    red, brown = "#ff0000", "#8f7f00"
    ((_, *colours),) = pairs(lines("o"))
    assert set(colours) == {red, brown}
    assert not pairs(lines("s"))
