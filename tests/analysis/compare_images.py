"""The figures of a comparison as images, small ones, stored to be compared with.

    PYTHONPATH=analysis/src python tests/analysis/compare_images.py

draws them anew into tests/data/compare; look at them before they are committed.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from builders import DATA
from figure_images import DPI, draw_anew
from strata.compare import compare, devices
from strata.figures import _compare_changes, _compare_devices, _images
from strata.figures._chart import Chart
from strata.figures._draw import draw
from strata.model.truth import load_run
from strata.run import Row, Run

IMAGES = DATA / "compare"


def recorded(device: str, commit: str) -> Run:
    """A tiny run that was cut from a recorded one."""
    (folder,) = DATA.glob(f"excerpt-{device}-*-{commit}")
    return load_run(folder)


def moved(row: Row, place: int) -> Row:
    """The row with a little wander, and every fortieth 40 % up: no run is given twice."""
    factor = 1 + 0.002 * ((place * 7919) % 11 - 5) / 5
    factor *= 1.4 if place % 40 == 17 else 1
    taken = tuple(factor * value for value in row.taken)
    return replace(
        row,
        run="moved",
        value=factor * row.value,
        minimum=min(taken),
        maximum=max(taken),
        taken=taken,
    )


def moved_pair() -> tuple[Run, Run]:
    """An excerpt of the H200, and itself moved, built with other flags."""
    before = recorded("nvidia-h200", "0683d2f")
    build = replace(before.context.build, flags="-O2")
    rows = tuple(moved(row, place) for place, row in enumerate(before.rows))
    context = replace(before.context, run="moved", build=build)
    return before, replace(before, context=context, rows=rows)


def changes() -> Chart:
    """The pair, compared."""
    return _compare_changes.chart([compare(*moved_pair())])


def beside() -> devices.Devices:
    """An H200, a CPU, and what others published of two more."""
    runs = [recorded("nvidia-h200", "0683d2f"), recorded("intel-xeon-processor", "0cf4ff2")]
    return devices.side_by_side(runs, ["A100", "V100"])


def side_by_side() -> Chart:
    """Every number that they have."""
    return _compare_devices.chart(beside())


def curves() -> Chart:
    """The dependent loads of those that were run."""
    chart = _compare_devices.latency(beside())
    assert chart
    return chart


CHARTS: Mapping[str, Callable[[], Chart]] = {
    "changes": changes,
    "devices": side_by_side,
    "latency_curves": curves,
}


def path_of(name: str) -> Path:
    """Where the image is stored."""
    return IMAGES / f"{name}.png"


def png(name: str) -> bytes:
    """The image, drawn."""
    return _images.png(draw(CHARTS[name]()), DPI)


def main() -> int:
    draw_anew(IMAGES, CHARTS, png)
    return 0


if __name__ == "__main__":
    sys.exit(main())
