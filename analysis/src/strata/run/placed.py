"""Files that come with the package, and folders that appear whole or not at all."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from strata.run.files import write_files


def resource(package: str, name: str) -> str:
    """The text of a file that lies beside the modules of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


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
