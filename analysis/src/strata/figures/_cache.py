"""Figures that were drawn before, so that a report of a run that did not change takes seconds.

The folder is `STRATA_CACHE` (empty: no cache), or `strata` in the user's cache folder. An entry has
all figures of a run. It is used if everything that decides how they look is the same: the content
of the run, our code, the published tables, the libraries.
"""

import hashlib
import os
import pickle
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex

import msgspec

import strata
from strata import reference
from strata.run import Run

MOST = 256 * 2**20
"""Bytes of all entries: the oldest are removed."""
LARGEST = 128 * 2**20
"""Bytes of an entry; a larger file is not one."""
DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of a run: its files by suffix, its data as CSV, and the rows that it shows.

    `places` are the positions of the shown rows among the rows of the run, from 0, each once, in
    drawing order. `width` is the width of the drawing in points. `hits` are the positions, in
    points from the upper left corner: left, top, the difference of the row number to that of the
    previous hit, and for a bar `x` width and height. Items that are not rows of the run have `t`
    and the number of their words, which follow after all hits. A figure that cannot be drawn has
    only its title and, in `failure`, the reason.
    """

    name: str
    title: str
    order: int = 0
    failure: str = ""
    caption: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    inline: str = ""
    width: float = 0.0
    data: bytes = b""
    places: tuple[int, ...] = ()
    hits: str = ""


def folder() -> Path | None:
    """The folder of the entries, made if necessary; None if others can write to it."""
    chosen = os.environ.get("STRATA_CACHE")
    users = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(users) / "strata" if chosen is None else Path(chosen)
    if chosen == "":
        return None
    with suppress(OSError):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
        if status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return path
    return None


def key_of(run: Run, formats: Sequence[str], *, headings: bool) -> str:
    """What identifies the drawings of a run: all that it holds, and how it is drawn."""
    content = pickle.dumps((_code(), [*formats], headings, run))
    return hashlib.sha256(content).hexdigest()


def read(key: str) -> list[Drawing] | None:
    """The drawings, if they are there and intact."""
    path = folder()
    if path is None:
        return None
    with suppress(OSError, msgspec.MsgspecError):
        file = path / f"{key}.figures"
        if file.stat().st_size <= LARGEST:
            content = file.read_bytes()
            entry, found = msgspec.msgpack.decode(content[DIGEST:], type=tuple[str, list[Drawing]])
            if _sealed(content[DIGEST:]) == content and entry == key:
                os.utime(file)
                return found
    return None


def write(key: str, drawings: Sequence[Drawing]) -> None:
    """Keep drawings; a full disk or a folder that cannot be written costs only time."""
    path = folder()
    if path is None:
        return
    with suppress(OSError):
        made = path / f"{key}.{token_hex(4)}"
        made.write_bytes(_sealed(msgspec.msgpack.encode((key, drawings))))
        made.replace(path / f"{key}.figures")
        total = 0
        newest_first = sorted(path.iterdir(), key=lambda file: -file.stat().st_mtime)
        for file in newest_first:
            total += file.stat().st_size
            if total > MOST:
                file.unlink(missing_ok=True)


def _sealed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + content


@cache
def _code() -> str:
    """The version of our code, of the published tables, and of what draws."""
    found = hashlib.sha256()
    for folder in (Path(strata.__file__).parent, reference.folder()):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                found.update(file.read_bytes())
    libraries = " ".join(version(name) for name in ("matplotlib", "numpy", "pandas", "scipy"))
    return found.hexdigest() + libraries
