"""Other tools' files: runs out to them, and their results in as runs.

One file a format. What comes in becomes a run folder of schema version 2 with the provenance that
the file can vouch for; no gate of ours saw it, so every case says `unverified`.

- `strata.interop.google_benchmark`: JSON, out and in;
- `strata.interop.nsight_compute`: CSV of `ncu --csv`, in;
- `strata.interop.pyperf`: JSON, out;
- `strata.interop.parquet`: Apache Parquet, out;
- `strata.interop.plain_csv`: the table of a run as CSV, out.
"""

from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from strata.run import Run, RunError, read_text, write_whole
from strata.run.private import anonymous, without_paths

Target = Literal["google-benchmark", "pyperf", "parquet", "csv"]
"""What a run can be written as."""


def export(run: Run, file: Path, *, to: Target, force: bool = False, unnamed: bool = False) -> Path:
    """Write `run` to `file`, whole or not at all; raises `RunError` if it is there, or OSError.

    `unnamed` leaves out what tells who measured, and where (`strata.run.private`).
    """
    from strata.interop import google_benchmark, parquet, plain_csv, pyperf

    formats = {
        "google-benchmark": google_benchmark,
        "pyperf": pyperf,
        "parquet": parquet,
        "csv": plain_csv,
    }
    if unnamed:
        run = anonymous(run)
        cut = (replace(row, reasons=without_paths(row.reasons)) for row in run.rows)
        run = replace(run, rows=tuple(cut))
    return write_whole(file, lambda: formats[to].encode(run), force=force)


def bring_in(file: Path, folder: Path, *, force: bool = False) -> Path:
    """Make a run folder below `folder` of another tool's file; the path of the run folder.

    Its name has the first digits of the file's digest: a file makes the same run everywhere. Raises
    `RunError` where the file is of no known format or damaged, or the run is there; or OSError.
    """
    from strata.interop import google_benchmark, nsight_compute
    from strata.interop._run_folder import write

    text = read_text(file)
    theirs = text.lstrip().startswith("{")
    if theirs or nsight_compute.is_table(text):
        decode = google_benchmark.decode if theirs else nsight_compute.decode
        return write(decode(text, file), file, text, folder, force=force)
    said = next((line for line in text.splitlines() if line.startswith("==ERROR==")), "")
    first = next((line for line in text.splitlines() if line.strip()), "")[:60]
    found = said or (f"a file that begins {first!r}" if first else "an empty file")
    expected = "Google Benchmark's JSON (--benchmark_out_format=json) or the CSV of ncu --csv"
    raise RunError(file, found=found, expected=expected, mend="write one of the two")
