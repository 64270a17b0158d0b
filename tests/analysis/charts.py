"""What a figure states, for tests: its caption and its data; and runs with other rows."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from builders import GPU_RUN
from strata.figures._plot import Plot, published
from strata.run import Row, Run, load_run


def caption_of(figure: Plot, run: Run) -> str:
    """The caption in full, with what is invalid."""
    return figure.full_caption(figure.data(run), run.context)


def data_of(figure: Plot, run: Run) -> Sequence[dict[str, str]]:
    """The lines of the data file."""
    data = figure.data(run)
    return list(csv.DictReader(StringIO(published(data).decode()))) if len(data) else []


def run_with(rows: Sequence[Row], folder: Path = GPU_RUN) -> Run:
    """A stored run with other rows."""
    return replace(load_run(folder), cases=(), rows=tuple(rows))


def timed(
    benchmark: str, params: Mapping[str, object], quantity: str, value: float, **changes: Any
) -> Row:
    """A row of a GPU, by events, with samples within a hundredth of `value`."""
    words = {axis: f"{setting}" for axis, setting in params.items()}
    row = Row(
        run="r", device="d", backend="cuda", suite="micro", benchmark=benchmark,
        case="/".join(words.values()), params=words, quantity=quantity, unit="B/s",
        provenance="timed", method="event_slope", value=value, ci_low=None, ci_high=None,
        minimum=0.99 * value, maximum=1.01 * value, samples=7, valid=True, reasons="",
    )  # fmt: skip
    return replace(row, **changes)
