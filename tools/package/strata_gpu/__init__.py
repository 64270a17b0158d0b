"""The command `strata` of the wheel: the program, which calls the analysis of the same Python."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Become the program."""
    os.environ.setdefault("STRATA_PYTHON", sys.executable)
    program = Path(__file__).parent / "bin" / "strata"
    os.execv(program, ["strata", *sys.argv[1:]])  # noqa: S606 - the program is ours
