"""Which memory level served the reads of each case, compared with the level that it claims?

A case that claims L2 should hit nothing in L1 (except what its layout touches twice), and all in
L2.
"""

from collections.abc import Sequence

from strata.figures import _chart as c
from strata.figures._figure import Figure, attributes
from strata.model import LEVELS, fields_name, level_name, ordered
from strata.model.counted import SHARES, Share, level_shares

NAMES = {"l1_hit_share": "hit L1", "l2_hit_share": "hit L2", "dram_share": "from DRAM"}
PREDICTED = c.Look(marker="_", size=8)
STRIP = 0.17
"""Width of the strip of one layout; shares are 1 apart."""
JITTER = 0.1
"""How far the marks of one strip spread, evenly in the order of the cases."""


def chart(shares: Sequence[Share]) -> c.Chart:
    """One panel per claimed level, one strip per layout, one mark per case."""
    looks = c.layout_looks((share.layout for share in shares), line="", size=3.4, alpha=0.8)
    names = ordered((share.name for share in shares), SHARES)
    levels = c.grouped(shares, lambda share: share.level)
    top = max(100.0, *(100 * share.counted.value for share in shares))

    def panel(level: str) -> c.Panel:
        layers: list[c.Layer] = []
        strips = c.grouped(levels[level], lambda share: (share.name, share.layout))
        for (name, layout), here in strips.items():
            label, look = looks[layout]
            shift = STRIP * (list(looks).index(layout) - (len(looks) - 1) / 2)
            middle, last = names.index(name) + shift, len(here) - 1
            marks = [
                c.mark(middle + JITTER * (at / last - 0.5 if last else 0), share.counted, 0.01)
                for at, share in enumerate(here)
            ]
            said = {one.predicted.value: one.predicted for one in here if one.predicted}
            layers.append(c.Series(marks, look, label))
            dashes = [c.mark(middle, said[value], 0.01) for value in sorted(said)]
            layers.append(c.Series(dashes, PREDICTED, order=2.5))
        missing = set(names) - {share.name for share in levels[level]}
        layers += [
            c.Words(names.index(name), 50, "not counted", turned=90, size=7, colour=c.GREY)
            for name in sorted(missing)
        ]
        places = c.names_axis([NAMES[name] for name in names], grid=True)
        return c.Panel(layers, places, values, f"cases that claim {level_name(level)}")

    ends, ticks = (-0.04 * top, 1.04 * top), range(0, int(top) + 1, 25)
    values = c.Axis("share of the sectors (%)", limits=ends, ticks=ticks)
    row = [panel(level) for level in ordered(levels, LEVELS)]
    predicted = any(share.predicted for share in shares)
    keys = [c.Key("predicted", PREDICTED)] if predicted else []
    return c.Chart([row], max(0.5 + 3.0 * len(row), 5.6), 3.3, keys=keys)


def _caption(shares: Sequence[Share]) -> str:
    cases = len({share.counted.case for share in shares})
    return (
        f"Where the reads of layout_read were served, as counted: one mark per case ({cases} "
        "cases), a strip per layout. Hit L1: share of the sectors requested from L1; hit L2: "
        "share of those that missed L1; from DRAM: bytes read from memory over bytes that "
        "missed L1. Dashes: L1 hits that the level and the layout predict, because a layout "
        "that touches a sector twice hits L1 by itself."
    )


def _label(share: Share) -> str:
    place = f"{level_name(share.level)} {share.layout}, {fields_name(share.fields)}"
    return f"{place}, {share.counted.text('warps_per_sm')} warps, {NAMES[share.name]}"


FIGURE = Figure(
    "level_proof", "Proof of the level", 45,
    lambda run: level_shares(run.of("layout_read")), chart, _caption,
    attributes("level", "fields", "layout", share="name")
    | attributes("counted", "predicted"),
    row=lambda share: share.counted, label=_label,
)  # fmt: skip
