"""What was computed before and is kept: the folder `STRATA_CACHE` (empty: none).

Without that variable it is `strata` in the user's cache folder. Nothing that is read is trusted: an
entry carries the digest of its name and content.
"""

import hashlib
import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_hex

from strata.run.files import CONTEXT_FILE, SAMPLES_FILE, RunError, regular

MOST = 256 * 2**20
"""Bytes of all entries: the oldest are removed."""
LARGEST = 128 * 2**20
"""Bytes of an entry; a larger file is not one."""
DIGEST = hashlib.sha256().digest_size


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


def read(name: str) -> bytes | None:
    """The content of an entry, if there is one and it is intact."""
    path = folder()
    if path is None:
        return None
    with suppress(OSError):
        file = path / name
        if file.stat().st_size <= LARGEST:
            content = file.read_bytes()
            if sealed(name, content[DIGEST:]) == content:
                os.utime(file)
                return content[DIGEST:]
    return None


def write(name: str, content: bytes) -> None:
    """Keep an entry; a full disk or a folder that cannot be written costs only time."""
    path = folder()
    if path is None:
        return
    with suppress(OSError):
        made = path / f"{name}.{token_hex(4)}"
        made.write_bytes(sealed(name, content))
        made.replace(path / name)
        total = 0
        newest_first = sorted(path.iterdir(), key=lambda file: -file.stat().st_mtime)
        for file in newest_first:
            total += file.stat().st_size
            if total > MOST:
                file.unlink(missing_ok=True)


def sealed(name: str, content: bytes) -> bytes:
    """The content as it is kept."""
    return hashlib.sha256(name.encode() + content).digest() + content


@cache
def code() -> str:
    """The version of our code and of the tables beside it."""
    found = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*")):
        if file.suffix in (".py", ".mplstyle", ".csv", ".toml", ".json"):
            found.update(file.read_bytes())
    return found.hexdigest()


def key_of_run(run: Path) -> str:
    """What identifies the rows of a run: its files, and the code that derives and judges them.

    Empty if they cannot be read, which reading the run reports.
    """
    found = hashlib.sha256(code().encode())
    names = (name for file in (CONTEXT_FILE, SAMPLES_FILE) for name in (file, f"{file}.gz"))
    with suppress(OSError, RunError):
        for file in (run / name for name in names if (run / name).exists()):
            with regular(file, link=False) as content:
                for part in iter(lambda: content.read(2**20), b""):
                    found.update(part)
        return found.hexdigest()
    return ""
