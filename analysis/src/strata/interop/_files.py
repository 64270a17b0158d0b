"""Files of other tools: read whole, written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from strata.run import RunError


def read_text(file: Path) -> str:
    """The text of `file`; raises `RunError` where it cannot be read or is no UTF-8."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise RunError(
            file,
            found="nothing there" if missing else f"{error.strerror}",
            expected="a readable file",
            mend="name the file that the other tool wrote",
        ) from None
    except UnicodeDecodeError as error:
        raise RunError(
            file,
            found=f"byte 0x{error.object[error.start]:02x}",
            expected="UTF-8 text",
            mend="write the file again",
        ) from None


def write_whole(file: Path, contents: Callable[[], bytes], *, force: bool) -> Path:
    """Write `contents()` to `file`, which appears whole or not at all; `file` again.

    Raises `RunError` where it is there already and not `force`, before anything is computed.
    """
    if file.exists() and not (force and file.is_file()):
        raise RunError(
            file,
            found="a file that is there already" if file.is_file() else "a folder",
            expected="a name that is free",
            mend="name another file" + (", or say --force" if file.is_file() else ""),
        )
    data = contents()
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return file
