"""The heading of a picture outside its page: what it shows, of which device and run."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from strata.figures._letters import drawable, width_of
from strata.run import Run

TITLE, SMALL = 10.0, 7.0
"""The sizes of a title and of the lines below it."""
EDGE = 8.0
"""Points around a picture."""
MOST = 4
"""More runs than these are counted."""
LINES = 2
"""What needs more lines than these is cut short, with a mark."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A title, and one line per shown run."""

    title: str
    sources: Sequence[str]

    def fitted_title(self, wide: float) -> list[str]:
        """The lines of the title in a picture of this width in points."""
        return _fitted(self.title, wide - 2 * EDGE, TITLE, bold=True)

    def fitted_sources(self, wide: float) -> list[str]:
        """The lines of the runs."""
        return [line for one in self.sources for line in _fitted(one, wide - 2 * EDGE, SMALL)]


def heading_of(title: str, runs: Sequence[Run]) -> Heading:
    """The heading of a picture of several runs: one line for each, its device first."""
    of = [f"{run.context.device.name}, run {run.context.run}" for run in runs]
    more = [f"and {len(of) - MOST} more runs"] if len(of) > MOST else []
    return Heading(title, [*of[:MOST], *more])


def _fitted(words: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """The words in lines that fit, broken at spaces if possible."""

    def width(text: str) -> float:
        return width_of(text, size, bold=bold)

    left, lines = " ".join(drawable(words[:2000]).split()), list[str]()
    while left and len(lines) < LINES:
        end = bisect_right(range(1, len(left) + 1), room, key=lambda n: width(left[:n])) or 1
        space = left.rfind(" ", 1, end + 1) if end < len(left) else -1
        end = space if space > 0 else end
        lines.append(left[:end])
        left = left[end:].lstrip()
    if left:
        last = lines[-1]
        while last and width(f"{last}…") > room:
            last = last[:-1]
        lines[-1] = f"{last}…"
    return lines
