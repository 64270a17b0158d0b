"""Strata's analysis: run folders in; figures, tables and one self-contained report out.

The package reads what the harness wrote and changes nothing in it. Its parts, in the order in which
data flow through them:

- `strata.records` reads a run folder into frozen records, or says in one line why it cannot;
- `strata.validate` recomputes `measurements.csv` from the samples and compares;
- `strata.model` turns records into the points, tables and sentences that are shown (pure);
- `strata.figures` draws them, one file a figure;
- `strata.report` chooses files and style and writes everything;
- `strata.cli` is the command `python -m strata`.
"""

__version__ = "0.1.0"
