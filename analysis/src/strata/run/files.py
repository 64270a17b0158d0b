"""File access of the package: all reading and writing uses these functions."""

import csv
import gzip
import os
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import IO, cast

CONTEXT_FILE = "context.json"
SAMPLES_FILE = "samples.jsonl"
MEASUREMENTS_FILE = "measurements.csv"

RESUME = "resume the run (strata run --resume) or measure again"
MOST_OF_LINE = 32 << 20
"""Bytes of a line of `samples.jsonl`, and of `context.json`: ten quantities of 100,000 samples."""
MOST_OF_OTHERS = 128 << 20
"""Bytes of a file that another tool wrote."""
MOST_BYTES = 4 << 30
"""Bytes of a file of a run folder, unpacked: two million rows."""

MOST_SHOWN = 500
"""Letters of what was found that a message shows."""

REWRITE = "resume the run (strata run --resume): it regenerates the table from samples.jsonl"


class RunError(ValueError):
    """An unusable run: where, what was found, what was expected, how to fix it.

    Its text is always one line, whatever the file contains.
    """

    def __init__(
        self, path: Path, line: int | None = None, *, found: str, expected: str, fix: str
    ) -> None:
        self.path = path
        self.line = line
        place = f"{path}:{line}" if line else f"{path}"
        found = found if len(found) <= MOST_SHOWN else f"{found[:MOST_SHOWN]}…"
        super().__init__(one_line(f"{place}: found {found}; expected {expected}; to fix: {fix}"))


def one_line(text: str) -> str:
    """`text` with every control character (line ends too) made visible."""
    return "".join(
        c if c.isprintable() or c in _SPACES else c.encode("unicode_escape").decode() for c in text
    )


def visible(text: str) -> str:
    """`text` for a terminal or a file, with control characters except line ends made visible."""
    return "\n".join(map(one_line, text.split("\n")))


_SPACES = "\u00a0\u202f"
"""Before units and between thousands."""


def packed(path: Path) -> Path:
    """The path of a file of a run folder when it is packed (`gzip`), as in recorded runs."""
    return path.with_name(f"{path.name}.gz")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file of a run folder, or its packed form if that exists, for `lines` or `at_once`.

    Raises `RunError` for a link, which may lead anywhere, and for a file that is not regular.
    """
    at, expected, fix = path, "a readable file of the run folder", RESUME
    if os.path.lexists(pack := packed(path)):
        if os.path.lexists(path):
            found, fix = f"{path.name} beside it", "remove the one that is out of date"
            raise RunError(pack, found=found, expected="one of the two", fix=fix)
        at, expected, fix = pack, "a complete gzip file", "fetch it again"
    try:
        with (
            regular(at, link=False) as raw,
            gzip.open(raw) if at is pack else nullcontext(raw) as file,
        ):
            yield cast("IO[bytes]", file)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(at, error, expected, fix) from None


@contextmanager
def regular(path: Path, *, link: bool = True) -> Iterator[IO[bytes]]:
    """An open regular file; never blocks like opening a pipe, and never accesses a device.

    Raises `RunError` for anything else, including links unless allowed; or OSError.
    """
    mode = (path.stat() if link else path.lstat()).st_mode
    if stat.S_ISREG(mode):
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if link else os.O_NOFOLLOW)
        with os.fdopen(os.open(path, flags), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode  # another file may be there by now
            if stat.S_ISREG(mode):
                yield file
                return
    found, fix = _KINDS.get(stat.S_IFMT(mode), "a device"), "replace it by the file itself"
    raise RunError(path, found=found, expected="a regular file", fix=fix)


_KINDS = {
    stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket", stat.S_IFREG: "a file",
}  # fmt: skip


def _too_large(path: Path, line: int | None, most: int, what: str) -> RunError:
    found, expected = f"more than {most >> 20} MiB", f"at most that in one {what}, uncompressed"
    return RunError(path, line, found=found, expected=expected, fix=f"use a smaller {what}")


def lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """The lines of a file, with line ends.

    Raises `RunError` for one beyond `MOST_OF_LINE`, and for more than `MOST_BYTES` of them.
    """
    number, left = 0, MOST_BYTES
    while line := file.readline(MOST_OF_LINE + 1):
        number, left = number + 1, left - len(line)
        if len(line) > MOST_OF_LINE:
            raise _too_large(path, number, MOST_OF_LINE, "line")
        if left < 0:
            raise _too_large(path, None, MOST_BYTES, "file")
        yield line


def at_once(file: IO[bytes], path: Path, most: int) -> bytes:
    """The whole content of a file; raises `RunError` if it exceeds `most` bytes."""
    if len(data := file.read(most + 1)) > most:
        raise _too_large(path, None, most, "file")
    return data


def _unreadable(path: Path, error: Exception, expected: str, fix: str) -> RunError:
    missing = isinstance(error, FileNotFoundError)
    found = "no such file" if missing else getattr(error, "strerror", None) or f"{error}"
    return RunError(path, found=found, expected=expected, fix=fix)


def read_text(file: Path) -> str:
    """The text of another tool's file; raises `RunError` if it is unreadable or not UTF-8."""
    try:
        with regular(file) as opened:
            return at_once(opened, file, MOST_OF_OTHERS).decode("utf-8-sig")
    except OSError as error:
        fix = "give the file that the other tool wrote"
        raise _unreadable(file, error, "a readable file", fix) from None
    except UnicodeDecodeError as error:
        found, fix = f"byte 0x{error.object[error.start]:02x}", "write the file again"
        raise RunError(file, found=found, expected="UTF-8 text", fix=fix) from None


