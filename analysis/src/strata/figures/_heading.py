"""The heading of a picture outside its page: what it shows, of which device and run."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata.figures._legend import EDGE
from strata.figures._letters import width_of
from strata.figures._panel import SMALL
from strata.figures._sheet import Sheet, Text, drawable
from strata.run import Run

TITLE = 10.0
"""The size of a title."""
QUIET = "#595959"
GAP = 3.0
"""Points from the title to the lines below it; twice as many to the picture."""
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


def headed(sheet: Sheet, heading: Heading) -> Sheet:
    """The sheet with its heading added at the top; its content stays in place."""
    title, told = heading.fitted_title(sheet.width), heading.fitted_sources(sheet.width)
    first = Text(EDGE, 0, "\n".join(title), TITLE, across="left", up="top", bold=True)
    then = Text(EDGE, 0, "\n".join(told), SMALL, QUIET, "left", "top")
    top = sheet.height + EDGE + first.height + GAP + then.height + 2 * GAP
    under = top - EDGE - first.height - GAP
    both = (replace(first, y=top - EDGE), replace(then, y=under))
    return replace(sheet, height=top, things=(*sheet.things, *both))


def _fitted(words: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """The words in lines that fit, broken at spaces if possible."""

    def width(text: str) -> float:
        return width_of(text, size, bold)

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
