"""A fleet's data set: many runs as Parquet, appended to and read back a block at a time.

    DATASET/runs/PART.parquet   a line a run: which GPU of which node, when, by which build
    DATASET/rows/PART.parquet   its rows, as `rows_schema` has them, sorted by benchmark

Each `add` writes one part or a few, the lines of its runs last: without them its rows are not
there. Anything reads it (DuckDB: `select * from 'DATASET/rows/*.parquet'`). It is read by pyarrow,
which the package needs anyway, one block of benchmarks at a time, whatever the size of the data
set.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from strata.compare.changes import level_of
from strata.model.truth import load_run
from strata.run import Context, Run, RunError, grouped, write_files
from strata.run.files import regular
from strata.run.private import hidden
from strata.run.schema import WORD, Count, Utc

VERSION = 1
_WORDS = (
    "run", "suite", "benchmark", "level", "case", "quantity", "method", "unit", "provenance",
)  # fmt: skip
rows_schema = pa.schema(
    [
        *((name, pa.dictionary(pa.int32(), pa.string())) for name in _WORDS),
        ("value", pa.float64()),
        ("valid", pa.bool_()),
    ]
)
"""The columns of a part: the words of a row, its value in its unit, whether all gates held."""

GROUP = 1 << 13
"""Rows of a row group of one run, at least: a group ends where a benchmark does."""
PART = 1 << 21
"""Rows from which on a part is written."""
RUNS = 5000
"""So many runs at most are in a part."""
BLOCK = 1 << 22
"""Rows of a block, unless one benchmark alone has more."""
CELLS = 1 << 27
"""Values of a block's matrix of which rows fill less than a quarter."""
MOST_OF_GROUP = 512 << 20
"""Bytes that a row group may unpack to; so may the file of a part's runs."""
ENOUGH = 16
"""Run folders that are worth a process of its own."""
SKEW = timedelta(days=1)
"""By so much the clock of a node may be ahead."""

Matrix = npt.NDArray[np.float32]
Refused = Callable[[str], None]
"""Takes one line about what cannot be used."""


