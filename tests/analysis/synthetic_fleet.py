"""A fleet made from recorded runs: what each row is, how far chips and runs differ, and faults.

    PYTHONPATH=analysis/src python tests/analysis/synthetic_fleet.py DATASET [GPUS]
    PYTHONPATH=analysis/src python tests/analysis/synthetic_fleet.py --sound FLEETS GPUS ROWS

The first writes a data set of 1,000 GPUs with the rows of the newest run of an H200, 20 of them
with a fault of 10 kinds, and prints which; the second judges fleets without a fault.

Families move from GPU to GPU, with the other families of their site and by themselves, as two
recorded chips differ; rows by as much as the same rows of two chips; both by Student's law, of
heavy tails. One GPU in seven loads faster out of DRAM, as recorded. Of the chains over a footprint
and of the copies one value in 300 jumps by some percent, as in three runs of one chip.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
from msgspec.structs import replace

from strata.compare.changes import better
from strata.compare.noise import LEAST
from strata.fleet import dataset, judge
from strata.fleet.dataset import Entry, Line
from strata.fleet.sites import site
from strata.model.truth import load_run
from strata.run import Run, grouped

Vector = npt.NDArray[np.float64]

FREEDOM = 6  # of Student's law, for rows and families alike
CALM = 0.0003  # between chips, of a family of which nothing is recorded
WILD = 0.05  # no family differs by more
FASTER = 0.15  # GPUs of the other kind of DRAM
JUMPS = 1 / 300
JUMPY = ("latency_vs_footprint", "transfers")


@dataclass(frozen=True)
class World:
    """The rows of one GPU: what they are, their values, and how far families and rows move."""

    entry: Entry
    table: pa.Table
    lines: tuple[Line, ...]
    values: Vector
    families: npt.NDArray[np.int64]
    sites: npt.NDArray[np.int64]
    family_sigmas: Vector
    row_sigmas: Vector
    dram_loads: npt.NDArray[np.bool_]
    jumpy: npt.NDArray[np.bool_]

    def gpu(self, rng: np.random.Generator) -> Vector:
        """The values of one GPU without a fault."""
        student = rng.standard_t
        shift = self.family_sigmas * student(FREEDOM, len(self.family_sigmas))
        common = student(FREEDOM, self.sites.max() + 1)[self.sites]
        moved = (shift[self.families] + common * self.family_sigmas[self.families]) / 2**0.5
        moved += self.row_sigmas * student(FREEDOM, len(self.values))
        moved[self.dram_loads] -= 0.036 * (rng.random() < FASTER)
        jumps = self.jumpy & (rng.random(len(moved)) < JUMPS)
        moved[jumps] += rng.uniform(0.03, 0.1, jumps.sum()) * rng.choice([-1, 1], jumps.sum())
        return np.asarray(self.values * np.exp(moved))


def world(run: Run, other: Run | None = None, most: int | None = None) -> World:
    """The rows of `run`, at most so many spread over it; they differ as those of `other` do."""
    step = -(-len(run.rows) // most) if most else 1
    run = replace(run, rows=run.rows[::step])
    table = dataset.table_of(run)
    words = [table[name].to_pylist() for name in Line._fields]
    lines = tuple(Line(*of) for of in zip(*words, strict=True))
    values = np.array([row.value for row in run.rows])
    valid = np.array([row.valid for row in run.rows])
    found = grouped(range(len(lines)), lambda at: judge.key(lines[at]))
    families = np.zeros(len(lines), int)
    family_sigmas, row_sigmas = np.full(len(found), CALM), np.zeros(len(lines))
    theirs = {row.key: row.value for row in other.rows if row.valid} if other else {}
    distances = np.full(len(lines), np.nan)
    for at, row in enumerate(run.rows):
        there = theirs.get(row.key, 0.0)
        if row.valid and row.value > 0 and there > 0:
            distances[at] = np.log(there / row.value)
    for number, places in enumerate(found.values()):
        families[places] = number
        known = distances[places][~np.isnan(distances[places])]
        exact = lines[places[0]].provenance != "timed" and (not len(known) or not known.any())
        if exact:
            family_sigmas[number] = 0.0
            continue
        middle = float(np.median(known)) if len(known) else 0.0
        family_sigmas[number] = min(max(abs(middle) / 2**0.5, CALM), WILD)
        apart = np.abs(distances[places] - middle) / 2**0.5
        usual = float(np.nanmedian(apart)) if len(known) else 0.001
        row_sigmas[places] = np.minimum(np.where(np.isnan(apart), usual, apart), WILD) + LEAST / 2
    kinds = {name: at for at, name in enumerate(dict.fromkeys(map(site, lines)))}
    return World(
        dataset.entry_of(run), table, lines, values, families,
        np.array([kinds[site(line)] for line in lines]), family_sigmas, row_sigmas,
        np.array([site(of) == "dram" and of.quantity.startswith("load_") for of in lines]),
        np.array([of.benchmark in JUMPY and site(of) != "clock" for of in lines]) & (row_sigmas > 0)
        & (np.bincount(families, valid)[families] >= 5),
    )  # fmt: skip


Fault = Callable[[World, Vector, dict[str, Any], np.random.Generator], None]


def _slower(world: World, values: Vector, rows: npt.NDArray[np.bool_], share: float) -> None:
    """Rows that take `share` more time, or do so much less in a time."""
    for at in np.flatnonzero(rows):
        direction = better(world.lines[at])
        values[at] *= {"lower": 1 + share, "higher": 1 / (1 + share), "neither": 1.0}[direction]


def _where(world: World, test: Callable[[Line], bool]) -> npt.NDArray[np.bool_]:
    return np.array([line.provenance == "timed" and test(line) for line in world.lines])


def _bandwidth(line: Line) -> bool:
    return site(line) == "dram" and ("bandwidth" in line.quantity or "per_second" in line.quantity)


def dram_bandwidth(world: World, values: Vector, _: Any, __: Any) -> None:
    """1 % less of what DRAM streams."""
    _slower(world, values, _where(world, _bandwidth), 0.01)


def dram_latency(world: World, values: Vector, _: Any, __: Any) -> None:
    """Loads out of DRAM take 2 % longer."""
    _slower(
        world, values, _where(world, lambda of: site(of) == "dram" and "load" in of.quantity), 0.02
    )


def memory_stack(world: World, values: Vector, _: Any, rng: np.random.Generator) -> None:
    """One of six stacks: a sixth of the rows of DRAM, by where they lie, take 5 % longer."""
    here = _where(world, lambda of: site(of) == "dram")
    _slower(world, values, here & (rng.random(len(values)) < 1 / 6), 0.05)


def l2_slice(world: World, values: Vector, _: Any, rng: np.random.Generator) -> None:
    """A slow slice: an eighth of the rows of L2 take 4 % longer."""
    here = _where(world, lambda of: site(of) == "l2")
    _slower(world, values, here & (rng.random(len(values)) < 1 / 8), 0.04)


def host_link(world: World, values: Vector, _: Any, __: Any) -> None:
    """Half of the lanes to the host."""
    _slower(world, values, _where(world, lambda of: site(of) == "host"), 1.0)


def clocks_low(world: World, values: Vector, _: Any, __: Any) -> None:
    """SM clocks held at 1755 of 1980 MHz: all that is not memory takes so much longer."""
    share = 1980 / 1755 - 1
    values[_where(world, lambda of: site(of) == "clock" and of.unit == "Hz")] /= 1 + share
    places = ("l1", "compute", "clock")
    _slower(
        world, values, _where(world, lambda of: site(of) in places and of.unit != "cycle"), share
    )


def warm(world: World, values: Vector, after: dict[str, Any], _: Any) -> None:
    """30 degrees warmer than others, and 1.5 % slower where the chip draws its limit of power."""
    after["temperature_celsius"] += 30
    _slower(world, values, _where(world, lambda of: of.suite == "nbody"), 0.015)


def memory_errors(_: World, __: Vector, after: dict[str, Any], rng: np.random.Generator) -> None:
    """Some bits of DRAM were corrected while it ran."""
    after["ecc_corrected_errors"] = int(rng.integers(1, 50))


def slow_sm(world: World, values: Vector, _: Any, __: Any) -> None:
    """One SM is 4 % slower: what is of the slowest SM."""
    _slower(
        world,
        values,
        _where(world, lambda of: of.quantity.endswith(("_slowest", "_farthest"))),
        0.04,
    )


def smaller_l2(world: World, values: Vector, _: Any, __: Any) -> None:
    """A part of L2 is off: rows near its end miss, and counters see it."""
    for at, line in enumerate(world.lines):
        if line.provenance == "counted" and line.level == "l2" and "miss" in line.quantity:
            values[at] *= 1.3
        elif (
            line.provenance == "timed"
            and line.level == "l2"
            and line.benchmark == "latency_vs_footprint"
        ):
            values[at] *= 1.02 if better(line) == "lower" else 1.0


FAULTS: Mapping[str, Fault] = {
    of.__name__: of
    for of in (
        dram_bandwidth, dram_latency, memory_stack, l2_slice, host_link, clocks_low, warm,
        memory_errors, slow_sm, smaller_l2,
    )
}  # fmt: skip


def made(
    world: World, gpus: int, seed: int, faults: Sequence[str] = (), *, runs: int = 1
) -> Iterator[tuple[Entry, Vector, str]]:
    """Each run of so many GPUs, its values and its fault; the last run of a GPU is struck."""
    rng = np.random.default_rng(seed)
    struck = dict(zip(rng.choice(gpus, len(faults), replace=False).tolist(), faults, strict=True))
    for gpu in range(gpus):
        base = world.gpu(rng)
        for time in range(runs):
            again = world.row_sigmas * rng.standard_t(FREEDOM, len(base)) if time else 0.0
            values = base * np.exp(again)
            after = {**world.entry.after, "temperature_celsius": 56 + 3 * rng.normal()}
            after["power_watts"] = 490 + 10 * rng.normal()
            fault = struck.get(gpu, "") if time == runs - 1 else ""
            if fault:
                FAULTS[fault](world, values, after, rng)
            entry = replace(
                world.entry, run=f"{world.entry.model}-2026{time + 1:02d}01T000000Z-{gpu:07x}",
                gpu=f"GPU-{gpu:08x}", node=f"node{gpu // 8}", folder="",
                started=f"2026-{time + 1:02d}-01T00:00:00Z", after=after,
                before={**world.entry.before, "temperature_celsius": 35 + 2 * rng.normal()},
            )  # fmt: skip
            yield entry, values, fault


def judged(
    world: World, settings: judge.Settings, runs: Iterator[tuple[Entry, Vector, str]]
) -> tuple[judge.Fleet, dict[str, str]]:
    """The verdict about these runs, without files, and which GPU has which fault."""
    entries, values, faults = zip(*runs, strict=True)
    of = dict(zip((entry.run for entry in entries), values, strict=True))

    def read(names: Sequence[str]) -> Iterator[dataset.Block]:
        matrix = np.array([of[name] for name in names], np.float32)
        yield dataset.Block(world.lines, matrix, np.zeros(len(names), np.int64))

    truth = {entry.gpu: fault for entry, fault in zip(entries, faults, strict=True) if fault}
    return judge.judged(read, entries, settings), truth


def write(folder: Path, world: World, runs: Iterator[tuple[Entry, Vector, str]]) -> dict[str, str]:
    """A data set of these runs; which GPU has which fault."""
    for name in ("runs", "rows"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    place = world.table.schema.names.index("value")
    entries: list[Entry] = []
    tables: list[pa.Table] = []
    truth = {}
    for entry, values, fault in runs:
        if fault:
            truth[entry.gpu] = fault
        names = pa.DictionaryArray.from_arrays(np.zeros(len(values), np.int32), [entry.run])
        entries.append(entry)
        tables.append(
            world.table.set_column(place, "value", pa.array(values)).set_column(0, "run", names)
        )
        if sum(map(len, tables)) > dataset.PART:
            dataset._write(folder, entries, tables)
            entries, tables = [], []
    if entries:
        dataset._write(folder, entries, tables)
    return truth


def main(what: str, *numbers: str) -> None:
    results = Path(__file__).parents[2] / "results" / "nvidia-h200"
    newest = load_run(results / "nvidia-h200-20261123T162625Z-f6fa469")
    chip = load_run(results / "nvidia-h200-20261123T002621Z-ab29669")
    if what == "--sound":
        fleets, gpus, rows = map(int, numbers)
        some = world(newest, chip, rows)
        settings = judge.Settings(false_alarm=0.1)
        of = (judged(some, settings, made(some, gpus, seed))[0] for seed in range(fleets))
        alarms = sum(bool(fleet.out) for fleet in of)
        print(f"{alarms} of {fleets} fleets of {gpus} GPUs raise an alarm; declared: 10 %")  # noqa: T201
        return
    all_rows = world(newest, chip)
    gpus = int(numbers[0]) if numbers else 1000
    for gpu, fault in write(Path(what), all_rows, made(all_rows, gpus, 1, [*FAULTS] * 2)).items():
        print(gpu, fault)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
