"""Figures that were drawn before, so that a report of a run that did not change takes seconds.

An entry of `strata.run.cache` is used if everything that decides how a figure looks is the same:
its data, our code, the libraries.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import NamedTuple

import msgspec
import pandas as pd

from strata.run import Row, cache


class Spot(NamedTuple):
    """A box in points from the lower left, and the row or the words that its tooltip shows."""

    box: tuple[float, float, float, float]
    shown: Row | str


class Picture(msgspec.Struct, frozen=True):
    """A drawing as files and as an element of a page; its size and its tooltips, in points."""

    files: Mapping[str, bytes]
    inline: str
    width: float
    height: float
    spots: Sequence[Spot]


def key_of(data: pd.DataFrame, *others: object) -> str:
    """What identifies a drawing of `data`; `others` are further things that decide its look."""
    cells = {f"{name}": [*data[name]] for name in data}
    parts = [_code(), others, cells, data.attrs]
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=repr)).hexdigest()


def read(key: str) -> Picture | None:
    """The drawing, if there is one and it is intact."""
    content = cache.read(f"{key}.figure")
    with suppress(msgspec.MsgspecError):
        return msgspec.msgpack.decode(content, type=Picture) if content else None
    return None


def write(key: str, picture: Picture) -> None:
    """Keep a drawing."""
    cache.write(f"{key}.figure", msgspec.msgpack.encode(picture))


def _code() -> str:
    """The version of our code and of what it draws with."""
    return cache.code() + " ".join(version(name) for name in ("matplotlib", "numpy", "pandas"))
