"""Draw a figure once and write it thrice.

To draw, matplotlib asks every artist where it stands, each tick and each label again for each
format, which takes longer than writing the format does. A recording holds what the artists said: at
72 dots an inch, as SVG and PDF have it. Replayed, an SVG is the same to the byte.

What lives in pixels (images, meshes) is not recorded: then `record` gives None, and each format is
drawn by itself.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox, Transform, TransformedPath

DPI = 72


class _NotRecordedError(Exception):
    """Something is drawn that a recording does not hold."""


Call = Callable[["_Player"], None]


class _Recorder(RendererBase):
    """Keeps the calls that artists make, with copies of all that they may change afterwards."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height
        self.calls: list[Call] = []
        self._clips: dict[int, tuple[Any, Any]] = {}

    # What artists ask a renderer while they draw, as SVG answers.

    def flipy(self) -> bool:
        return True

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def get_text_width_height_descent(
        self, s: str, prop: Any, ismath: Any
    ) -> tuple[float, float, float]:
        measured: tuple[float, float, float] = self._text2path.get_text_width_height_descent(
            s, prop, ismath
        )
        return measured

    # What they draw.

    def open_group(self, s: str, gid: str | None = None) -> None:
        self.calls.append(lambda player: player.to.open_group(s, gid))

    def close_group(self, s: str) -> None:
        self.calls.append(lambda player: player.to.close_group(s))

    def draw_path(self, gc: Any, path: Path, transform: Transform, *face: Any) -> None:
        kept: Any = self._kept(gc)
        place: Any = transform.frozen()
        self.calls.append(
            lambda player: player.draw(kept, "draw_path", path, player.scaled(place), *face)
        )

    def draw_markers(
        self, gc: Any, marker_path: Path, marker_trans: Transform, path: Path, *rest: Any
    ) -> None:
        kept: Any = self._kept(gc)
        shape: Any = marker_trans.frozen()
        place = rest[0].frozen()
        self.calls.append(
            lambda player: player.draw(
                kept, "draw_markers", marker_path, player.scaled(shape), path,
                player.scaled(place), *rest[1:],
            )
        )  # fmt: skip

    def draw_path_collection(
        self,
        gc: Any,
        master_transform: Transform,
        paths: Sequence[Path],
        all_transforms: Any,
        *rest: Any,
        **named: Any,
    ) -> None:
        offsets, shift = rest[0], rest[1].frozen()
        kept: Any = self._kept(gc)
        whole: Any = master_transform.frozen()
        self.calls.append(
            lambda player: player.draw(
                kept, "draw_path_collection", player.scaled(whole), paths, all_transforms,
                offsets, player.scaled(shift), *rest[2:], **named,
            )
        )  # fmt: skip

    def draw_text(self, gc: Any, x: float, y: float, s: str, *rest: Any, **named: Any) -> None:
        kept, font = self._kept(gc), rest[0].copy()
        self.calls.append(
            lambda player: player.draw(
                kept, "draw_text", x * player.scale, player.upright(y), s, font, *rest[1:], **named
            )
        )

    def _kept(self, gc: Any) -> Any:
        """A copy of the context whose clips stay where they are when the figure is scaled.

        Renderers compare clips by what they are, so one that is used twice stays one.
        """
        kept: Any = GraphicsContextBase()
        kept.copy_properties(gc)
        box, path = kept._cliprect, kept._clippath
        if box is not None:
            if id(box) not in self._clips:
                self._clips[id(box)] = (box, box.frozen())
            kept.set_clip_rectangle(self._clips[id(box)][1])
        if path is not None:
            if id(path) not in self._clips:
                inner, affine = path.get_transformed_path_and_affine()
                self._clips[id(path)] = (path, TransformedPath(inner, affine.frozen()))
            kept.set_clip_path(self._clips[id(path)][1])
        return kept

    # What a recording does not hold.

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise _NotRecordedError

    draw_image = draw_quad_mesh = draw_gouraud_triangles = draw_tex = _refuse
    start_rasterizing = start_filter = _refuse


class _Player:
    """Repeats the calls to another renderer, at its scale and with its idea of up."""

    def __init__(self, renderer: Any, scale: float, height: float) -> None:
        self.to, self.scale = renderer, scale
        self._matrix = Affine2D().scale(scale)
        self._height = height * scale
        self._clips: dict[int, Any] = {}

    def scaled(self, transform: Transform) -> Transform:
        """From dots of the recording to those of the renderer."""
        return transform if self.scale == 1 else transform + self._matrix

    def upright(self, y: float) -> float:
        """A height that was told from above, as the renderer counts it."""
        return y * self.scale if self.to.flipy() else self._height - y * self.scale

    def draw(self, kept: Any, name: str, *arguments: Any, **named: Any) -> None:
        """One call, with a graphics context of the renderer's own."""
        gc = self.to.new_gc()
        gc.copy_properties(kept)
        if self.scale != 1:
            self._scale_clips(gc, kept)
        getattr(self.to, name)(gc, *arguments, **named)
        gc.restore()

    def _scale_clips(self, gc: Any, kept: Any) -> None:
        box, path = kept._cliprect, kept._clippath
        if box is not None:
            if id(box) not in self._clips:
                self._clips[id(box)] = Bbox(box.get_points() * self.scale)
            gc.set_clip_rectangle(self._clips[id(box)])
        if path is not None:
            if id(path) not in self._clips:
                inner, affine = path.get_transformed_path_and_affine()
                self._clips[id(path)] = TransformedPath(inner, self.scaled(affine.frozen()))
            gc.set_clip_path(self._clips[id(path)])


class Recording:
    """What a figure draws; `play` draws it again."""

    def __init__(self, calls: Sequence[Call], height: float) -> None:
        self._calls, self._height = calls, height

    def play(self, renderer: Any, dpi: float) -> None:
        """Everything that was recorded, to a renderer of so many dots an inch."""
        player = _Player(renderer, dpi / DPI, self._height)
        for call in self._calls:
            call(player)


def record(figure: Figure) -> Recording | None:
    """What the figure draws, laid out as it is; None where some of it cannot be recorded."""
    figure.set_dpi(DPI)
    width, height = figure.get_size_inches() * DPI
    recorder = _Recorder(width, height)
    try:
        figure.draw(recorder)
    except _NotRecordedError:
        return None
    return Recording(recorder.calls, height)
