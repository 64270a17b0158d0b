"""Figures that were drawn before, so that a report of a run that did not change takes seconds.

An entry of `strata.run.cache` has a figure of a run, or that there is none. It is used if all that
decides its look is the same: the content of the run, our code, the published tables, the libraries.
"""

import hashlib
import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version

import msgspec

from strata import reference
from strata.run import Run
from strata.run import cache as entries


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


def key_of(run: Run, formats: Sequence[str], *, headings: bool) -> str:
    """What identifies the drawings of a run: all that it holds, and how it is drawn."""
    content = pickle.dumps((_code(), [*formats], headings, run))
    return hashlib.sha256(content).hexdigest()


def read(name: str) -> list[Drawing] | None:
    """The drawing or none, if it is known and intact."""
    content = entries.read(f"{name}.figure")
    with suppress(msgspec.MsgspecError):
        return msgspec.msgpack.decode(content, type=list[Drawing]) if content else None
    return None


def write(name: str, drawings: Sequence[Drawing]) -> None:
    """Keep a drawing, or that there is none."""
    entries.write(f"{name}.figure", msgspec.msgpack.encode(drawings))


@cache
def _code() -> str:
    """The version of our code, of the published tables, and of what draws."""
    found = hashlib.sha256(entries.code().encode())
    for file in sorted(reference.folder().rglob("*")):
        if file.is_file():
            found.update(file.read_bytes())
    libraries = " ".join(version(name) for name in ("matplotlib", "numpy", "pandas", "scipy"))
    return found.hexdigest() + libraries
