"""The table of a run as plain CSV: what `measurements.csv` is, unpacked and for several tools.

RFC 4180, the columns of `results/schema`: numbers in the row's unit with a point, an interval that
a row does not have is empty, parameters are one column `k=v;k=v`.
"""

import csv
from io import StringIO

from strata.run import COLUMNS, Run, params_text


def encode(run: Run) -> bytes:
    """The rows of `run` as the bytes of a CSV file, derived from the samples."""
    with StringIO(newline="") as text:
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        for row in run.rows:
            own = {"params": params_text(row.params), "valid": f"{row.valid}".lower()}
            # None is written as an empty cell.
            writer.writerow(own.get(column, getattr(row, column)) for column in COLUMNS)
        return text.getvalue().encode()
