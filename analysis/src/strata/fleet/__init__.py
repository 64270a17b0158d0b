"""Many runs of one model of device: which GPU is an outlier, and in what?

    from pathlib import Path
    from strata import fleet

    with fleet.opened([Path("runs")], print) as parts:
        found = fleet.examine(parts, print)
    for gpu in found.out:
        print(found.gpus[gpu].entry.gpu, fleet.words.findings_text(found, gpu))

The command `strata fleet` does this and writes tables and a page; `strata fleet add` keeps a data
set of runs (`strata.fleet.dataset`), which is read in place of their folders.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from strata.fleet import dataset, words
from strata.fleet.dataset import DamagedError, Entry, Part, Refused
from strata.fleet.judge import Event, Family, Finding, Fleet, Gpu, Settings, judged, too_few
from strata.fleet.law import FEWEST
from strata.run import CONTEXT_FILE, RunError, grouped, load_context
from strata.run.files import packed
from strata.run.private import hidden

__all__ = [
    "Event", "Family", "Finding", "Fleet", "Gpu", "Settings", "add", "dataset", "examine",
    "opened", "words",
]  # fmt: skip

SHOWN = 20
"""So many lines are about what cannot be used; the others are counted."""
NAMED = 3
"""So many runs are named of those that are left out for one reason."""


def add(data_set: Path, paths: Sequence[Path], refused: Refused, *, unnamed: bool = False) -> int:
    """Append runs, of folders and of folders of them, to a data set; how many (`dataset.add`)."""
    folders = [folder for path in paths for folder in _runs(path)]
    with _few(refused) as some:
        return dataset.add(data_set, folders, some, unnamed=unnamed)


@contextmanager
def _few(refused: Refused) -> Iterator[Refused]:
    """Passes on the first lines about what cannot be used, and counts the others."""
    count = 0

    def some(line: str) -> None:
        nonlocal count
        count += 1
        if count <= SHOWN:
            refused(line)

    try:
        yield some
    finally:
        if count > SHOWN:
            refused(f"and {count - SHOWN:,} more that cannot be used")


@contextmanager
def opened(
    paths: Sequence[Path], refused: Refused, *, model: str = "", any_build: bool = True
) -> Iterator[list[Part]]:
    """The runs in run folders, in folders of them and in data sets, each once, as parts.

    What cannot be used costs a line, up to `SHOWN`. The folders are read into a data set that is
    gone afterwards. Raises `RunError` for a path that is neither, OSError, and ValueError, before
    any rows are read, where `examine` with this `model` and `any_build` would find too few GPUs.
    """
    with tempfile.TemporaryDirectory(prefix="strata-fleet-") as scratch, _few(refused) as some:
        folders = [
            folder for path in paths if not dataset.is_dataset(path) for folder in _runs(path)
        ]
        sets = [path for path in paths if dataset.is_dataset(path)]
        if folders and not sets:
            _refuse_few(folders, some, model, any_build=any_build)
        if folders:
            dataset.add(Path(scratch), folders, some)
            sets.append(Path(scratch))
        known: set[str] = set()
        parts = []
        for part in chain.from_iterable(dataset.parts(one, some) for one in sets):
            new = tuple(entry for entry in part.entries if entry.run not in known)
            for entry in part.entries:
                if entry.run in known:
                    some(f"{part.rows}: found the run {entry.run} again; the first one counts")
            known |= {entry.run for entry in new}
            parts.append(Part(part.rows, new))
        yield parts


def _refuse_few(folders: Sequence[Path], refused: Refused, model: str, *, any_build: bool) -> None:
    """Raises ValueError where the contexts alone show that there are too few GPUs."""
    gpus: dict[tuple[str, str], set[str]] = {}
    lines = []
    for folder in folders:
        try:
            context = load_context(folder)
        except RunError as error:
            lines.append(f"{error}")
            continue
        build = "" if any_build else context.build.source_digest
        gpus.setdefault((context.device.slug, build), set()).add(dataset.gpu_of(context)[0])
    known = {slug for slug, _ in gpus}
    counts = [len(some) for (slug, _), some in gpus.items() if slug == (model or slug)]
    if model and known and model not in known:
        return  # which is another message
    if max(counts, default=0) < FEWEST:
        for line in lines:
            refused(line)
        raise too_few(max(counts, default=0))


def _runs(path: Path) -> list[Path]:
    """A run folder, or those in a folder, by name."""
    if not path.is_dir() or _is_run(path):
        return [path]  # loading reports what is wrong with it
    found = sorted(one for one in path.iterdir() if one.is_dir() and _is_run(one))
    if not found:
        expected = "run folders, folders of them, or data sets of strata fleet add"
        raise RunError(path, found="no run", expected=expected, fix="name another folder")
    return found


def _is_run(folder: Path) -> bool:
    context = folder / CONTEXT_FILE
    return context.exists() or packed(context).exists()


def examine(
    parts: Sequence[Part],
    refused: Refused,
    settings: Settings | None = None,
    *,
    model: str = "",
    any_build: bool = False,
    unnamed: bool = False,
) -> Fleet:
    """Judge the GPUs of one model, by the runs of one build: those that most GPUs have.

    `model` is another model's slug; `any_build` takes runs of all kernel sources together;
    `unnamed` hides UUIDs and leaves out nodes and folders. Runs left out cost a line for each
    reason, a part that turns out damaged one too. Raises ValueError where too few GPUs are left.
    """
    kept, reported = list(parts), set[str]()

    def once(what: str) -> None:
        if what not in reported:
            reported.add(what)
            refused(what)

    while True:
        entries = [entry for part in kept for entry in part.entries]
        entries = _most(entries, "model", model, once, "device")
        if not any_build:
            entries = _most(entries, "build", "", once)
        if unnamed:
            entries = [
                msgspec.structs.replace(
                    one, gpu=one.gpu if one.gpu == one.run else hidden(one.gpu), node="", folder=""
                )
                for one in entries
            ]
        try:
            return judged(partial(dataset.blocks, kept), entries, settings or Settings())
        except DamagedError as error:
            once(f"{error}")
            kept.remove(error.part)


def _most(
    entries: Sequence[Entry], what: str, wanted: str, refused: Refused, shown: str = ""
) -> list[Entry]:
    """The runs that have the value of `what` that most GPUs have, or that is `wanted`."""
    of = grouped(entries, lambda one: str(getattr(one, what)))
    if wanted and wanted not in of:
        raise ValueError(f"found no run of {wanted}; expected one of {', '.join(of) or 'none'}")
    counts = Counter({value: len({one.gpu for one in runs}) for value, runs in of.items()})
    best = wanted or max(counts, key=lambda value: (counts[value], value), default="")
    name = {value: str(getattr(runs[0], shown or what))[:40] for value, runs in of.items()}
    for value, runs in of.items():
        if value != best:
            listed = ", ".join(one.run for one in runs[:NAMED])
            more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
            number = f"{len(runs)} runs" if len(runs) > 1 else "1 run"
            refused(
                f"left out: {number} of the {shown or what} {name[value]}, not {name[best]}: "
                f"{listed}{more}"
            )
    return of.get(best, [])
