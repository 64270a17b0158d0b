"""Export to Apache Parquet: the rows of a run as in `strata.frame`, one column per parameter.

Text is text (parameters too: `64` is a word of the sweep), `value`, its interval and range are
doubles in the row's `unit`, `samples` is an integer, `valid` is true or false; missing values are
null. Readable by anything: `pandas.read_parquet(FILE)`, DuckDB, Polars, R's arrow.
"""

from io import BytesIO

from strata.run import Run, frame

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")


def encode(run: Run) -> bytes:
    """The rows of `run` as the bytes of a Parquet file."""
    rows = frame(run)
    # A column without any value (an interval, a parameter of skipped cases) also has a type.
    bare = [name for name in rows.columns if rows[name].isna().all()]
    rows = rows.astype(dict.fromkeys(bare, "string") | dict.fromkeys(NUMBERS, "float64"))
    with BytesIO() as buffer:
        rows.to_parquet(buffer, engine="pyarrow", index=False)
        return buffer.getvalue()