def csv_bytes(
    columns: Iterable[str], lines: Iterable[Iterable[object]], *, exact: bool = False
) -> bytes:
    """The lines with their header as a CSV file, by RFC 4180; None is an empty cell.

    A word that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP
    recommends (CSV injection), unless the cells must be `exact`.
    """
    buffer = StringIO(newline="")
    csv.writer(buffer).writerow(columns)
    csv.writer(buffer).writerows(lines if exact else ([*map(_inert, line)] for line in lines))
    return buffer.getvalue().encode()


def _inert(cell: object) -> object:
    return f"'{cell}" if runs_as_formula(cell) else cell


def runs_as_formula(cell: object) -> bool:
    """Whether a spreadsheet would take a cell for a formula; never a number."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all of `files` (by path below `folder`), with the folders that they need, or none.

    Each is created under another name and renamed when all are complete: a full disk leaves
    everything unchanged. No link is followed below `folder`, nor below a run folder on the way to
    it, because the creator of that run may have placed it. Raises `RunError` for a link, or
    OSError.
    """
    made, parts = list[Path](), dict[Path, Path]()
    try:
        for name, content in files.items():
            path = folder / name
            _make_folder(path, folder, made)
            part = path.with_name(f".{path.name}.{os.getpid()}")
            with _created(part) as file:
                parts[path] = part
                file.write(content)
        for path, part in parts.items():
            part.replace(path)
    except BaseException:
        for part in parts.values():
            part.unlink(missing_ok=True)
        for one in reversed(made):
            with suppress(OSError):
                one.rmdir()
        raise


def _make_folder(path: Path, root: Path, made: list[Path]) -> None:
    """Creates the parent folders of a file; `made` are those that did not exist."""
    if ".." in path.relative_to(root).parts or path.is_dir():
        raise RunError(path, found="a folder", expected="a file", fix="name another")
    below = False
    for step in reversed(path.absolute().parents):
        if below and step.is_symlink():
            expected = "a folder or nothing below a run folder and what is written"
            fix = "remove it, or use --out"
            raise RunError(step, found="a link", expected=expected, fix=fix)
        below = below or step == root.absolute() or is_run(step)
        if not step.exists():
            step.mkdir()
            made.append(step)


def is_run(folder: Path) -> bool:
    """Whether a folder has the context of a run."""
    context = folder / CONTEXT_FILE
    return os.path.lexists(context) or os.path.lexists(packed(context))


@contextmanager
def _created(path: Path) -> Iterator[IO[bytes]]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
            yield file
    except OSError as error:
        error.filename = path  # a full disk does not name the file
        raise


def write_whole(file: Path, contents: Callable[[], bytes], *, force: bool) -> Path:
    """Write `contents()` to `file`, which appears whole or not at all; returns `file`.

    Raises `RunError` if it exists and `force` is false, before anything is computed.
    """
    refuse_taken(file, ours=file.is_file(), force=force)
    data = contents()
    file.parent.stat()  # a missing folder is more likely a typo than intended
    write_files(file.parent, {file.name: data})
    return file


def resource(package: str, name: str) -> str:
    """The text of a file next to the modules of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def packed_resource(package: str, name: str) -> bytes:
    """The content of a `gzip` file next to the modules of a package."""
    return gzip.decompress(resources.files(package).joinpath(name).read_bytes())


def place_folder(
    folder: Path, files: Mapping[str, bytes], more: Callable[[Path], Mapping[str, bytes]]
) -> Path:
    """Create `folder` from `files` and the results of `more`, replacing an existing one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".import-") as scratch:
        part = Path(scratch) / folder.name
        write_files(part, files)
        write_files(part, more(part))
        if os.path.lexists(folder):
            folder.rename(Path(scratch) / "before")
        part.rename(folder)
    return folder


def refuse_taken(path: Path, *, ours: bool, force: bool) -> None:
    """Raises `RunError` if anything exists at `path`; with `force` only if it is not `ours`.

    Ours is what the caller writes, a file or a run folder: nothing else is ever replaced.
    """
    if not os.path.lexists(path) or (ours and force):
        return
    kind = _KINDS.get(stat.S_IFMT(path.lstat().st_mode), "a device")
    found = f"{'a run' if path.is_dir() else 'a file'} that exists already" if ours else kind
    fix = "use another name" + (", or use --force" if ours else "")
    raise RunError(path, found=found, expected="an unused name", fix=fix)
