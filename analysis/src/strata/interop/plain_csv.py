"""Export to plain CSV: the content of `measurements.csv`, unpacked and for several tools.

RFC 4180, with the columns of `results/schema`: numbers in the row's unit with a decimal point,
missing intervals are empty, parameters are one column `k=v;k=v`.
"""

from operator import attrgetter

from strata.run import COLUMNS, Run, params_text
from strata.run.files import csv_bytes


def encode(run: Run, *, exact: bool = False) -> bytes:
    """The rows of `run` as the bytes of a CSV file; `exact` is `measurements.csv` itself.

    Otherwise words that a spreadsheet would execute get an apostrophe in front.
    """
    words = {
        "params": lambda row: params_text(row.params),
        "valid": lambda row: "true" if row.valid else "false",
    }
    columns = [words.get(column, attrgetter(column)) for column in COLUMNS]
    return csv_bytes(COLUMNS, ([cell(row) for cell in columns] for row in run.rows), exact=exact)
