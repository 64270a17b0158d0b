"""Which memory level served the reads of each case, compared with the level that it claims?

A case that claims L2 should hit nothing in L1 (except what its layout touches twice), and all in
L2.
"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from strata.figures._plot import figure
from strata.figures._style import NOTE, by_layout, hover, pale, parts
from strata.model import fields_name, level_name
from strata.model.counted import level_shares
from strata.run import Run

NAMES = {"l1_hit_share": "hit L1", "l2_hit_share": "hit L2", "dram_share": "from DRAM"}
INVALID = {"color": "#b03a00", "style": "italic"}


def data(run: Run) -> pd.DataFrame:
    """Every counted share of every case."""
    return pd.DataFrame(
        {
            "level": share.level, "fields": share.fields, "layout": share.layout,
            "counted": share.counted.value,
            "predicted": share.predicted.value if share.predicted else None,
            "share": share.name, "valid": share.counted.valid, "case": share.counted.case,
            "_row": share.counted,
            "_label": f"{level_name(share.level)} {share.layout}, {fields_name(share.fields)}, "
                      f"{share.counted.text('warps_per_sm')} warps, {NAMES[share.name]}",
        }
        for share in level_shares(run.of("layout_read"))
    )  # fmt: skip


def caption(data: pd.DataFrame) -> str:
    """The shares and their predictions."""
    return (
        f"Where the reads of layout_read were served, as counted, in percent: the range over the "
        f"cases of a level, set of fields and layout ({data.case.nunique()} cases). Hit L1: share "
        "of the sectors requested from L1; hit L2: share of those that missed L1; from DRAM: bytes "
        "read from memory over bytes that missed L1. In brackets: L1 hits that the level and the "
        "layout predict, because a layout that touches a sector twice hits L1 by itself. Orange: "
        "some cases are invalid. Empty: not counted."
    )


def percent(values: "pd.Series[float]") -> str:
    """The smallest and the largest share; one number if they agree."""
    return "–".join(dict.fromkeys(f"{round(100 * end)}" for end in (values.min(), values.max())))


@figure("level_proof", "Proof of the level", order=45, data=data, caption=caption)
def draw(data: pd.DataFrame, figure: Figure) -> None:
    """A table for each claimed level and set of fields: layouts by shares."""
    for ax, level, here in by_layout(figure, data, "level", line=0.29):
        for (at, share), cases in parts(here, ["at", "share"]):
            x, words = list(NAMES).index(share), percent(cases.counted)
            bad = (~cases.valid).sum()
            shown = f"{NAMES[share]}: {words} % in {len(cases)} cases"
            if cases.predicted.notna().any():
                words += f"\n({percent(cases.predicted)})"
            shade = pale("#0072B2", 0.3 * min(max(cases.counted.median(), 0), 1))
            (cell,) = ax.barh(at, 1, 0.94, x - 0.5, color=shade, gid="shade")
            hover(cell, [shown + (f", {bad} of them invalid" if bad else "")])
            look: dict[str, Any] = INVALID if bad else {}
            ax.text(x, at, words, ha="center", va="center", size=NOTE, linespacing=1, **look)
        ax.set(xlim=(-0.5, 2.5), xticks=range(3))
        ax.set_xticks(range(3), [name.replace(" ", "\n") for name in NAMES.values()])
        ax.set_ylabel(level_name(level), weight="bold")
        ax.set_xlabel("share (%)")
        ax.label_outer()
