"""Cut recorded runs down to tiny ones that still fill every figure.

    PYTHONPATH=analysis/src python tests/data/make_excerpt.py results/nvidia-h200/RUN …

Each RUN becomes tests/data/excerpt-RUN. Left are: of an axis with many values a few, the first and
the last among them; of the cases that were skipped one per benchmark; of many samples of one
quantity a few, in their order; and of what the chip itself counted, before anything was made of
it, that of the n-body suite and of a few cases of each other benchmark. The table follows from the
samples that are left, and the sweep names the cases that are left. Gates say what they said
of the whole run.

With --only BENCHMARK… nothing is left but their cases, and what the run says of them. With --map a
run becomes tests/data/map-RUN: only the cases whose numbers the map of the memory hierarchy shows,
and those that say why it lacks others.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from zlib import crc32

from strata.model.hierarchy import hierarchy
from strata.run import COLUMNS, Run, load_run, params_text

HERE = Path(__file__).resolve().parent

Params = Mapping[str, str]

FEW = 5
"""Values that are left of an axis of numbers, unless `LEFT` says otherwise."""

COUNTED = 6
"""Cases of a benchmark outside the n-body suite that keep what the chip itself counted."""

SAMPLES = 6
"""Samples that are left of a quantity: enough for its interval."""

PLACES = {"l2_partition"}
"""Benchmarks whose samples stand for places: there are as many as the device has."""

EVERY_LINE = 32
"""Of so many lines of `chip_map` one is left."""

LEFT: Mapping[str, Mapping[str, int | tuple[str, ...]]] = {
    # Curves whose steps are looked for: enough points on either side of each.
    "latency_vs_footprint": {"footprint": 18},
    "tlb": {"footprint": 20},
    "cache_geometry": {"carveout": 11},
    # Axes of a figure that is drawn for every value of them.
    "bandwidth": {"in_flight": 3},
    "block_size": {"block_size": 5},
    "bank_conflicts": {"stride": ("1", "2", "4", "8", "16", "31", "32")},
    "coalescing": {"stride": ("1", "2", "4", "8", "16", "33", "128"), "misalignment": 4},
    "issue_mix": {"multiply_adds": 6},
    "layout_read": {"block_size": ("32",), "warps_per_sm": 3},
    "request_merging": {"sms": 8, "delay": 15},
    "several_gpus": {"gpus": 4},
    "stride_gather": {"stride": 7, "locality": 8},
    "transfers": {"bytes": 6, "pieces": 4},
    "unrolled": {"unroll": 9},
}
"""How many values are left of an axis of a benchmark, or which; these axes come first."""


def spread(values: Sequence[str], count: int) -> set[str]:
    """`count` of the values, evenly spaced in their order, the first and the last among them."""
    if len(values) <= count:
        return set(values)
    if count == 1:
        return {values[-1]}
    last = len(values) - 1
    return {values[round(place * last / (count - 1))] for place in range(count)}


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def thinned(benchmark: str, cases: Mapping[str, Params]) -> set[str]:
    """The ids of the cases of one benchmark that are left.

    Axis by axis: cases that differ in nothing else keep a few of its values, so that an axis whose
    values depend on another one keeps the ends of each of its ranges.
    """
    left = dict(cases)
    rules = LEFT.get(benchmark, {})
    axes = sorted({name for params in cases.values() for name in params} - set(rules))
    for axis in (*rules, *axes):
        if any(number(params.get(axis, "0")) is None for params in cases.values()):
            continue
        rule = rules.get(axis, FEW)
        if isinstance(rule, tuple):
            left = {case: params for case, params in left.items() if params[axis] in rule}
            continue
        groups: dict[tuple[tuple[str, str], ...], dict[str, str]] = defaultdict(dict)
        for case, params in left.items():
            rest = tuple(sorted((key, value) for key, value in params.items() if key != axis))
            groups[rest][params.get(axis, "0")] = case
        kept: set[str] = set()
        for group in groups.values():
            kept |= {group[value] for value in spread(sorted(group, key=float), rule)}
        left = {case: params for case, params in left.items() if case in kept}
    return set(left)


def chosen(lines: Sequence[Mapping[str, Any]]) -> set[str]:
    """The ids of all cases that are left of the lines of a run."""
    latest = {line["case"]: line for line in lines if line["kind"] == "case"}
    measured: dict[str, dict[str, Params]] = defaultdict(dict)
    skipped: dict[str, str] = {}
    for case, line in latest.items():
        if line["status"] == "measured":
            measured[line["benchmark"]][case] = line["params"]
        else:
            skipped.setdefault(line["benchmark"], case)
    result = set(skipped.values())
    for benchmark, cases in measured.items():
        result |= thinned(benchmark, cases)
    return result


def of_the_map(run: Path, lines: Sequence[Mapping[str, Any]]) -> set[str]:
    """The ids of the cases behind the map of a run, with a thin curve of the TLB."""
    numbers = (one for level in hierarchy(load_run(run)).levels for one in level.numbers.values())
    result = {one.row.case for one in numbers if one.row}
    curve = {line["case"]: line["params"] for line in lines if line["benchmark"] == "tlb"}
    walked = {case: axes for case, axes in curve.items() if axes["allocation"] == "malloc"}
    skipped = {line["benchmark"]: line["case"] for line in lines if line["status"] == "skipped"}
    return (
        result | thinned("tlb", walked) | {skipped[one] for one in ("peer_copy",) if one in skipped}
    )


def raw_of(metrics: Collection[str], lines: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """(case, metric) of the chip's own counts that are left out."""
    cases: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        if line["kind"] == "counts" and line["suite"] != "nbody":
            cases[line["benchmark"]].append(line["case"])
    result: set[tuple[str, str]] = set()
    for some in cases.values():
        result |= {
            (case, metric) for case in set(some) - spread(some, COUNTED) for metric in metrics
        }
    return result


