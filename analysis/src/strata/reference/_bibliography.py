"""The bibliography: sources of published figures, and papers whose methods are used.

Pybtex reads `sources.bib` and formats its entries. The number of a source is its alphabetical
position. A wheel has the folder of published figures as `strata.reference.data`; in a checkout it
is found relative to this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from strata.run import RunError, read_text

if TYPE_CHECKING:
    from pybtex.database import Entry


MARK = "sources.bib"
"""The file by which the folder is known."""
CHECKOUT = Path(__file__).resolve().parents[4] / "results" / "reference"
FIX = "take the file from the repository (results/reference), or install the package again"


class ReferenceTableError(RunError):
    """An unusable table of published figures; its text is one line."""


@cache
def folder() -> Path:
    """The folder of the tables: the package's copy in a wheel, otherwise the repository's."""
    packaged = Path(str(files("strata.reference"))) / "data"
    for place in (packaged, CHECKOUT):
        if (place / MARK).is_file():
            return place
    found, expected = "no folder of published figures", f"{MARK} there or in {packaged}"
    raise ReferenceTableError(CHECKOUT, found=found, expected=expected, fix=FIX)


class Source(NamedTuple):
    """An entry of the bibliography: its number, from 1, and its text in BibTeX's plain style."""

    number: int
    key: str
    text: str
    entry: Entry


def read_bibliography(path: Path) -> tuple[Source, ...]:
    """The sources in a file, in order; `ReferenceTableError` for a bad file or a bad entry."""
    from pybtex.backends.plaintext import Backend
    from pybtex.database import parse_string
    from pybtex.exceptions import PybtexError
    from pybtex.style.formatting.plain import Style

    try:
        entries = parse_string(read_text(path), "bibtex").entries.values()
        texts = {one.key: one.text.render(Backend()) for one in Style().format_entries(entries)}
        for entry in entries:
            if entry.type == "incollection" and (note := entry.fields.get("note")):
                texts[entry.key] += f" {note}."  # which the style lacks
    # AttributeError: a kind that the style lacks.
    except (AttributeError, RunError, PybtexError) as error:
        found, expected = " ".join(f"{error}".split()), "entries of BibTeX, every key once"
        raise ReferenceTableError(path, found=found, expected=expected, fix=FIX) from error
    numbered = enumerate(sorted(entries, key=_order), start=1)
    return tuple(Source(number, one.key, texts[one.key], one) for number, one in numbered)


def _order(entry: Entry) -> tuple[str, ...]:
    """By the surnames of authors or the names of organisations, otherwise by the title."""
    surnames = (
        " ".join((*one.prelast_names, *one.last_names)) for one in entry.persons.get("author", [])
    )
    title, year = (entry.fields.get(name, "") for name in ("title", "year"))
    words = (", ".join(surnames) or title, year, title, entry.key)
    return tuple(word.translate({ord("{"): None, ord("}"): None}).casefold() for word in words)


def bibtex(sources: Iterable[Source]) -> str:
    """The sources for BibTeX."""
    from pybtex.database import BibliographyData

    text: str = BibliographyData({one.key: one.entry for one in sources}).to_string("bibtex")
    # Pybtex escapes URLs like other fields, but packages for URLs take them as they are.
    return re.sub('(?<=url = ").*(?=")', lambda url: url[0].replace("\\_", "_"), text)


@cache
def _by_key() -> dict[str, Source]:
    return {one.key: one for one in read_bibliography(folder() / MARK)}


def bibliography() -> tuple[Source, ...]:
    """All sources, in the order of their numbers; may raise `ReferenceTableError`."""
    return tuple(_by_key().values())


def source(key: str) -> Source:
    """The source with this key. Raises KeyError for a key that the bibliography lacks."""
    return _by_key()[key]


def cite(*keys: str) -> str:
    """`[12]`, or `[3, 12]` for several, by number. Raises KeyError for an unknown source."""
    return f"[{', '.join(map(str, sorted({source(key).number for key in keys})))}]"
