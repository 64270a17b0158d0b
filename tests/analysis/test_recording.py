"""A figure drawn once and written thrice: what is replayed is what a drawing of its own gives."""

from io import BytesIO

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.figure import Figure as Canvas
from PIL import Image

from strata.figures import _recording
from strata.figures._images import style, written


def drawn() -> Canvas:
    """A little of everything: lines, markers, a collection, hatches, clips, texts, a turned one."""
    canvas = Canvas(figsize=(4, 3), layout="constrained")
    left, right = canvas.subplots(1, 2)
    left.plot([0, 1, 2, 5], [0, 4, 2, 1], marker="o", linestyle="--", label="a line")
    left.bar([0, 1], [1, 2], hatch="///", facecolor="none", edgecolor="#0072B2")
    left.set_xlim(0, 2)
    left.set_ylabel("cycles ($10^9$)")
    left.legend()
    right.scatter([1, 2, 3], [3, 1, 2], s=[10, 40, 90], c=["#D55E00", "#009E73", "#CC79A7"])
    right.annotate("here", (2, 1), (1.2, 2), arrowprops={"arrowstyle": "->"}, rotation=30)
    right.fill_between([1, 2, 3], [0, 1, 0], [1, 2, 1], alpha=0.3)
    canvas.canvas.draw()
    canvas.set_layout_engine("none")
    return canvas


def replay(canvas: Canvas) -> dict[str, bytes]:
    """What a canvas writes that repeats what it drew once."""
    recording = _recording.record(canvas)
    assert recording
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canvas, "draw", lambda renderer: recording.play(renderer, canvas.dpi))
        return written(canvas)


def pixels(png: bytes) -> npt.NDArray[np.int_]:
    with Image.open(BytesIO(png)) as image:
        return np.asarray(image.convert("L")).astype(int)


def test_a_replayed_figure_is_the_drawn_one() -> None:
    with style():
        alone = written(drawn())
        replayed = replay(drawn())
    assert replayed["svg"] == alone["svg"]
    assert abs(len(replayed["pdf"]) - len(alone["pdf"])) < 0.02 * len(alone["pdf"])
    one, two = pixels(alone["png"]), pixels(replayed["png"])
    assert one.shape == two.shape
    # Letters may stand a part of a pixel elsewhere: their widths were taken without hints.
    assert (np.abs(one - two) > 64).mean() < 0.01
    assert abs(one.mean() - two.mean()) < 0.5


def test_a_figure_can_be_written_twice() -> None:
    with style():
        canvas = drawn()
        assert replay(canvas) == replay(canvas)


@pytest.mark.parametrize("kind", ["image", "mesh"])
def test_what_lives_in_pixels_is_drawn_for_each_format(kind: str) -> None:
    with style():
        canvas = Canvas(figsize=(2, 2))
        axes = canvas.subplots()
        if kind == "image":
            axes.imshow([[1, 2], [3, 4]])
        else:
            axes.pcolormesh([[1, 2], [3, 4]])
        assert _recording.record(canvas) is None
