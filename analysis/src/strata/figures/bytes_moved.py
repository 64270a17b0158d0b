"""How many bytes move for each used byte, in each layout, on each GPU generation?

Figures 10 and 11 of Siegel et al. 2009 show this as time; here it is traffic, by the rules of their
8800 GTX (compute capability 1.0) and of later generations, with the hardware's counts beside.
"""

from collections.abc import Sequence
from operator import attrgetter

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes, prose
from strata.model import FIELDS, fields_name, ordered
from strata.model.counted import COUNTING, GENERATIONS, Moved, moved

GAP = 0.9
"""Room between generations, in bars."""
COUNTED = c.Look(marker="D", size=3.6)


def chart(items: Sequence[Moved]) -> c.Chart:
    """Bars: by the rules of each generation. Diamonds: counted, with the range over cases."""
    looks = c.layout_looks(item.layout for item in items)
    layouts = list(looks)
    generations = ordered((item.generation for item in items), GENERATIONS)
    pitch = len(layouts) + GAP

    def place(item: Moved) -> float:
        return generations.index(item.generation) * pitch + layouts.index(item.layout)

    def panel(fields: str, here: Sequence[Moved]) -> c.Panel:
        rules, counts = ([i for i in here if i.counted == one] for one in (False, True))
        ruled = {place(item): f"{item.ratio:.3g}" for item in rules}
        hidden = {place(item) for item in counts}

        def mark(item: Moved) -> c.Mark:
            at = place(item)
            words = "" if at in hidden and not item.counted else ruled.get(at, "")
            return c.Mark(at, item.ratio, item.low, item.high, item.row.valid, words, row=item.row)

        of = attrgetter("layout")
        bars = c.by_look(rules, of, looks, mark, c.Bars, thick=0.86, words_size=5.8)
        label, marks = "counted here" if counts else "", [mark(item) for item in counts]
        diamonds = c.Series(marks, COUNTED, label, "caps", words_size=5.8)
        whole = c.Rule(1, c.Look(c.GREY, line="--", width=0.7), order=0.9)
        places = c.groups_axis(generations, len(layouts), GAP, label="compute capability")
        values = c.Axis("bytes moved ÷ bytes used", zero=True)
        return c.Panel([*bars, diamonds, whole], places, values, fields_name(fields))

    of = c.grouped(items, lambda item: item.fields)
    rows = [[panel(fields, of[fields])] for fields in ordered(of, FIELDS)]
    width = 0.9 + 0.235 * pitch * len(generations)
    return c.Chart(rows, min(max(width, 5.6), 9.6), 0.9 + 2.0 * len(rows))


def _caption(items: Sequence[Moved]) -> str:
    counted = any(item.counted for item in items)
    return prose(
        "Bytes moved per byte used by a warp that reads 32 particles, by memory layout. Bars: "
        "by the published rules of each generation; 1.0-1.1 is that of the 8800 GTX of Siegel "
        "et al. 2009 (Figures 10 and 11). Dashed: nothing is moved without being used.",
        counted
        and "Diamonds: 32 bytes per sector that the loads of layout_read requested from L1, "
        "counted on this device in its L2 cases (median; whiskers: range over cases) and "
        f"drawn at {COUNTING}.",
        not counted and "No counts are available for comparison.",
    )


FIGURE = Figure(
    "bytes_moved", "Bytes moved per byte used", 14,
    lambda run: moved(run.rows), chart, _caption,
    attributes("fields", "generation", "layout")
    | attributes("provenance", "method", of="row")
    | attributes(moved_over_used="ratio", low="low", high="high"),
    label=lambda item: f"{item.layout}, {fields_name(item.fields)}",
)  # fmt: skip
