"""Other tools' files: export of runs, and import of their results as runs.

One file per format. An import becomes a run folder of schema version 2 with the provenance that the
file can support; none of our gates checked it, so every case is `unverified`.

- `strata.interop.google_benchmark`: JSON, export and import;
- `strata.interop.nsight_compute`: CSV of `ncu --csv`, import;
- `strata.interop.pyperf`: JSON, export;
- `strata.interop.parquet`: Apache Parquet, export;
- `strata.interop.plain_csv`: the table of a run as CSV, export;
- `strata.interop.csv_columns`: the same with one column per parameter, export.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec.structs import replace

from strata.interop import _run_folder
from strata.model.truth import load_run
from strata.run import Run, RunError, one_line, read_text, write_whole
from strata.run.load import UNKNOWN_OF_TABLE
from strata.run.private import anonymous, without_paths
from strata.run.rows import is_table

Target = Literal["google-benchmark", "pyperf", "parquet", "csv", "csv-columns"]
"""What a run can be written as."""
Warn = Callable[[str], None]


def _warn(line: str) -> None:
    sys.stderr.write(f"strata: {one_line(line)}\n")


def export(
    run: Run, file: Path, *, to: Target, force: bool = False, unnamed: bool = False,
    warn: Warn = _warn,
) -> Path:  # fmt: skip
    """Write `run` to `file`, whole or not at all; raises `RunError` if it exists, or OSError.

    `warn` receives one line that counts what the format cannot hold, if there is anything.
    `unnamed` leaves out what identifies who measured, and where (`strata.run.private`).
    """
    if unnamed:
        run = anonymous(run)
        cut = (replace(row, reasons=without_paths(row.reasons)) for row in run.rows)
        run = replace(run, rows=tuple(cut))
    module = "plain_csv" if to == "csv" else to.replace("-", "_")
    format_of = import_module(f"strata.interop.{module}")
    made = write_whole(file, lambda: format_of.encode(run), force=force)
    if hasattr(format_of, "losses") and (line := format_of.losses(run)):
        warn(line)
    return made


def load(path: Path, warn: Warn = _warn) -> Run:
    """The run in a folder, of a table alone, or of another tool's file, judged.

    Such a file is imported without a folder. `warn` receives a line with what is unknown.
    """
    if path.is_file() and not is_table(path):
        imported, text = _decoded(path)
        with TemporaryDirectory() as scratch:
            run = load_run(_run_folder.write(imported, path, text, Path(scratch), force=False))
        return replace(run, folder=path)
    run = load_run(path)
    if path.is_file():
        warn(f"{path}: a table without its run: {UNKNOWN_OF_TABLE} are unknown")
    return run


def bring_in(file: Path, folder: Path, *, force: bool = False, warn: Warn = _warn) -> Path:
    """Make a run folder below `folder` from another tool's file; returns its path.

    Its name contains the first digits of the file's digest: the same file makes the same run
    anywhere. `warn` receives one line with the number of values that become no row, if there are
    any. Raises `RunError` if the file has no known format or is damaged, or the run exists; or
    OSError.
    """
    imported, text = _decoded(file)
    made = _run_folder.write(imported, file, text, folder, force=force)
    if count := sum(imported.left_out.values()):
        reasons = _run_folder.because(imported.left_out)
        warn(f"{count:,} value{'s' * (count > 1)} not imported, {reasons}")
    return made


def _decoded(file: Path) -> tuple["_run_folder.Imported", str]:
    """The contents of another tool's file, and its text; raises `RunError`."""
    from strata.interop import google_benchmark, nsight_compute

    is_report = file.suffix in (".ncu-rep", ".nsight-cuprof-report") and file.is_file()
    text = nsight_compute.raw_page(file) if is_report else read_text(file)
    is_json = text.lstrip().startswith("{")
    if not is_json and not nsight_compute.is_table(text):
        lines = [line for line in text.splitlines() if line.strip()]
        error = next((line for line in lines if line.startswith("==ERROR==")), "")
        found = error or (f"a file that begins {lines[0][:60]!r}" if lines else "an empty file")
        expected = "Google Benchmark JSON (--benchmark_out_format=json) or the CSV of ncu --csv"
        raise RunError(file, found=found, expected=expected, fix="write one of these")
    return (google_benchmark if is_json else nsight_compute).decode(text, file), text
