"""Draw the figures of runs, on every core that this process may use.

Each figure is a separate task; its result does not depend on which process drew it, or when.
"""

import gc
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from strata import figures
from strata.figures._draw import draw as lay_out
from strata.figures._figure import Figure
from strata.figures._heading import headed, heading_of
from strata.figures._images import files
from strata.figures._sheet import Sheet
from strata.figures._svg import svg
from strata.run import Run
from strata.run.rows import Places


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of a run: its files by suffix, its data as CSV, and the rows that it shows.

    `places` are the positions of the shown rows among the rows of the run, from 0, each once, in
    drawing order. `width` is the width of the drawing in points. `hits` are the positions, in
    points from the upper left corner: left, top, the difference of the row number to that of the
    previous hit, and for a bar `x` width and height. Items that are not rows of the run have `t`
    and the number of their words, which follow after all hits. A figure that cannot be drawn has
    only its title and, in `failure`, the reason.
    """

    name: str
    title: str
    order: int = 0
    failure: str = ""
    caption: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    inline: str = ""
    width: float = 0.0
    data: bytes = b""
    places: tuple[int, ...] = ()
    hits: str = ""


def draw(figure: Figure[Any], run: Run, places: Places, *, headings: bool) -> Drawing | None:
    """One figure of a run; None if it has nothing for it; with a heading on request."""
    try:
        items = figure.items(run)
        if not items:
            return None
        shown = dict.fromkeys(places.of(row) for row in map(figure.row, items) if row)
        sheet = lay_out(figure.chart(items))
        return Drawing(
            name=figure.name,
            title=figure.title,
            order=figure.order,
            caption=figure.full_caption(items, run.context),
            images=files(headed(sheet, heading_of(figure.title, [run])) if headings else sheet),
            inline=svg(sheet),
            width=sheet.width,
            data=figure.data(items),
            places=tuple(shown),
            hits=hits(sheet, places),
        )
    except Exception as error:  # noqa: BLE001  (whatever it is, it costs this figure alone)
        return Drawing(figure.name, figure.title, figure.order, f"{type(error).__name__}: {error}")


def hits(sheet: Sheet, places: Places) -> str:
    """The positions of what the sheet shows, as `Drawing.hits`."""
    found, texts, last = list[str](), list[str](), 0
    for (x0, y0, x1, y1), row, told in sheet.hits:
        number = places.of(row) + 1 if row else last
        shown = f"{number - last}" if row else f"t{len(texts)}"
        size = f"x{x1 - x0:.0f} {y1 - y0:.0f}" if (x0, y0) != (x1, y1) else ""
        found.append(f"{x0:.0f} {sheet.height - y1:.0f} {shown}{size}")
        texts += [] if row else [told.replace("|", "/")]
        last = number
    return "|".join([",".join(found), *texts])


_work: Sequence[Callable[[], Drawing | None]] = ()
"""What the processes draw: they are copies of this one, so nothing has to be sent to them."""


@contextmanager
def drawn(
    runs: Sequence[Run], places: Sequence[Places], *, headings: bool = True
) -> Iterator[Callable[[], list[list[Drawing]]]]:
    """Starts drawing every figure of every run that has something to show.

    The returned function waits for them, run by run, in their order. Work before its call is done
    concurrently.
    """
    global _work  # noqa: PLW0603  (a forked process gets it from here)
    found = figures.discover()
    for run in runs:
        run.of("")  # sorts the rows by benchmark once instead of in every process
    _work = [
        partial(draw, one, *of, headings=headings)
        for of in zip(runs, places, strict=True)
        for one in found
    ]
    gc.freeze()  # garbage collection would write to all the shared memory of the records
    try:
        with _everywhere(len(_work)) as done:

            def by_run() -> list[list[Drawing]]:
                made = list(done())
                each = [made[at : at + len(found)] for at in range(0, len(made), len(found))]
                return [[one for one in of if one] for of in each]

            yield by_run
    finally:
        gc.unfreeze()
        _work = ()


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _everywhere(tasks: int) -> Iterator[Callable[[], Iterator[Drawing | None]]]:
    workers = min(cores(), tasks)
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield lambda: map(_drawing, range(tasks))
        return
    # A drawing process ends soon: garbage collection would only copy the records' memory.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), initializer=gc.disable)
    with pool, warnings.catch_warnings():
        # Newer interpreters warn of threads at a fork. Those of the numpy library are idle here.
        warnings.simplefilter("ignore", DeprecationWarning)
        # The last figures of a page are its largest: started first, so that all cores end together.
        waiting = [pool.submit(_drawing, task) for task in reversed(range(tasks))][::-1]
        try:
            yield lambda: (one.result() for one in waiting)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _drawing(task: int) -> Drawing | None:
    return _work[task]()
