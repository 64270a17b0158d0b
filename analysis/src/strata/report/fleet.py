"""Write what a fleet's verdict is.

    fleet.html                      the page: outliers, a heat map, each of the worst GPUs
    gpus.csv findings.csv           every GPU; all in which any is out
    families.csv quantities.csv     how far GPUs differ in every family and in every row
    compare/RUN/                    a GPU that is out beside the most typical one, row by row

The same runs give the same bytes.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from strata.compare import compare_all
from strata.compare.changes import Settings as Promise
from strata.compare.changes import better
from strata.compare.noise import LEAST
from strata.compare.words import percent
from strata.fleet import law, words
from strata.fleet.dataset import Part
from strata.fleet.judge import Fleet
from strata.fleet.sites import CONDITIONS, SITES
from strata.model import Table, plain
from strata.model.truth import load_run
from strata.report.attempt import attempt
from strata.report.page import environment
from strata.run import grouped, write_files

SHOWN = 50
"""GPUs of the heat map: the others are nearer to the fleet's centre."""
COMPARED = 10
"""GPUs that are out are compared with the typical one row by row, the worst so many."""
SHADES = (0.25, 0.5, 0.75, 1.0)
"""From which score on a cell has which shade; the last is out."""


class Column(NamedTuple):
    """Families of the heat map that share a column: of one benchmark and level, or all counts."""

    site: str
    name: str
    families: list[int]


def write(fleet: Fleet, parts: Sequence[Part], out: Path, *, compare: bool = True) -> Path:
    """Write the files of a judged fleet into the folder `out`; returns the path of the page.

    With `compare` the worst GPUs that are out are compared with the typical one, where the folders
    of both runs are still there. Raises OSError where a file cannot be written.
    """
    compared = _comparisons(fleet, out) if compare else {}
    # The GPUs of the page, the worst first.
    worst = np.nan_to_num(fleet.scores).max(axis=0, initial=0.0)
    rest = sorted(set(range(len(fleet.gpus))) - set(fleet.out), key=lambda gpu: -worst[gpu])
    shown = [*fleet.out, *rest][: max(SHOWN, len(fleet.out))]
    columns, rows = _columns(fleet), words.worst_rows(fleet, parts)
    sites = grouped(columns, lambda one: one.site)
    page = environment()
    page.filters["plain"] = plain
    text = page.get_template("fleet.html.j2").render(
        title=f"Strata: {fleet.gpus[0].entry.device}, {len(fleet.gpus)} GPUs",
        verdict=words.verdict(fleet),
        notes=words.notes(fleet),
        sites=[(SITES[site], len(of)) for site, of in sites.items()],
        columns=columns,
        gpus=[_gpu(fleet, gpu, columns, compared.get(gpu, ""), rows.get(gpu)) for gpu in shown],
        others=len(fleet.gpus) - len(shown),
        typical=words.name(fleet.gpus[fleet.typical].entry),
        families=words.family_table(fleet),
        started=min(gpu.entry.started for gpu in fleet.gpus),
        last=max(gpu.entry.started for gpu in fleet.gpus),
    )
    write_files(out, words.data(fleet) | {"fleet.html": text.encode()})
    return out / "fleet.html"


def _columns(fleet: Fleet) -> list[Column]:
    """The columns of the heat map, site by site."""

    def key(at: int) -> tuple[str, str]:
        one = fleet.families[at]
        if one.site in (CONDITIONS, "clock"):
            return one.site, one.line.quantity.replace("_", " ")
        timed = one.line.provenance == "timed"
        return one.site, f"{one.line.benchmark} {one.line.level}".strip() if timed else "counts"

    order = [*SITES]
    found = [Column(*of, at) for of, at in grouped(range(len(fleet.families)), key).items()]
    return sorted(found, key=lambda one: (order.index(one.site), one.name == "counts", one.name))


