"""Draw the figures of runs, on every core that this process may use.

Each figure is a separate task; its result does not depend on which process drew it, or when.
"""

import gc
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import pandas as pd

from strata import figures
from strata.figures import _cache, _image, _style
from strata.figures._cache import Drawing
from strata.figures._plot import FORMATS, Plot, published
from strata.run import Row, Run
from strata.run.rows import Places


class Spot(NamedTuple):
    """A box in points from the lower left, and the row or the words that its tooltip shows."""

    box: Sequence[float]
    shown: Row | str


class Picture(NamedTuple):
    """A drawing as files and as an element of a page; its size and its tooltips, in points."""

    files: Mapping[str, bytes]
    inline: str
    width: float
    height: float
    spots: Sequence[Spot]


def draw(
    figure: Plot, run: Run, places: Places, formats: Sequence[str] = FORMATS, *, headings: bool
) -> Drawing | None:
    """One figure of a run; None if it has nothing for it; with a heading on request."""
    try:
        data = figure.data(run)
        if data.empty:
            return None
        image = picture(figure, data, [run], formats, headings=headings)
        return Drawing(
            name=figure.name,
            title=figure.title,
            order=figure.order,
            caption=figure.full_caption(data, run.context),
            images=image.files,
            inline=image.inline,
            width=image.width,
            data=published(data),
            places=tuple(dict.fromkeys(places.of(row) for row in data["_row"] if row)),
            hits=hits(image.spots, image.height, places),
        )
    except Exception as error:  # noqa: BLE001  (whatever it is, it costs this figure alone)
        return Drawing(figure.name, figure.title, figure.order, f"{type(error).__name__}: {error}")


def _draw_once(
    key: str, figure: Plot, run: Run, places: Places, formats: Sequence[str], *, headings: bool
) -> Drawing | None:
    """`draw`, unless the cache has it; a failure is not kept."""
    name = f"{key}-{figure.name}"
    if (known := _cache.read(name)) is None:
        drawing = draw(figure, run, places, formats, headings=headings)
        known = [drawing] if drawing else []
        if not (drawing and drawing.failure):
            _cache.write(name, known)
    return known[0] if known else None


def image(
    figure: Plot, run: Run, suffix: str, *, width: float | None = None, headings: bool = True
) -> bytes:
    """A figure of a run in one format; empty if it has nothing for it."""
    data = figure.data(run)
    if data.empty:
        return b""
    with _style.styled():
        drawn = figure.plot(data, width)
        return figure.files(drawn, [run], [suffix], headings=headings)[suffix]


def picture(
    plot: Plot, data: pd.DataFrame, runs: Sequence[Run], formats: Sequence[str], *, headings: bool
) -> Picture:
    """What the data look like."""
    with _style.styled():
        figure = plot.plot(data)
        wide, tall = (_style.POINT * float(side) for side in figure.get_size_inches())
        spots = [Spot([*map(float, box.extents)], shown) for box, shown in _style.hits(figure)]
        files = plot.files(figure, runs, formats, headings=headings)
        _image.name_series(figure)
        return Picture(files, _image.saved(figure, "svg").decode(), wide, tall, spots)


def hits(found: Iterable[Spot], height: float, places: Places) -> str:
    """The positions of tooltips, as `Drawing.hits`."""
    spots, texts, last = list[str](), list[str](), 0
    for (x0, y0, x1, y1), shown in found:
        name = f"t{len(texts)}"
        if isinstance(shown, str):
            texts.append(shown.replace("|", "/"))
        else:
            number = places.of(shown) + 1
            name, last = f"{number - last}", number
        size = f"x{x1 - x0:.0f} {y1 - y0:.0f}" if (x0, y0) != (x1, y1) else ""
        spots.append(f"{x0:.0f} {height - y1:.0f} {name}{size}")
    return "|".join([",".join(spots), *texts])


_tasks: Sequence[Callable[[], Drawing | None]] = ()
"""What the processes draw: they are copies of this one, so nothing has to be sent to them."""


@contextmanager
def drawn(
    runs: Sequence[Run], places: Sequence[Places], formats: Sequence[str] = FORMATS,
    *, headings: bool = True,
) -> Iterator[Callable[[], list[list[Drawing]]]]:  # fmt: skip
    """Starts drawing every figure of every run that has something to show.

    The returned function waits for them, run by run, in their order. Work before its call is done
    concurrently.
    """
    global _tasks  # noqa: PLW0603  (a forked process gets it from here)
    found = figures.discover()
    for run in runs:
        run.of("")  # sorts the rows by benchmark once instead of in every process
    keys = [_cache.key_of(run, formats, headings=headings) for run in runs]
    _tasks = [
        partial(_draw_once, key, figure, run, known, formats, headings=headings)
        for key, run, known in zip(keys, runs, places, strict=True)
        for figure in found
    ]
    gc.freeze()  # garbage collection would write to all the shared memory of the records
    try:
        with _started() as results:

            def by_run() -> list[list[Drawing]]:
                made = [*results()]
                each = [made[n * len(found) : (n + 1) * len(found)] for n in range(len(runs))]
                return [[drawing for drawing in of if drawing] for of in each]

            yield by_run
    finally:
        gc.unfreeze()
        _tasks = ()


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _started() -> Iterator[Callable[[], Iterator[Drawing | None]]]:
    workers = min(cores(), len(_tasks))
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield lambda: (task() for task in _tasks)
        return
    # A drawing process ends soon: garbage collection would only copy the records' memory.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), initializer=gc.disable)
    with pool, warnings.catch_warnings():
        # Newer interpreters warn of threads at a fork. Those of the numpy library are idle here.
        warnings.simplefilter("ignore", DeprecationWarning)
        # The last figures of a page are its largest: started first, so that all cores end together.
        waiting = [pool.submit(_run_task, task) for task in reversed(range(len(_tasks)))][::-1]
        try:
            yield lambda: (task.result() for task in waiting)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_task(number: int) -> Drawing | None:
    return _tasks[number]()