def read(path: Path) -> str:
    packed = path.with_name(path.name + ".gz")
    raw = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return raw.decode("utf-8")


def sealed(line: str) -> str:
    """A line with its checksum, as runs have it since version 3."""
    text = line.removesuffix("}\n")
    return f'{text},"crc32":"{crc32(text.encode()):08x}"}}\n'


def pack(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def some(samples: Sequence[float]) -> list[float]:
    """`SAMPLES` of the samples, evenly spaced, in their order."""
    places = sorted(int(place) for place in spread([f"{i}" for i in range(len(samples))], SAMPLES))
    return [samples[place] for place in places]


def thin_map(one: dict[str, Any]) -> list[float]:
    """The samples of a quantity of `chip_map`: those of all SMs, and of a few lines."""
    samples: list[float] = one["samples"]
    # There are as many lines as EVERY_LINE divides, so steps go on from an SM to the next.
    return samples[:: EVERY_LINE if one["quantity"].startswith("line_") else 1]


def left_of(benchmark: str, one: dict[str, Any]) -> list[float]:
    """The samples of a quantity that are left."""
    if benchmark == "chip_map":
        return thin_map(one)
    return list(one["samples"]) if benchmark in PLACES else some(one["samples"])


def table(run: Run) -> str:
    """The table that follows from the samples of a run."""
    buffer = StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for row in run.rows:
        cells = {name: getattr(row, name) for name in COLUMNS}
        cells["params"] = params_text(row.params)
        cells["valid"] = f"{row.valid}".lower()
        writer.writerow(["" if cell is None else cell for cell in cells.values()])
    return buffer.getvalue()


def cut(run: Path, out: Path, *, only_map: bool = False, only: Collection[str] = ()) -> Path:
    """Writes the excerpt of a run under `out`; returns its folder."""
    header = json.loads((run / "context.json").read_text(encoding="utf-8"))
    lines = [json.loads(text) for text in read(run / "samples.jsonl").splitlines()]
    lines = [line for line in lines if not only or line["benchmark"] in only]
    cases = of_the_map(run, lines) if only_map else chosen(lines)
    lines = [line for line in lines if line["case"] in cases]
    metrics = {quantity["metric"] for quantity in header.get("counters", {}).get("quantities", ())}
    without = raw_of(metrics, lines)
    if only_map:
        without = {(case, metric) for case in cases for metric in metrics}
    for line in lines:
        line.pop("crc32", None)  # of the whole line
        line["measurements"] = [
            one | {"samples": left_of(line["benchmark"], one)}
            for one in line.get("measurements", ())
            if (line["case"], one["method"]) not in without
        ]
    header["run"] = f"{'map' if only_map else 'excerpt'}-{header['run']}"
    header["sweep"]["cases"] = [case for case in header["sweep"]["cases"] if case in cases]
    if only:
        header["benchmarks"] = {name: header["benchmarks"][name] for name in only}
        if "rungs" in header:  # of older runs
            header["rungs"] = [rung for rung in header["rungs"] if rung["name"] in only]
        told = header.get("ladders", {})
        left = {
            suite: [one for one in rungs if one["name"] in only] for suite, rungs in told.items()
        }
        header["ladders"] = {suite: rungs for suite, rungs in left.items() if rungs}

    folder = out / str(header["run"])
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    written = [json.dumps(line, separators=(",", ":")) + "\n" for line in lines]
    if header["schema_version"] >= 3:
        written = list(map(sealed, written))
    pack(folder / "samples.jsonl.gz", "".join(written))
    context = folder / "context.json"
    # A run that is not complete may lack its table.
    context.write_text(json.dumps(header | {"state": "running"}), encoding="utf-8")
    pack(folder / "measurements.csv.gz", table(load_run(folder)))
    context.write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description="Cut recorded runs down to tiny ones.")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run folder")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR", help="where they go")
    parser.add_argument("--map", action="store_true", help="only what the map shows")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="BENCHMARK", help="only their cases"
    )
    arguments = parser.parse_args()
    for run in arguments.runs:
        folder = cut(run, arguments.out, only_map=arguments.map, only=arguments.only)
        size = sum(path.stat().st_size for path in folder.iterdir())
        sys.stdout.write(f"{folder}: {size / 1e3:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
