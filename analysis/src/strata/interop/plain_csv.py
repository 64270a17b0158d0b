"""The table of a run as plain CSV: what `measurements.csv` is, unpacked and for several tools.

RFC 4180, the columns of `results/schema`: numbers in the row's unit with a point, an interval that
a row does not have is empty, parameters are one column `k=v;k=v`.
"""

from strata.run import COLUMNS, Run, params_text
from strata.run.files import csv_bytes


def encode(run: Run) -> bytes:
    """The rows of `run` as the bytes of a CSV file, derived from the samples."""
    lines = []
    for row in run.rows:
        own = {"params": params_text(row.params), "valid": f"{row.valid}".lower()}
        lines.append([own.get(column, getattr(row, column)) for column in COLUMNS])
    return csv_bytes(COLUMNS, lines)
