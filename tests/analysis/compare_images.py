"""The figures of a comparison as images, small ones, stored to be compared with.

    PYTHONPATH=analysis/src python tests/analysis/compare_images.py

draws them anew into tests/data/compare; look at them before they are committed.
"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from builders import DATA
from figure_images import DPI, draw_anew
from plots import drawn
from strata.compare import compare, devices
from strata.figures import _compare_changes, _compare_devices, _image, hierarchy_map
from strata.figures._plot import FIGURES, Plot
from strata.model.truth import load_run
from strata.run import Row, Run

IMAGES = DATA / "compare"


def recorded(device: str, commit: str) -> Run:
    """A tiny run that was cut from a recorded one."""
    (folder,) = DATA.glob(f"excerpt-{device}-*-{commit}")
    return load_run(folder)


def gpu() -> Run:
    """Of an H200."""
    return recorded("nvidia-h200", "0683d2f")


def moved(row: Row, place: int) -> Row:
    """The row with a little wander, and every fortieth 40 % up: no run is given twice."""
    factor = 1 + 0.002 * ((place * 7919) % 11 - 5) / 5
    factor *= 1.4 if place % 40 == 17 else 1
    taken = tuple(factor * value for value in row.taken)
    ends = {"minimum": min(taken), "maximum": max(taken), "taken": taken}
    return replace(row, run="moved", value=factor * row.value, **ends)


def moved_pair() -> tuple[Run, Run]:
    """A run, and itself moved, built with other flags."""
    before = gpu()
    build = replace(before.context.build, flags="-O2")
    rows = tuple(moved(row, place) for place, row in enumerate(before.rows))
    context = replace(before.context, run="moved", build=build)
    return before, replace(before, context=context, rows=rows)


def beside() -> devices.Devices:
    """An H200, a CPU, and what others published of two more."""
    cpu = recorded("intel-xeon-processor", "0cf4ff2")
    return devices.side_by_side([gpu(), cpu], ["A100", "V100"])


def two_maps() -> Plot:
    """The memory of an H200 and of an H100 on one map."""
    (other,) = DATA.glob("map-nvidia-h100-*")
    runs = [gpu(), load_run(other)]
    return dataclasses.replace(FIGURES["hierarchy_map"], data=lambda _: hierarchy_map.beside(runs))


PLOTS: Mapping[str, Callable[[], Plot]] = {
    "changes": lambda: _compare_changes.plot_of([compare(*moved_pair())]),
    "latency_curves": lambda: _compare_devices.plots_of(beside())[0],
    "devices": lambda: _compare_devices.plots_of(beside())[1],
    "map": two_maps,
}


def path_of(name: str) -> Path:
    """Where the image is stored."""
    return IMAGES / f"{name}.png"


def png(name: str) -> bytes:
    """The image, drawn."""
    with drawn(PLOTS[name]()) as figure:
        return _image.saved(figure, "png", dpi=DPI)


if __name__ == "__main__":
    draw_anew(IMAGES, PLOTS, png)
