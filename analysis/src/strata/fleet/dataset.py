"""A fleet's data set: many runs as Parquet, appended to and read back a block at a time.

    DATASET/runs/PART.parquet   a line a run: which GPU of which node, when, by which build
    DATASET/rows/PART.parquet   its rows, as `rows_schema` has them, sorted by benchmark

Each `add` writes one part or a few, the lines of its runs last: without them its rows are not
there. Anything reads it (DuckDB: `select * from 'DATASET/rows/*.parquet'`). It is read by pyarrow,
which the package needs anyway, one block of benchmarks at a time: memory holds 4 bytes a row of
a block and run, whatever the size of the data set.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from strata.compare.changes import family_of
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
BLOCK = 256 << 20
"""Bytes of a block's matrix, unless one benchmark alone has more."""
MOST_OF_GROUP = 512 << 20
"""Bytes that a row group may unpack to; so may the file of a part's runs."""
MOST_OF_BLOCK = 2 * BLOCK
"""Bytes of a block's matrix of which rows fill less than a quarter."""
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
        found, mend = f"a run from the future ({context.started})", "set the clock of its node"
        raise RunError(run.folder, found=found, expected="one that has begun", mend=mend)
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
    family, rows = family_of(run), run.rows
    columns = {name: [getattr(row, name) for row in rows] for name in _WORDS if name != "level"}
    columns["level"] = [family(row)[3] for row in rows]
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
    told = {b"strata.fleet": f"{VERSION}".encode()}
    rows, runs = BytesIO(), BytesIO()
    schema = rows_schema.with_metadata(told)
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
    pq.write_table(lines.replace_schema_metadata(told), runs, compression="zstd")
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
            expected, mend = "a data set of strata fleet add, or nothing", "name another folder"
            raise RunError(dataset, found="other files", expected=expected, mend=mend)
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
            mend = "use the strata that wrote it, or a newer one"
            raise RunError(path, found=f"version {version}", expected=expected, mend=mend)
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
        told = file.metadata
        for group in map(told.row_group, range(told.num_row_groups)):
            if max(group.total_byte_size, 8 * group.num_rows * told.num_columns) > MOST_OF_GROUP:
                found, expected = "more", f"at most {MOST_OF_GROUP >> 20} MiB in a row group"
                raise RunError(path, found=found, expected=expected, mend="remove this part")
        yield file


def _entries(file: pq.ParquetFile) -> tuple[Entry, ...]:
    """The runs of a part, without repeated ones."""
    if file.metadata.num_rows > RUNS:
        raise ValueError(f"{file.metadata.num_rows} runs, where a part has at most {RUNS}")
    texts = file.read(["entry"])["entry"].unique().to_pylist()
    return tuple(msgspec.json.decode(text, type=Entry) for text in texts)


def _check_rows(path: Path, entries: Sequence[Entry], file: pq.ParquetFile) -> None:
    """Raises `RunError` for a part with columns or rows other than those of its runs, or more."""
    count, told = file.metadata.num_rows, sum(sum(entry.sizes.values()) for entry in entries)
    if not file.schema_arrow.equals(rows_schema) or count != told or count > 2 * PART:
        found = f"{count} rows of {', '.join(file.schema_arrow.names)}"
        expected = f"the {told} rows of its runs, at most {2 * PART}"
        raise RunError(path, found=found, expected=expected, mend="remove this part")


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
    sizes: dict[str, int] = {}
    for entry in (entry for part in found for entry in part.entries if entry.run in place):
        for benchmark, count in entry.sizes.items():
            sizes[benchmark] = max(sizes.get(benchmark, 0), count)
    block: dict[str, int] = {}
    for benchmark, count in sorted(sizes.items()):
        if block and 4 * len(runs) * (sum(block.values()) + count) > BLOCK:
            yield _block(found, place, block)
            block = {}
        block[benchmark] = count
    if block:
        yield _block(found, place, block)


_KEY = ("case", "quantity", "method")


def _block(found: Sequence[Part], place: Mapping[str, int], sizes: Mapping[str, int]) -> Block:
    entries = [one for part in found for one in part.entries if one.run in place]
    rows = sum(one.sizes.get(benchmark, 0) for one in entries for benchmark in sizes)
    most = max(MOST_OF_BLOCK, 16 * rows) // (4 * len(place))
    index = _Index(len(place), sum(sizes.values()), most)
    for part in found:
        here = {one.run: place[one.run] for one in part.entries if one.run in place}
        try:
            for batch in _batches(part.rows, min(sizes), max(sizes)) if here else ():
                index.take(batch, here, sizes.keys())
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedError(part, error) from None
    return index.block()


