"""Export to CSV with one column per parameter: the rows of a run as in `strata.frame`.

RFC 4180. Missing values are empty; words that a spreadsheet would execute get an apostrophe.
"""

from strata.run import Run, frame
from strata.run.files import csv_bytes


def encode(run: Run) -> bytes:
    """The rows of `run` as the bytes of a CSV file."""
    rows = frame(run).replace({"valid": {True: "true", False: "false"}}).astype(object)
    return csv_bytes(rows.columns, rows.where(rows.notna(), "").itertuples(index=False))
