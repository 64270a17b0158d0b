"""How many bytes move for each byte that is used, in each layout, on each generation of GPU?

What Figures 10 and 11 of Siegel et al. 2009 saw as time, said as traffic: the rules for global
memory that held on their 8800 GTX (compute capability 1.0), and those that came after. On the
generation at hand the hardware's own count stands beside the rule.
"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
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
        ruled = {place(item): f"{item.ratio:.3g}" for item in here if not item.counted}
        counts = {place(item) for item in here if item.counted}

        def mark(item: Moved) -> c.Mark:
            at = place(item)
            words = "" if at in counts and not item.counted else ruled.get(at, "")
            return c.Mark(at, item.ratio, item.low, item.high, item.row.valid, words)

        bars = c.by_look(
            [item for item in here if not item.counted], lambda item: item.layout, looks, mark,
            c.Bars, thick=0.86, words_size=5.8,
        )  # fmt: skip
        diamonds = c.Series(
            marks=[mark(item) for item in here if item.counted], look=COUNTED,
            label="counted here" if counts else "", spread="caps", words_size=5.8,
        )  # fmt: skip
        whole = c.Rule(at=1, look=c.Look(colour=c.GREY, line="--", width=0.7), order=0.9)
        return c.Panel(
            layers=[*bars, diamonds, whole],
            places=c.groups_axis(generations, len(layouts), GAP, label="compute capability"),
            values=c.Axis(label="bytes moved ÷ bytes used", zero=True),
            title=fields_name(fields),
        )

    of = c.grouped(items, lambda item: item.fields)
    rows = [[panel(fields, of[fields])] for fields in ordered(of, FIELDS)]
    width = 0.9 + 0.235 * pitch * len(generations)
    return c.Chart(rows=rows, width=min(max(width, 5.6), 9.6), height=0.9 + 2.0 * len(rows))


def caption(items: Sequence[Moved]) -> str:
    """What moves, what is used, and what was counted."""
    told = (
        "Diamonds: 32 bytes for each sector that the loads of layout_read asked of L1, counted "
        "on this device in its L2 cases (median; whiskers: range over cases) and drawn at "
        f"{COUNTING}."
        if any(item.counted for item in items)
        else "Nothing was counted to stand beside them."
    )
    return (
        "Bytes moved for each byte used by a warp that reads 32 particles, by memory layout. Bars: "
        "by the published rules of each generation; 1.0-1.1 is that of the 8800 GTX of Siegel et "
        f"al. 2009 (Figures 10 and 11). Dashed: nothing moves in vain. {told}"
    )


FIGURE = Figure(
    name="bytes_moved",
    title="Bytes moved for each byte used",
    order=50,
    items=lambda run: moved(run.rows),
    chart=chart,
    caption=caption,
    columns=attributes("fields", "generation", "layout")
    | attributes("provenance", "method", of="row")
    | attributes(moved_over_used="ratio", low="low", high="high")
    | attributes("valid", "case", of="row"),
    invalid=lambda item: "" if item.row.valid else f"{item.layout}, {fields_name(item.fields)}",
)
