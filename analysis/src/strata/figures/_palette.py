"""Colours and markers that mean the same in every figure; Okabe and Ito's, for every eye."""

from collections.abc import Iterable

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from strata.model import LAYOUTS, ordered

_LAYOUT_STYLE = {
    "aos": ("#D55E00", "o"),
    "soa": ("#0072B2", "s"),
    "aoas": ("#E69F00", "^"),
    "soaoas": ("#009E73", "D"),
    "aosoa32": ("#CC79A7", "v"),
}
_LEVEL_COLOUR = {
    "shared": "#CC79A7",
    "l1": "#56B4E9",
    "l2": "#0072B2",
    "l3": "#009E73",
    "dram": "#D55E00",
}
_OTHER = ("#666666", "X")
# Widths are ordered, so their colours are: viridis (made for every eye) without its palest end.
_WIDTH_STYLE = {
    1: ("#440154", "o"),
    2: ("#414487", "s"),
    4: ("#2a788e", "^"),
    8: ("#22a884", "D"),
    16: ("#8fc31f", "v"),
}

INK = "#262626"
GREY = "#7a7a7a"


def layout_style(layout: str) -> tuple[str, str]:
    """Colour and marker of a layout."""
    return _LAYOUT_STYLE.get(layout, _OTHER)


def width_style(width: int) -> tuple[str, str]:
    """Colour and marker of a width of access in bytes."""
    return _WIDTH_STYLE.get(width, _OTHER)


def level_colour(level: str | None) -> str:
    """Colour of a level of the hierarchy; grey without one."""
    return _LEVEL_COLOUR.get(level or "", _OTHER[0])


def level_ink(level: str | None) -> str:
    """The colour of words about a level: darker where a line's would be too pale to read."""
    return "#1f75a8" if level == "l1" else level_colour(level)


def hollow_key(marker: str = "o") -> Line2D:
    """What a legend shows for invalid points."""
    return Line2D(
        [], [], color=GREY, marker=marker, markerfacecolor="white", linestyle="none",
        label="invalid (hollow)",
    )  # fmt: skip


def present_layouts(layouts: Iterable[str]) -> list[str]:
    """The layouts that occur, in the order of every legend."""
    return ordered(layouts, LAYOUTS)


def legend_above(axes: Axes, handles: list[Artist]) -> None:
    """One legend for the whole figure, in a row above the panels."""
    axes.figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))


def legend_beside(axes: Axes, handles: list[Artist]) -> None:
    """One legend for the whole figure, in a column to the right of the panels."""
    axes.figure.legend(handles=handles, loc="outside right upper")


def invalid_note(labels: Iterable[str], shown: int = 4) -> str:
    """The sentence of a caption that owns up to invalid points; empty without any."""
    labels = list(labels)
    if not labels:
        return ""
    more = f"; and {len(labels) - shown} more" if len(labels) > shown else ""
    listed = "; ".join(labels[:shown])
    return f" Invalid, drawn hollow ({len(labels)}): {listed}{more}."
