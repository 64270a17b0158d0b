"""The files that the package reads and writes: all of them, by these functions alone."""

import csv
import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import IO, cast

CONTEXT_FILE = "context.json"
SAMPLES_FILE = "samples.jsonl"
MEASUREMENTS_FILE = "measurements.csv"

RESUME = "resume the run (strata run --resume) or measure again"
REWRITE = "resume the run (strata run --resume): it writes the table anew from samples.jsonl"


class RunError(ValueError):
    """A run that cannot be used: where, what was found, what was expected, how to mend it.

    Its text is always one line, whatever the file holds.
    """

    def __init__(
        self, path: Path, line: int | None = None, *, found: str, expected: str, mend: str
    ) -> None:
        self.path = path
        self.line = line
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(one_line(f"{place}: found {found}; expected {expected}; to mend: {mend}"))


def one_line(text: str) -> str:
    """`text` with every control character (line ends too) made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def packed(path: Path) -> Path:
    """Where a file of a run folder lies if it is packed (`gzip`), as recorded runs are."""
    return path.with_name(f"{path.name}.gz")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file of a run folder, or its packed form where that is what is there; read bit by bit."""
    at, expected, mend = path, "a readable file of the run folder", RESUME
    if (pack := packed(path)).exists():
        if path.exists():
            found, mend = f"{path.name} beside it", "remove the one that is out of date"
            raise RunError(pack, found=found, expected="one of the two", mend=mend)
        at, expected, mend = pack, "a whole gzip file", "fetch it again"
    try:
        with path.open("rb") if at is path else gzip.open(pack) as file:
            yield cast("IO[bytes]", file)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(at, error, expected, mend) from None


def _unreadable(path: Path, error: Exception, expected: str, mend: str) -> RunError:
    missing = isinstance(error, FileNotFoundError)
    found = "no such file" if missing else getattr(error, "strerror", None) or f"{error}"
    return RunError(path, found=found, expected=expected, mend=mend)


def read_text(file: Path) -> str:
    """The text of a file of another tool; raises `RunError` where it is unreadable or no UTF-8."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        mend = "name the file that the other tool wrote"
        raise _unreadable(file, error, "a readable file", mend) from None
    except UnicodeDecodeError as error:
        found, mend = f"byte 0x{error.object[error.start]:02x}", "write the file again"
        raise RunError(file, found=found, expected="UTF-8 text", mend=mend) from None


def csv_bytes(columns: Iterable[str], lines: Iterable[Iterable[object]]) -> bytes:
    """The lines below their header as a CSV file, by RFC 4180; None is an empty cell."""
    buffer = StringIO(newline="")
    csv.writer(buffer).writerows([columns, *lines])
    return buffer.getvalue().encode()


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write each of `files` (by its path below `folder`), with the folders that it needs."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        error.filename = path  # a full disk does not say whose
        raise


def write_whole(file: Path, contents: Callable[[], bytes], *, force: bool) -> Path:
    """Write `contents()` to `file`, which appears whole or not at all; `file` again.

    Raises `RunError` where it is there already and not `force`, before anything is computed.
    """
    if file.exists() and not (force and file.is_file()):
        found = "a file that is there already" if file.is_file() else "a folder"
        mend = "name another file" + (", or say --force" if file.is_file() else "")
        raise RunError(file, found=found, expected="a name that is free", mend=mend)
    data = contents()
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        _write(part, data)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return file


def resource(package: str, name: str) -> str:
    """The text of a file that lies beside the modules of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def read_utf8(path: Path) -> str:
    """The text of a file; raises OSError, or UnicodeDecodeError where it is no UTF-8."""
    return path.read_text(encoding="utf-8")


def place_folder(
    folder: Path, files: Mapping[str, bytes], more: Callable[[Path], Mapping[str, bytes]]
) -> Path:
    """Make `folder` of `files` and of what `more` makes of it, in place of one that is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".import-") as scratch:
        part = Path(scratch) / folder.name
        write_files(part, files)
        write_files(part, more(part))
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
    return folder