def _gpu(
    fleet: Fleet, gpu: int, columns: Sequence[Column], compared: str, rows: Table | None
) -> Mapping[str, Any]:
    entry, typical = fleet.gpus[gpu].entry, fleet.gpus[fleet.typical].entry
    runs = [one.folder or one.run for one in (typical, entry)]
    return {
        "key": f"g{gpu}",
        "name": words.name(entry),
        "brief": f"{entry.node} {entry.gpu[:12]}".strip(),
        "typical": gpu == fleet.typical,
        "run": entry.run,
        "started": entry.started,
        "out": gpu in fleet.out,
        "findings": words.findings_text(fleet, gpu),
        "missing": int(fleet.missing[gpu]),
        "invalid": int(fleet.invalid[gpu]),
        "cells": [_cell(fleet, gpu, column) for column in columns],
        "link": compared or f"#g{gpu}",
        "compared": compared,
        "command": shlex.join(["strata", "compare", *runs]),
        "rows": rows,
        "drift": _drift(fleet, gpu),
    }


def _cell(fleet: Fleet, gpu: int, column: Column) -> tuple[str, str]:
    """The shade of a cell of the heat map, slower, faster or other; and its title."""
    places = column.families
    known = ~np.isnan(fleet.shifts[places, gpu])
    if not known.any():
        return "none", f"{column.name}: not measured"
    scores = np.where(known, np.nan_to_num(fleet.scores[places, gpu]), -1)  # 0: all are alike
    at = places[int(np.argmax(scores))]
    score, line = float(scores.max()), fleet.families[at].line
    shade, change = sum(score >= least for least in SHADES), float(fleet.shifts[at, gpu])
    way, direction = "other", better(line)
    if direction != "neither" and line.provenance == "timed":
        way = "worse" if (change > 0) == (direction == "lower") else "better"
    title = f"{words.line(line)}: {percent(change)}, {score:.2g} of an alarm"
    return f"{way}{shade}" if shade else "calm", title


def _drift(fleet: Fleet, gpu: int) -> Mapping[str, Any] | None:
    """The family that moved most over the runs of a GPU: a line of its shifts in order of time."""
    of = fleet.gpus[gpu]
    if not of.earlier:
        return None
    place = {entry.run: at for at, entry in enumerate(fleet.runs)}
    shifts = fleet.history[:, [place[entry.run] for entry in (*of.earlier, of.entry)]]
    timed = np.array([one.line.provenance == "timed" and one.rows > 1 for one in fleet.families])
    moved = np.where(timed, np.abs(shifts[:, -1] - law.median(shifts[:, :-1], axis=1)), np.nan)
    if np.isnan(moved).all():
        return None
    at = int(np.nanargmax(moved))
    runs = np.flatnonzero(~np.isnan(shifts[at]))  # those that have the family
    values = shifts[at, runs]
    x = 72 + runs * 116 / max(shifts.shape[1] - 1, 1)
    y = 12 - 10 * values / max(np.abs(values).max(), LEAST)
    return {
        "family": words.line(fleet.families[at].line),
        "runs": len(of.earlier) + 1,
        "points": " ".join(f"{left:.1f},{top:.1f}" for left, top in zip(x, y, strict=True)),
        "ends": [percent(float(value)) for value in values[[0, -1]]],
    }


def _comparisons(fleet: Fleet, out: Path) -> dict[int, str]:
    """The pages of GPUs that are out beside the typical one, by GPU; a link from the fleet's."""
    from strata.report.comparison import write as write_comparison

    typical = fleet.gpus[fleet.typical].entry
    made = {}
    for gpu in fleet.out[:COMPARED]:
        entry = fleet.gpus[gpu].entry
        if gpu != fleet.typical and all(
            one.folder and Path(one.folder).is_dir() for one in (entry, typical)
        ):
            with attempt(f"The comparison of {entry.run} with {typical.run}"):
                runs = [load_run(Path(one.folder)) for one in (typical, entry)]
                write_comparison(*compare_all(runs, Promise()), out / "compare" / entry.run)
                made[gpu] = f"compare/{entry.run}/compare.html"
    return made
