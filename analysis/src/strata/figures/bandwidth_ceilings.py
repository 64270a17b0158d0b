"""What does a level of memory give at the most, to wide and narrow words, in a row or apart?

The ceilings of the roofline of van den Braak, Mesman and Corporaal (2010, Fig. 3), each the best of
the measured rows of its kind: wide accesses are words in groups, lanes in a row are coalesced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from strata.figures import AxesGrid, Figure, Grid, flat
from strata.figures._palette import GREY, INK, invalid_note, legend_above, level_colour
from strata.model import level_name, ordered, units
from strata.reference import cite
from strata.run import Row
from strata.run.statistics import median

LEVELS = ("dram", "l2", "l1")
WORD = 4
"""Bytes; a wider access is a group of words."""

KINDS: Mapping[tuple[bool, bool], str] = {
    (True, True): "grouped and coalesced",
    (False, True): "ungrouped",
    (True, False): "uncoalesced",
    (False, False): "uncoalesced and ungrouped",
}
"""By whether words are grouped and lanes coalesced, from the highest ceiling to the lowest."""
ROOM = 4 * units.SPACE
"""Before the names: letters are a little wider at the resolution of the stored image."""
TERA = 1e12


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best bandwidth of one kind of access; `limit` is in B/s, None where nobody knows one."""

    level: str
    grouped: bool
    coalesced: bool
    row: Row
    limit: float | None
    whole: Row | None
    """The ceiling of grouped and coalesced accesses to the level."""

    @property
    def kind(self) -> str:
        """As the paper calls it."""
        return KINDS[self.grouped, self.coalesced]

    @property
    def shape(self) -> str:
        """The launch or the pattern that was best, in the words of its case."""
        params = self.row.params
        if self.row.benchmark == "bandwidth":
            return (
                f"{params['width']} B, {params['in_flight']} in flight, "
                f"{params['blocks_per_sm']} × {params['block_size']} threads"
            )
        return f"{params['width']} B, stride of {units.count(int(params['stride']))}"

    @property
    def share(self) -> float | None:
        """Of the ceiling of grouped and coalesced accesses; None where one of both is invalid."""
        if self.whole is None or not (self.row.valid and self.whole.valid):
            return None
        return self.row.value / self.whole.value


def _limits(rows: Sequence[Row]) -> dict[str, float]:
    """Of each level: what bandwidths are so many times as much as their shares of it."""
    bandwidths = {row.case: row for row in rows if row.quantity == "bandwidth"}
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.quantity == "share_of_limit" and row.value > 0 and row.case in bandwidths:
            whole = bandwidths[row.case].value / row.value
            found.setdefault(row.params["level"], []).append(whole)
    return {level: median(values) for level, values in found.items()}


def _candidates(rows: Sequence[Row]) -> list[tuple[tuple[str, bool, bool], Row]]:
    """Rows that may be a ceiling, by level, grouped, coalesced.

    Words in a row are read by both benchmarks, and the better launch counts. Of strides only the
    widest is uncoalesced for certain: lanes of narrower ones may share a sector or a line.
    """
    timed = [row for row in rows if row.provenance == "timed" and row.unit == "B/s"]
    result = []
    strided: dict[tuple[str, bool, bool], list[Row]] = {}
    for row in timed:
        params = row.params
        wide = int(params.get("width", WORD)) > WORD
        if row.quantity == "bandwidth" and params.get("operation") == "read":
            result.append(((params["level"], wide, True), row))
        elif row.quantity == "useful_bandwidth" and params.get("pattern") == "strided":
            near = params["stride"] == "1"
            strided.setdefault((params["level"], wide, near), []).append(row)
    for place, several in strided.items():
        widest = max(int(row.params["stride"]) for row in several)
        result += [(place, row) for row in several if int(row.params["stride"]) == widest]
    return result


def prepare(rows: Sequence[Row]) -> Sequence[Ceiling]:
    """The best valid row of each kind; an invalid one where there is no other."""
    mine = [
        row
        for row in rows
        if row.backend == "cuda" and row.benchmark in ("bandwidth", "stride_gather")
    ]
    best: dict[tuple[str, bool, bool], Row] = {}
    for place, row in _candidates(mine):
        other = best.get(place)
        if other is None or (row.valid, row.value) > (other.valid, other.value):
            best[place] = row
    limits = _limits(mine)
    return [
        Ceiling(level, *kind, best[level, *kind], limits.get(level), best.get((level, True, True)))
        for level in LEVELS
        for kind in KINDS
        if (level, *kind) in best
    ]


def _levels(ceilings: Sequence[Ceiling]) -> list[str]:
    return ordered((one.level for one in ceilings), LEVELS)


def grid(ceilings: Sequence[Ceiling]) -> Grid:
    """A panel for each level, one above the other."""
    levels = len(_levels(ceilings))
    return Grid(max(levels, 1), 1, width=8.4, height=0.5 + 0.6 * levels + 0.36 * len(ceilings))


