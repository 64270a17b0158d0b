"""Strata's analysis: run folders in; figures, tables and one self-contained report out.

The package reads what the harness wrote and changes nothing in it. Its parts, in the order in which
data flow through them:

- `strata.run` reads a run folder into frozen records, or raises an error of one line;
- `strata.run.validate` recomputes `measurements.csv` from the samples and compares;
- `strata.model` turns records into the points, tables and sentences that are shown (pure), and
  judges rows of every run, old or new, by the same plausibility rules (`strata.model.truth`);
- `strata.figures` draws them, one file a figure;
- `strata.report` chooses files and style and writes everything;
- `strata.cli` is the command `python -m strata`.

What a program or a notebook wants first is here: `load_run`, `frame`, `findings`, `export`,
`bring_in`. analysis/README.md shows them and the rest, and a test runs what it shows.
"""

from strata.interop import bring_in, export
from strata.model.truth import load_run
from strata.run import Case, Context, Gate, Row, Run, RunError, frame
from strata.run.validate import findings

__all__ = [
    "Case",
    "Context",
    "Gate",
    "Row",
    "Run",
    "RunError",
    "bring_in",
    "export",
    "findings",
    "frame",
    "load_run",
]

__version__ = "0.1.0"
