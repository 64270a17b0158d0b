"""Export to plain CSV: the content of `measurements.csv`, unpacked and for several tools.

RFC 4180, with the columns of `results/schema`: numbers in the row's unit with a decimal point,
missing intervals are empty, parameters are one column `k=v;k=v`.
"""

from strata.run import COLUMNS, Run, params_text
from strata.run.files import csv_bytes


def encode(run: Run, *, exact: bool = False) -> bytes:
    """The rows of `run` as the bytes of a CSV file; `exact` is `measurements.csv` itself.

    Otherwise words that a spreadsheet would execute get an apostrophe in front.
    """
    cells = [{name: getattr(row, name) for name in COLUMNS} for row in run.rows]
    for row in cells:
        row |= {"params": params_text(row["params"]), "valid": "true" if row["valid"] else "false"}
    return csv_bytes(COLUMNS, (row.values() for row in cells), exact=exact)