class Entry(msgspec.Struct, frozen=True):
    """A run of a fleet: where and when, and the conditions that its context records.

    `gpu` is the UUID, or its substitute; `sizes` counts rows by benchmark; `folder` is empty
    in anonymous data sets.
    """

    run: Annotated[str, msgspec.Meta(pattern=rf"^(?!\.+$){WORD.pattern}\Z")]
    gpu: str
    node: str
    model: str
    device: str
    started: Utc
    state: str
    build: str
    folder: str
    facts: Mapping[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    sizes: Mapping[str, Count]


class Line(NamedTuple):
    """What a row of a fleet is of, in the words of `measurements.csv`; `level` is its family's."""

    suite: str
    benchmark: str
    level: str
    case: str
    quantity: str
    method: str
    unit: str
    provenance: str


class Part(NamedTuple):
    """Rows of some runs, and the runs."""

    rows: Path
    entries: tuple[Entry, ...]


# --- writing --------------------------------------------------------------------------------------


def add(dataset: Path, folders: Sequence[Path], refused: Refused, *, unnamed: bool = False) -> int:
    """Append the runs in `folders` to the data set, which is made where there is none; how many.

    What cannot be used costs one line to `refused`, and the rest goes on: a run that is damaged, of
    an unknown schema version, from the future, or of a name that is there already. `unnamed` hides
    the UUIDs of GPUs and leaves out nodes and folders. Raises `RunError` where `dataset` is
    something else, or OSError.
    """
    known = {entry.run for part in parts(dataset, refused) for entry in part.entries}
    for name in ("runs", "rows"):
        (dataset / name).mkdir(parents=True, exist_ok=True)
    tables: list[pa.Table] = []
    entries: list[Entry] = []
    added = 0

    def write() -> None:
        nonlocal added
        if entries:
            _write(dataset, entries, tables)
            added += len(entries)
            entries.clear()
            tables.clear()

    for folder, found in _read_all(folders, unnamed=unnamed):
        if isinstance(found, str):
            refused(found)
            continue
        entry, table = found
        if entry.run in known:
            refused(f"{folder}: found the run {entry.run} again; expected each run once")
            continue
        known.add(entry.run)
        entries.append(entry)
        tables.append(table)
        if len(entries) >= RUNS or sum(map(len, tables)) >= PART:
            write()
    write()
    return added


_Read = str | tuple[Entry, pa.Table]


def _read_all(folders: Sequence[Path], *, unnamed: bool) -> Iterator[tuple[Path, _Read]]:
    """Each folder with what was read of it, in their order; by all cores where there are many."""
    read = partial(_read, unnamed=unnamed)
    workers = min(len(os.sched_getaffinity(0)), len(folders) // ENOUGH)
    with ExitStack() as stack:
        if workers > 1:
            fresh = get_context("forkserver")  # no threads of Arrow or OpenMP are in it
            pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=fresh))
            chunk = max(1, min(64, len(folders) // (8 * workers)))
            yield from zip(folders, pool.map(read, folders, chunksize=chunk), strict=True)
        else:
            yield from zip(folders, map(read, folders), strict=True)


def _read(folder: Path, *, unnamed: bool) -> _Read:
    try:
        run = load_run(folder)
        return entry_of(run, unnamed=unnamed), table_of(run)
    except RunError as error:
        return f"{error}"
    except (OSError, ArithmeticError, ValueError) as error:
        return f"{folder}: cannot be read: {error}"


def entry_of(run: Run, *, unnamed: bool = False) -> Entry:
    """The line of a run; raises `RunError` for one that began later than now."""
    context = run.context
    began = datetime.fromisoformat(context.started)
    if began > datetime.now(UTC) + SKEW:
        found, fix = f"a run from the future ({context.started})", "set the clock of its node"
        raise RunError(run.folder, found=found, expected="one that has begun", fix=fix)
    gpu, node = gpu_of(context)
    sizes = {name: len(rows) for name, rows in grouped(run.rows, lambda row: row.benchmark).items()}
    return Entry(
        run=context.run,
        gpu=hidden(gpu) if unnamed and gpu != context.run else gpu,
        node="" if unnamed else node,
        model=context.device.slug,
        device=context.device.name,
        started=context.started,
        state=context.state,
        build=context.build.source_digest,
        folder="" if unnamed else f"{run.folder.absolute()}",
        facts={name: fact for name, fact in context.device.facts.items() if name != "pci_bus_id"},
        before=context.clocks_before,
        after=context.clocks_after,
        sizes=sizes,
    )


def gpu_of(context: Context) -> tuple[str, str]:
    """The GPU of a run, by its UUID or its substitute, and its node."""
    node = str(context.host.facts.get("name") or "")
    # A CPU is the node's; a device without any identification is known by its run alone.
    gpu = context.device.uuid or (node if context.backend == "host" else "") or context.run
    return gpu, node


def table_of(run: Run) -> pa.Table:
    """The rows of a run as a table of `rows_schema`."""
    level, rows = level_of(run), run.rows
    columns = {name: [getattr(row, name) for row in rows] for name in _WORDS if name != "level"}
    columns["level"] = [level(row) for row in rows]
    return pa.table(
        [pa.array(columns[name], pa.string()).dictionary_encode() for name in _WORDS]
        + [pa.array([row.value for row in rows], pa.float64()), pa.array([r.valid for r in rows])],
        rows_schema,
    )


def _write(dataset: Path, entries: Sequence[Entry], tables: Sequence[pa.Table]) -> None:
    """One part, its rows and its runs, whole or not at all."""
    names = "\n".join(entry.run for entry in entries)
    stem = f"{entries[0].run}-{hashlib.sha256(names.encode()).hexdigest()[:12]}.parquet"
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    order = np.argsort(_plain(table["benchmark"]), kind="stable")
    table = table.take(pa.array(order))
    metadata = {b"strata.fleet": f"{VERSION}".encode()}
    rows, runs = BytesIO(), BytesIO()
    schema = rows_schema.with_metadata(metadata)
    with pq.ParquetWriter(rows, schema, compression="zstd", write_page_checksum=True) as file:
        for start, stop in _groups(_plain(table["benchmark"])):
            file.write_table(table.slice(start, stop - start).cast(schema))
    lines = pa.table(
        {
            "run": [entry.run for entry in entries],
            "gpu": [entry.gpu for entry in entries],
            "node": [entry.node for entry in entries],
            "model": [entry.model for entry in entries],
            "started": [entry.started for entry in entries],
            "entry": [msgspec.json.encode(entry).decode() for entry in entries],
        }
    )
    pq.write_table(lines.replace_schema_metadata(metadata), runs, compression="zstd")
    write_files(dataset, {f"rows/{stem}": rows.getvalue(), f"runs/{stem}": runs.getvalue()})


def _plain(column: pa.ChunkedArray) -> npt.NDArray[np.str_]:
    return np.asarray(column.cast(pa.string()).to_pylist())


def _groups(benchmarks: npt.NDArray[np.str_]) -> Iterator[tuple[int, int]]:
    """First and last row of each row group of sorted rows: whole benchmarks, unless large."""
    ends = [*np.flatnonzero(benchmarks[1:] != benchmarks[:-1]) + 1, len(benchmarks)]
    start = 0
    for end in map(int, ends):
        while end - start > PART:
            yield start, start + PART
            start += PART
        if end - start >= GROUP or (end == len(benchmarks) and end > start):
            yield start, end
            start = end


# --- reading --------------------------------------------------------------------------------------


def is_dataset(folder: Path) -> bool:
    """Whether a folder is a data set, or is about to become one."""
    return (folder / "runs").is_dir() and (folder / "rows").is_dir()


def parts(dataset: Path, refused: Refused) -> list[Part]:
    """The parts of a data set, one by one in the order of their names; none where it is empty.

    A damaged part costs one line. Raises `RunError` where `dataset` is something else, or is of a
    later version.
    """
    if not is_dataset(dataset):
        if dataset.is_dir() and any(dataset.iterdir()):
            expected, fix = "a data set of strata fleet add, or nothing", "name another folder"
            raise RunError(dataset, found="other files", expected=expected, fix=fix)
        return []
    found = []
    for path in sorted((dataset / "runs").glob("*.parquet")):
        rows = dataset / "rows" / path.name
        try:
            with _opened(path, ["entry"]) as file:
                version = int((file.schema_arrow.metadata or {}).get(b"strata.fleet", b"0"))
                if version == VERSION:
                    entries = _entries(file)
                    with _opened(rows) as of:
                        _check_rows(rows, entries, of)
        except (OSError, ValueError, pa.ArrowException, KeyError, RecursionError) as error:
            refused(_damaged(path, error))
            continue
        if version != VERSION:
            expected = f"a data set of version {VERSION}"
            fix = "use the strata that wrote it, or a newer one"
            raise RunError(path, found=f"version {version}", expected=expected, fix=fix)
        found.append(Part(rows, entries))
    return found


@contextmanager
def _opened(path: Path, words: Sequence[str] = _WORDS) -> Iterator[pq.ParquetFile]:
    """A file of a part, by the rules of a run folder; `words` are read as numbered words.

    Raises `RunError` for a link, for a file that is not regular, and where one row group unpacks to
    more than `MOST_OF_GROUP`, by its own size or by that of its rows in memory.
    """
    with regular(path, link=False) as raw:
        file = pq.ParquetFile(raw, read_dictionary=words, page_checksum_verification=True)
        columns, groups = file.metadata.num_columns, range(file.num_row_groups)
        for group in map(file.metadata.row_group, groups):
            if max(group.total_byte_size, 8 * group.num_rows * columns) > MOST_OF_GROUP:
                found, expected = "more", f"at most {MOST_OF_GROUP >> 20} MiB in a row group"
                raise RunError(path, found=found, expected=expected, fix="remove this part")
        yield file


def _entries(file: pq.ParquetFile) -> tuple[Entry, ...]:
    """The runs of a part, without repeated ones."""
    if file.metadata.num_rows > RUNS:
        raise ValueError(f"{file.metadata.num_rows} runs, where a part has at most {RUNS}")
    texts = file.read(["entry"])["entry"].unique().to_pylist()
    return tuple(msgspec.json.decode(text, type=Entry) for text in texts)


def _check_rows(path: Path, entries: Sequence[Entry], file: pq.ParquetFile) -> None:
    """Raises `RunError` for a part with columns or rows other than those of its runs, or more."""
    count, recorded = file.metadata.num_rows, sum(sum(entry.sizes.values()) for entry in entries)
    if not file.schema_arrow.equals(rows_schema) or count != recorded or count > 2 * PART:
        found = f"{count} rows of {', '.join(file.schema_arrow.names)}"
        expected = f"the {recorded} rows of its runs, at most {2 * PART}"
        raise RunError(path, found=found, expected=expected, fix="remove this part")


class DamagedError(Exception):
    """A part whose rows cannot be read, though its end could."""

    def __init__(self, part: Part, error: Exception) -> None:
        self.part = part
        super().__init__(_damaged(part.rows, error))


def _damaged(path: Path, error: Exception) -> str:
    if isinstance(error, RunError):
        return f"{error}"
    reason = " ".join(f"{error}".split())
    return f"{path}: cannot be read: {reason}; to fix: remove this part and add its runs again"


class Block(NamedTuple):
    """Rows of some benchmarks: of each what it is, and its value in each run.

    NaN where a run has no such row or one that is not valid; `invalid` counts the latter by run.
    """

    lines: tuple[Line, ...]
    values: Matrix
    invalid: npt.NDArray[np.int64]


def blocks(found: Sequence[Part], runs: Sequence[str]) -> Iterator[Block]:
    """The rows of `runs`, in blocks of whole benchmarks; raises `DamagedError`."""
    place = {run: at for at, run in enumerate(runs)}
    sizes: Counter[str] = Counter()
    for entry in (entry for part in found for entry in part.entries if entry.run in place):
        sizes.update(entry.sizes)
    block: list[str] = []
    for benchmark in sorted(sizes):
        if block and sum(map(sizes.__getitem__, [*block, benchmark])) > BLOCK:
            yield _block(found, place, block)
            block = []
        block.append(benchmark)
    if block:
        yield _block(found, place, block)


def _block(found: Sequence[Part], place: Mapping[str, int], benchmarks: Sequence[str]) -> Block:
    tables = [rows_schema.empty_table()]
    for part in found:
        runs = [entry.run for entry in part.entries if entry.run in place]
        try:
            if runs:
                tables.append(_rows(part.rows, runs, benchmarks))
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedError(part, error) from None
    rows = pa.concat_tables(tables).unify_dictionaries().to_pandas()
    kinds = rows.groupby(["case", "quantity", "method"], observed=True, sort=False)
    kind, run = kinds.ngroup().to_numpy(), rows.run.map(place).to_numpy(int)
    if len(place) * kinds.ngroups > max(CELLS, 4 * len(rows)):
        raise DamagedError(found[-1], ValueError("too many rows that no two runs share"))
    valid = rows.valid.to_numpy()
    values = np.full((len(place), kinds.ngroups), np.nan, np.float32)
    values[run[valid], kind[valid]] = rows.value.clip(-3e38, 3e38)[valid]
    lines = rows[[*Line._fields]].iloc[np.unique(kind, return_index=True)[1]]
    invalid = np.bincount(run[~valid], minlength=len(place))
    return Block(tuple(map(Line._make, lines.itertuples(index=False))), values, invalid)


def _rows(path: Path, runs: Sequence[str], benchmarks: Sequence[str]) -> pa.Table:
    """The rows of these runs and benchmarks; ValueError for rows without a word."""
    first, last, kept = min(benchmarks), max(benchmarks), [rows_schema.empty_table()]
    with _opened(path) as file:
        column = file.schema_arrow.names.index("benchmark")
        for group in range(file.num_row_groups):
            ends = file.metadata.row_group(group).column(column).statistics
            if not ends or not ends.has_min_max or (ends.min <= last and ends.max >= first):
                wanted = pc.is_in(pc.field("run"), pa.array(runs))
                wanted &= pc.is_in(pc.field("benchmark"), pa.array(benchmarks))
                table = file.read_row_group(group)
                if any(table[name].null_count for name in rows_schema.names):
                    raise ValueError("rows without a word or a value")
                kept.append(table.filter(wanted).cast(rows_schema))
    return pa.concat_tables(kept)
