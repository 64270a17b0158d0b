"""Figures that were drawn before, so that a report of a run that did not change takes seconds.

The folder is `STRATA_CACHE` (empty: no cache), or `strata` in the user's cache folder. An entry is
used if everything that decides how a figure looks is the same: its data, our code, the libraries.
"""

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import msgspec
import pandas as pd

import strata
from strata.run import Row

MOST = 256 * 2**20
"""Bytes of all entries: the oldest are removed."""
LARGEST = 32 * 2**20
"""Bytes of an entry; a larger file is not one."""
DIGEST = hashlib.sha256().digest_size


class Spot(NamedTuple):
    """A box in points from the lower left, and the row or the words that its tooltip shows."""

    box: tuple[float, float, float, float]
    shown: Row | str


class Picture(msgspec.Struct, frozen=True):
    """A drawing as files and as an element of a page; its size and its tooltips, in points."""

    files: Mapping[str, bytes]
    inline: str
    width: float
    height: float
    spots: Sequence[Spot]


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


def key_of(data: pd.DataFrame, *others: object) -> str:
    """What identifies a drawing of `data`; `others` are further things that decide its look."""
    cells = {f"{name}": [*data[name]] for name in data}
    parts = [_code(), others, cells, data.attrs]
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=repr)).hexdigest()


def read(key: str) -> Picture | None:
    """The drawing, if there is one and it is intact."""
    path = folder()
    if path is None:
        return None
    with suppress(OSError, msgspec.MsgspecError):
        file = path / f"{key}.figure"
        if file.stat().st_size <= LARGEST:
            content = file.read_bytes()
            entry, found = msgspec.msgpack.decode(content[DIGEST:], type=tuple[str, Picture])
            if _sealed(content[DIGEST:]) == content and entry == key:
                os.utime(file)
                return found
    return None


def write(key: str, picture: Picture) -> None:
    """Keep a drawing; a full disk or a folder that cannot be written costs only time."""
    path = folder()
    if path is None:
        return
    with suppress(OSError):
        made = path / f"{key}.{token_hex(4)}"
        made.write_bytes(_sealed(msgspec.msgpack.encode((key, picture))))
        made.replace(path / f"{key}.figure")
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
    """The version of our code and of what it draws with."""
    found = hashlib.sha256()
    for file in sorted(Path(strata.__file__).parent.rglob("*")):
        if file.suffix in (".py", ".mplstyle", ".csv"):
            found.update(file.read_bytes())
    libraries = " ".join(version(name) for name in ("matplotlib", "numpy", "pandas"))
    return found.hexdigest() + libraries
