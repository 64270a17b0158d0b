"""What any input may cost a command: 5 s of a core, and 1 GiB beyond what there was before."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What commands import when they need it is no input's cost.
import strata.fleet
import strata.report.comparison
import strata.report.fleet
import strata.report.page
import strata.report.roofline  # noqa: F401

SECONDS = 5.0
BYTES = 1 << 30
_SELF = Path("/proc/self")


def _peak() -> int:
    """The most memory that this process had, since it was last forgotten."""
    lines = (_SELF / "status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@contextmanager
def bounded() -> Iterator[None]:
    """Fails where what happens inside costs more; time that others keep a core does not count."""
    with suppress(OSError):
        (_SELF / "clear_refs").write_text("5")  # forgets the peak
    memory, start = _peak(), time.process_time()
    try:
        yield
    finally:  # a command leaves through SystemExit
        assert time.process_time() - start < SECONDS
        assert _peak() - memory < BYTES