def _batches(path: Path, first: str, last: str) -> Iterator[pa.RecordBatch]:
    """The row groups that may hold benchmarks from `first` to `last`."""
    with _opened(path) as file:
        column = file.schema_arrow.names.index("benchmark")
        for group in range(file.num_row_groups):
            told = file.metadata.row_group(group).column(column).statistics
            if not told or not told.has_min_max or (told.min <= last and told.max >= first):
                yield from file.read_row_group(group).to_batches()


class _Index:
    """Takes rows in, of any runs in any order, and sorts them by kind of row.

    There is room for `capacity` kinds, and for `most` at most: beyond it raises ValueError.
    """

    def __init__(self, runs: int, capacity: int, most: int) -> None:
        self._most = most
        self._codes: tuple[dict[str, int], ...] = ({}, {}, {})
        self._known = np.empty(0, np.int64)
        self._where = np.empty(0, np.int64)
        self._lines: list[Line] = []
        self._values = np.full((runs, max(min(capacity, most), 1)), np.nan, np.float32)
        self._invalid = np.zeros(runs, np.int64)

    def take(self, batch: pa.RecordBatch, place: Mapping[str, int], wanted: Iterable[str]) -> None:
        known = set(wanted)
        runs = _coded(batch, "run", lambda run: place.get(run, -1))
        kept = (runs >= 0) & _coded(batch, "benchmark", known.__contains__).astype(bool)
        if not kept.all():
            batch = batch.filter(pa.array(kept))
            runs = runs[kept]
        if not len(runs):
            return
        keys = np.zeros(len(runs), np.int64)
        for name, codes in zip(_KEY, self._codes, strict=True):
            keys = (keys << 20) + _coded(batch, name, partial(_numbered, codes))
        at = self._places(keys, batch)
        valid = np.asarray(batch.column("valid").to_numpy(zero_copy_only=False), bool)
        values = np.clip(batch.column("value").to_numpy(), -3e38, 3e38).astype(np.float32)
        self._values[runs[valid], at[valid]] = values[valid]
        self._invalid += np.bincount(runs[~valid], minlength=len(self._invalid))

    def _places(self, keys: npt.NDArray[np.int64], batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
        found = np.minimum(np.searchsorted(self._known, keys), max(len(self._known) - 1, 0))
        fresh = self._known[found] != keys if len(self._known) else np.ones(len(keys), bool)
        if fresh.any():
            new, first = np.unique(keys[fresh], return_index=True)
            rows = batch.take(pa.array(np.flatnonzero(fresh)[first]))
            words = [rows.column(name).cast(pa.string()).to_pylist() for name in Line._fields]
            start = len(self._lines)
            self._lines += [Line(*of) for of in zip(*words, strict=True)]
            if len(self._lines) > self._most:
                raise ValueError(f"more than {self._most} rows that no two runs share")
            if (more := len(self._lines) - self._values.shape[1]) > 0:
                wider = np.full((len(self._values), max(more, start)), np.nan, np.float32)
                self._values = np.hstack([self._values, wider])
            known = np.concatenate([self._known, new])
            where = np.concatenate([self._where, start + np.arange(len(new))])
            order = np.argsort(known)
            self._known, self._where = known[order], where[order]
            found = np.searchsorted(self._known, keys)
        return np.asarray(self._where[found])

    def block(self) -> Block:
        return Block(tuple(self._lines), self._values[:, : len(self._lines)], self._invalid)


def _numbered(codes: dict[str, int], word: str) -> int:
    return codes.setdefault(word, len(codes))


def _coded(batch: pa.RecordBatch, name: str, code: Callable[[str], int]) -> npt.NDArray[np.int64]:
    """A column of words as whole numbers, each word looked up once."""
    column = batch.column(name)
    if column.null_count:
        raise ValueError(f"rows without a {name}")
    codes = np.array([code(word) for word in column.dictionary.to_pylist()] or [0], np.int64)
    return np.asarray(codes[column.indices.to_numpy(zero_copy_only=False)])