def draw(ceilings: Sequence[Ceiling], axes: AxesGrid) -> None:
    """Bars from zero, each level on a scale of its own; dotted: what the level cannot exceed."""
    panels, levels = flat(axes), _levels(ceilings)
    counts = [len([one for one in ceilings if one.level == level]) for level in levels]
    place = panels[0].get_subplotspec()
    if place is not None:
        place.get_gridspec().set_height_ratios([count + 0.5 for count in counts])
    for panel, level in zip(panels, levels, strict=True):
        _panel([one for one in ceilings if one.level == level], panel)
        panel.set_title(level_name(level))
    panels[-1].set_xlabel("bytes that were wanted, a second (TB/s)")
    handles: list[Artist] = [Patch(facecolor=GREY, edgecolor=GREY, label="best measured")]
    if any(one.limit for one in ceilings):
        handles.append(
            Line2D(
                [], [], color=INK, linewidth=1.2, linestyle=":", label="what pins or lanes allow"
            )
        )
    if any(not one.row.valid for one in ceilings):
        handles.append(
            Patch(facecolor="white", edgecolor=GREY, linestyle="--", label="invalid (hollow)")
        )
    legend_above(panels[0], handles)


def _panel(ceilings: Sequence[Ceiling], panel: Axes) -> None:
    colour = level_colour(ceilings[0].level)
    limit = ceilings[0].limit
    top = max([one.row.maximum for one in ceilings] + ([limit] if limit else []))
    for place, one in enumerate(ceilings):
        row = one.row
        panel.barh(
            place, row.value / TERA, height=0.62, color=colour if row.valid else "white",
            edgecolor=colour, linewidth=0.9, linestyle="-" if row.valid else "--",
            label="_valid" if row.valid else "_invalid",
        )  # fmt: skip
        panel.hlines(place, row.minimum / TERA, row.maximum / TERA, color=INK, linewidth=1.2)
        words = units.quantity(row.value, "B/s")
        if one.share is not None and one.row is not one.whole:
            words += f", {_percent(one.share)}"
        # Beyond the dotted line where it would run through the words.
        end = max(limit, row.maximum) if limit and row.maximum > 0.7 * limit else row.maximum
        panel.annotate(
            words, (end / TERA, place), xytext=(5, 0), textcoords="offset points", va="center",
            fontsize=7.5, color=INK,
        )  # fmt: skip
    if limit:
        panel.axvline(limit / TERA, color=INK, linewidth=1.2, linestyle=":", label="_limit")
        panel.annotate(
            units.quantity(limit, "B/s"), (limit / TERA, 1), xycoords=("data", "axes fraction"),
            xytext=(0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=7.5,
            color=INK,
        )  # fmt: skip
    panel.set_xlim(0, 1.25 * top / TERA)
    panel.set_ylim(len(ceilings) - 0.45, -0.55)
    names = [f"{ROOM}{one.kind}\n{ROOM}({one.shape})" for one in ceilings]
    panel.set_yticks(range(len(ceilings)), names)
    panel.tick_params(axis="y", length=0)
    panel.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    panel.grid(visible=False, axis="y")


def _percent(share: float) -> str:
    return f"{100 * share:.3g}{units.SPACE}%"


def caption(ceilings: Sequence[Ceiling]) -> str:
    """What the four kinds are, which launch stands for each, and what does not count."""
    dram = next((one.limit for one in ceilings if one.level == "dram" and one.limit), None)
    pins = (
        " Dotted: bus width times clock for device memory "
        f"({units.quantity(dram, 'B/s')}), bytes a cycle times the clock held for L1."
        if dram
        else ""
    )
    return (
        "Ceilings of reading, after the roofline of van den Braak, Mesman and Corporaal (2010, "
        f"Fig. 3; there the words have 8 bits) {cite('vandenbraak2010access')}: accesses of 8 or "
        "16 bytes (words of 4 bytes in "
        "groups) or of 4 (ungrouped), by lanes in a row (coalesced) or as far apart as measured "
        "(uncoalesced). Bars: the best launch or pattern of each kind; in brackets its width, what "
        "a thread has in flight, and the blocks on an SM × their threads, or the stride in "
        "elements; lines in them: range of the samples; per cent: of the highest ceiling of the "
        f"level.{pins}"
        + invalid_note(
            f"{level_name(one.level)}, {one.kind} ({one.shape})"
            for one in ceilings
            if not one.row.valid
        )
    )


def cells(one: Ceiling) -> tuple[object, ...]:
    """One line of the data file."""
    row = one.row
    return (
        one.level, one.kind, row.benchmark, row.params["width"], row.value, row.minimum,
        row.maximum, one.limit or "", "" if one.share is None else one.share,
        row.valid, row.case,
    )  # fmt: skip


def source(one: Ceiling) -> Row:
    """The measured row."""
    return one.row


FIGURE = Figure(
    name="bandwidth_ceilings",
    title="Ceilings of bandwidth",
    order=91,
    prepare=prepare,
    grid=grid,
    draw=draw,
    caption=caption,
    columns=(
        "level", "ceiling", "benchmark", "width_bytes", "bytes_per_second", "low", "high",
        "limit_bytes_per_second", "share_of_grouped_and_coalesced", "valid", "case",
    ),
    cells=cells,
    source=source,
)  # fmt: skip
