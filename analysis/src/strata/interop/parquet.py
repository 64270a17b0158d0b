"""Apache Parquet out: the rows of a run as `strata.frame` gives them, a column a parameter.

Read it with anything: `pandas.read_parquet(FILE)`, DuckDB, Polars, R's arrow. The package
`pyarrow` writes it; without it there is one line that says how to install it.
"""

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from strata.run import Run, RunError, frame

NUMBERS = ("value", "ci_low", "ci_high", "minimum", "maximum")


def encode(run: Run) -> bytes:
    """The rows of `run` as the bytes of a Parquet file.

    Text is text (parameters too: `64` is a word of the sweep), `value`, its interval and range are
    doubles in the row's `unit`, `samples` is a whole number, `valid` is true or false; what a row
    does not have is null. Raises `RunError` where `pyarrow` is not installed.
    """
    if find_spec("pyarrow") is None:
        raise RunError(
            Path("pyarrow"),
            found="no such package",
            expected="Python's package pyarrow, which writes Parquet",
            mend="pip install pyarrow (strata's extra `parquet`)",
        )
    rows = frame(run)
    # A run without a single interval would have a column without a type.
    rows = rows.astype({name: "float64" for name in NUMBERS if name in rows.columns})
    # Nor has a parameter that skipped cases alone have.
    bare = [name for name in rows.columns if rows[name].isna().all() and name not in NUMBERS]
    rows = rows.astype(dict.fromkeys(bare, "string"))
    with BytesIO() as buffer:
        rows.to_parquet(buffer, engine="pyarrow", index=False)
        return buffer.getvalue()
