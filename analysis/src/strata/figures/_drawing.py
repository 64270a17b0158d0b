"""Draw the figures of runs, on every core that this process may use.

Each figure is a piece of work of its own; what comes out does not depend on who drew it, nor when.
"""

import csv
import gc
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any

from strata import figures
from strata.figures import _draw
from strata.figures import _figure as charted
from strata.report.all_rows import Places
from strata.run import Run


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of a run: its files by suffix, its data as CSV, and the rows that it shows.

    `places` are those of the rows among the rows of the run, from 0, each once, as they are drawn.
    """

    name: str
    title: str
    caption: str
    images: Mapping[str, bytes]
    data: bytes
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Work:
    """What the processes share: they are copies of this one, so nothing has to be sent to them."""

    figures: Sequence[figures.Figure[Any]]
    runs: Sequence[Run]
    places: Sequence[Places]


_work: _Work | None = None


@contextmanager
def drawn(
    runs: Sequence[Run], places: Sequence[Places]
) -> Iterator[Callable[[], list[list[Drawing]]]]:
    """Begins to draw every figure of every run that has something to show.

    The function that it gives waits for them: run by run, in their order. What the caller does
    before it calls is done meanwhile.
    """
    global _work  # noqa: PLW0603  (a forked process gets it from here)
    found = figures.discover()
    tasks = [(run, figure) for run in range(len(runs)) for figure in range(len(found))]
    _work = _Work(figures=found, runs=runs, places=places)
    gc.freeze()  # a walk over the records for garbage writes to all the memory that is shared
    try:
        with _everywhere(tasks) as done:
            yield lambda: _by_run(len(runs), tasks, done())
    finally:
        gc.unfreeze()
        _work = None


def _by_run(
    runs: int, tasks: Sequence[tuple[int, int]], done: Sequence[Drawing | None]
) -> list[list[Drawing]]:
    result: list[list[Drawing]] = [[] for _ in range(runs)]
    for (run, _), drawing in zip(tasks, done, strict=True):
        if drawing is not None:
            result[run].append(drawing)
    return result


@contextmanager
def _everywhere(
    tasks: Sequence[tuple[int, int]],
) -> Iterator[Callable[[], list[Drawing | None]]]:
    workers = min(_cores(), len(tasks))
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield lambda: [_drawing(*task) for task in tasks]
        return
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("fork"), initializer=_begin
    ) as pool:
        with warnings.catch_warnings():
            # Newer interpreters warn of threads at a fork. Those of numpy's library are idle here.
            warnings.simplefilter("ignore", DeprecationWarning)
            # The last figures of a page are its largest: begun first, all cores end together.
            waiting = [pool.submit(_drawing, *task) for task in reversed(tasks)][::-1]
        try:
            yield lambda: [one.result() for one in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin() -> None:
    """A process that draws ends soon: looking for garbage would only copy the records' memory."""
    gc.disable()


def _drawing(run: int, figure: int) -> Drawing | None:
    if _work is None:
        raise RuntimeError("nothing to draw")
    return draw(_work.figures[figure], _work.runs[run], _work.places[run])


def draw(figure: Any, run: Run, places: Places) -> Drawing | None:
    """One figure of a run; None where it has nothing for it."""
    if isinstance(figure, charted.Figure):
        return draw_chart(figure, run, places)
    items = figure.items(run)
    if not items:
        return None
    with figures.style():
        images = figures.images(figures.render(figure, items))
    shown = dict.fromkeys(places.of(row) for row in map(figure.source, items))
    return Drawing(
        name=figure.name,
        title=figure.title,
        caption=figures.full_caption(figure, items, run.context),
        images=images,
        data=_data(figure, items),
        places=tuple(shown),
    )


def draw_chart(figure: charted.Figure[Any], run: Run, places: Places) -> Drawing | None:
    """One figure of a run; None where it has nothing for it."""
    items = figure.items(run)
    if not items:
        return None
    with figures.style():
        images = figures.images(_draw.draw(figure.chart(items)))
    shown = dict.fromkeys(places.of(row) for row in map(figure.row, items))
    return Drawing(
        name=figure.name,
        title=figure.title,
        caption=figure.full_caption(items, run.context),
        images=images,
        data=figure.data(items),
        places=tuple(shown),
    )


def _data(figure: figures.Figure[Any], items: Sequence[Any]) -> bytes:
    buffer = StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(figure.columns)
    for item in items:
        writer.writerow(
            [f"{cell}".lower() if isinstance(cell, bool) else cell for cell in figure.cells(item)]
        )
    return buffer.getvalue().encode()
