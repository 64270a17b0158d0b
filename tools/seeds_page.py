#!/usr/bin/env python3
"""Writes docs/seeds.md: each point of the documents that Strata implements, and its recorded row.

    seeds_page.py RUN...     writes the page from docs/seeds.csv and these run folders
    seeds_page.py --check    whether the page is what the runs that it names give
    seeds_page.py --shares RUN...  shares S, B and P of Siegel's equation 3, from counts

A cell holds the valid value of the one row that matches a point, or the range of several. A run
that comes later replaces the rows of an earlier one. Needs the analysis: PYTHONPATH=analysis/src.
Exit status: 0, 1 the page differs, 2 bad input.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import strata

ROOT = Path(__file__).parents[1]
PAGE = Path("docs/seeds.md")
DEVICES = {"H100": "h100", "H200": "h200", "CPU": ""}
"""Columns, and what a GPU's name contains."""

HEAD = """# The seed documents, point by point

Strata implements what five documents describe. Each point has the sweep that records its row
(`strata run sweeps/SWEEP.yaml`), the rows from an H100, an H200 and the CPU beside one of them,
and the document's own figure. A dash: no valid row yet. Made by `tools/seeds_page.py` from
`docs/seeds.csv`; do not edit.
"""
NO_ROW = "–"

Rows = Mapping[str, Sequence[strata.Row]]
"""Valid rows by device column."""


def points() -> list[dict[str, str]]:
    with (ROOT / "docs/seeds.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def load(folders: Sequence[Path]) -> Rows:
    """The valid rows of each device; of a case in several runs, those of the last."""
    found: dict[str, dict[tuple[str, ...], strata.Row]] = {name: {} for name in DEVICES}
    for folder in folders:
        run = strata.load_run(folder)
        for row in run.rows:
            if row.backend == "host":
                column = "CPU"
            else:
                names = (name for name, word in DEVICES.items() if word and word in row.device)
                column = next(names, "")
            if row.valid and column:
                key = (row.benchmark, str(sorted(row.params.items())), row.quantity, row.method)
                found[column][key] = row
    return {name: list(rows.values()) for name, rows in found.items()}


def matching(
    rows: Sequence[strata.Row], benchmark: str, params: str, quantity: str, method: str = ""
) -> Iterator[strata.Row]:
    """The rows of a point; without a method, the first of each case."""
    wanted = dict(pair.split("=") for pair in params.split(";") if pair)
    seen = set()
    for row in rows:
        if row.benchmark != benchmark or row.quantity != quantity:
            continue
        if (method and row.method != method) or not wanted.items() <= row.params.items():
            continue
        if (case := str(sorted(row.params.items()))) not in seen:
            seen.add(case)
            yield row


def cell(point: Mapping[str, str], rows: Rows, device: str) -> str:
    here = rows[device]
    found = list(
        matching(here, point["benchmark"], point["params"], point["quantity"], point["method"])
    )
    if not found:
        return NO_ROW
    low, high = min(row.value for row in found), max(row.value for row in found)
    unit = "" if found[0].unit == "1" else f" {found[0].unit}"
    if point["per"]:
        benchmark, params = point["per"].split(":")
        beside = [*here, *rows["CPU"]]
        other = [row.value for row in matching(beside, benchmark, params, point["quantity"])]
        if not other:
            return NO_ROW
        low, high, unit = low / max(other), high / max(other), " times"
    if len(found) == 1 or low == high:
        return f"{low:.4g}{unit}"
    return f"{low:.4g} to {high:.4g}{unit} ({len(found)} cases)"


def page(folders: Sequence[Path]) -> str:
    """The whole page."""
    rows = load(folders)
    lines = [HEAD]
    links = ", ".join(f"[{folder.name}](../results/{folder.parent.name}/{folder.name})"
                      for folder in folders)  # fmt: skip
    lines.append(f"Runs: {links or 'none yet'}.\n")
    for document, of_document in groupby(points(), lambda point: point["document"]):
        lines += [
            f"## {document}\n",
            f"| section | point | sweep | {' | '.join(DEVICES)} | document | remark |",
            "| --- | --- | --- |" + " --- |" * (len(DEVICES) + 2),
        ]
        for point in of_document:
            cells = [cell(point, rows, device) for device in DEVICES]
            sweep = f"`{point['sweep']}`" if point["sweep"] else ""
            benchmark = f" (`{point['benchmark']}`)" if point["benchmark"] else ""
            what = point["point"] + benchmark
            texts = [point["section"], what, sweep, *cells, point["published"], point["remark"]]
            lines.append(f"| {' | '.join(texts)} |")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def shares(folders: Sequence[Path]) -> Iterator[str]:
    """Shares S, B and P of the kernel of Gravit: a thread's setup, a tile, and an interaction.

    P is what the inner loop executes for an interaction: arithmetic, the root and the shared load,
    by their counters. What is left of all instructions grows by B with each tile and has S beside
    it, so that two sizes decide both; the loop's own instructions are in B.
    """
    tile, lanes = 128, 32
    for device, rows in load(folders).items():
        rests: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
        for row in matching(rows, "gravit_tile", "", "executed_instructions"):
            counts = {
                name: next(
                    (one.value for one in rows if one.params == row.params
                     and one.benchmark == row.benchmark and one.quantity == name), None)
                for name in ("fp32_add", "fp32_mul", "fp32_fma", "xu_thread_instructions",
                             "shared_load_requests")
            }  # fmt: skip
            if None in counts.values():
                continue
            bodies = int(row.params["bodies"])
            inner = sum(float(one or 0) for one in counts.values())
            inner += (lanes - 1) * float(counts["shared_load_requests"] or 0)
            threads = -(-bodies // tile) * tile
            per_interaction = inner / threads / threads
            rest = row.value * lanes / threads - per_interaction * threads
            key = (row.params["layout"], row.params["unroll"])
            rests.setdefault(key, []).append((threads // tile, rest, per_interaction))
        for (layout, unroll), sizes in rests.items():
            (few, at_few, _), (many, at_many, inner) = min(sizes), max(sizes)
            if few == many:
                continue
            of_tile = (at_many - at_few) / (many - few)
            setup = at_few - few * of_tile
            whole = setup + of_tile + inner
            yield (
                f"{device} {layout} unroll {unroll}: S {setup:.1f} ({setup / whole:.0%}), "
                f"B {of_tile:.1f} ({of_tile / whole:.0%}), P {inner:.2f} ({inner / whole:.0%})"
            )


def main(words: Sequence[str]) -> int:
    if words[:1] == ["--shares"]:
        print("\n".join(shares([Path(word) for word in words[1:]])))
        return 0
    if list(words) == ["--check"]:
        text = (ROOT / PAGE).read_text(encoding="utf-8")
        named = re.findall(r"\]\(\.\./(results/[^)]+)\)", text)
        if text == page([ROOT / name for name in named]):
            return 0
        print(f"{PAGE}: differs from its rows; tools/seeds_page.py RUN… writes it")
        return 1
    folders = [Path(word).resolve() for word in words]
    if missing := [folder for folder in folders if not folder.is_dir()]:
        print(f"{missing[0]}: no such folder; expected a run folder below results", file=sys.stderr)
        return 2
    (ROOT / PAGE).write_text(page(folders), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
