"""Curves of a dependent load against the bytes of its chain."""

import pandas as pd

from strata.figures._plot import columns, rows_of, worded
from strata.model.cases import CLOCKS
from strata.model.units import size
from strata.run import Run, beside


def rows(run: Run, benchmark: str, curve: str) -> pd.DataFrame:
    """The rows of a chase; the axis `curve` names the curves."""
    axes = {curve: "?", "cores": "one", "stride": 0, "footprint": 0}
    return rows_of(run, benchmark, **axes).assign(curve=lambda found: found[curve])


def lines(found: pd.DataFrame) -> pd.DataFrame:
    """The load of each case by the clock in the kernel, by curve, cores and footprint.

    With several SMs, `low` and `high` are the nearest and the farthest SM. `load_seconds` is by an
    outside timer.
    """
    clocked = found[found.method.isin(CLOCKS)]
    is_load = (clocked.quantity == "load_cycles") & (clocked.provenance == "timed")
    loads = clocked[is_load].drop_duplicates("case")
    loads = loads.assign(
        low=beside(loads, clocked, "load_cycles_nearest").fillna(loads.minimum),
        high=beside(loads, clocked, "load_cycles_farthest").fillna(loads.maximum),
        load_seconds=beside(loads, found[found.valid], "load_time"),
    )
    return loads.sort_values(["curve", "cores", "footprint"], kind="stable", ignore_index=True)


def shown(loads: pd.DataFrame, *more: str) -> pd.DataFrame:
    """The published columns, and `more`."""
    named = loads.assign(_size=[*map(size, loads.footprint)])
    loads = loads.assign(_label=worded(named, "{curve}, {_size}"))
    return columns(
        loads, "curve", "cores", stride_bytes="stride", footprint_bytes="footprint",
        load_cycles="value", unit="unit", low="low", high="high", valid="valid", case="case",
        **{name: name for name in more},
    )  # fmt: skip
