"""The bibliography: every source of published figures, and papers whose methods are used.

Its numbers are the alphabetical positions of the sources.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from strata.reference._files import MARK, MEND, ReferenceTableError, folder, read

_AND = re.compile(r" and (?![^{]*\})")
"""Between two authors, and not within the braces of an organisation's name."""


class Source(Struct, frozen=True, kw_only=True):
    """One source: a row of `sources.csv`; `link` and `issue` are its columns url and number."""

    key: Annotated[str, Meta(pattern="^[a-z][a-z0-9]*$", description="small letters and digits")]
    kind: Literal[
        "article", "book", "incollection", "inproceedings", "mastersthesis", "misc", "techreport"
    ]
    author: str = ""
    title: str
    year: str = ""
    where: str = ""
    publisher: str = ""
    issue: str = field(name="number", default="")
    pages: str = ""
    eprint: Annotated[
        str, Meta(pattern=r"^(\d{4}\.\d{4,5})?$", description="a number of arXiv, as 1804.06826")
    ] = ""
    doi: str = ""
    link: str = field(name="url", default="")
    note: str = ""

    def __post_init__(self) -> None:
        if not (self.where or self.publisher or self.eprint or self.link):
            raise ValueError(f"no place of '{self.key}': where, publisher, eprint or url")

    @property
    def number(self) -> int:
        """Its number in the bibliography, from 1."""
        return _by_key()[self.key][0]

    @property
    def in_book(self) -> bool:
        """Whether its `issue` is the number of a chapter."""
        return self.kind in ("book", "incollection")

    @property
    def surnames(self) -> tuple[str, ...]:
        """Surnames of persons; organisations in full."""
        authors = filter(None, _AND.split(self.author))
        return tuple(name.strip("{}").partition(",")[0] for name in authors)

    @property
    def order(self) -> tuple[str, ...]:
        """Sort key: the authors, otherwise the title."""
        first = ", ".join(self.surnames) or self.title
        return (first.casefold(), self.year, self.title.casefold(), self.key)

    @property
    def url(self) -> str:
        """Its web address; may be blank."""
        if self.link or not (self.doi or self.eprint):
            return self.link
        return f"https://doi.org/{self.doi}" if self.doi else f"https://arxiv.org/abs/{self.eprint}"

    @property
    def text(self) -> str:
        """The printed entry: authors, title, publication with pages and year, eprint, note."""
        names = self.surnames
        authors = " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
        if names[-1:] == ("others",):
            authors = f"{', '.join(names[:-1])} et al"  # before a full stop
        place = (
            "Master's thesis" if self.kind == "mastersthesis" else "",
            "" if self.kind == "techreport" and self.where in names else self.where,
            self.publisher,
            f"chapter {self.issue}" if self.issue and self.in_book else self.issue,
            f"pp. {self.pages.replace('--', '–')}" if self.pages else "",
            "" if self.year in self.where.split() else self.year,
        )
        eprint = f"arXiv:{self.eprint}" if self.eprint else ""
        doi = f"doi:{self.doi}" if self.doi else ""
        where = ", ".join(filter(None, place))
        parts = (authors, self.title, where, eprint, doi, self.link, self.note)
        return " ".join(f"{part}." for part in parts if part)


def read_bibliography(path: Path) -> tuple[Source, ...]:
    """The sources in a file, in order; `ReferenceTableError` for a bad file or repeated key."""
    sources: dict[str, Source] = {}
    for one in read(path, Source):
        if one.key in sources:
            found, expected = f"the key '{one.key}' twice", "every key once"
            raise ReferenceTableError(path, found=found, expected=expected, mend=MEND)
        sources[one.key] = one
    return tuple(sorted(sources.values(), key=lambda one: one.order))


@cache
def bibliography() -> tuple[Source, ...]:
    """All sources, in the order of their numbers; may raise `ReferenceTableError`."""
    return read_bibliography(folder() / MARK)


@cache
def _by_key() -> Mapping[str, tuple[int, Source]]:
    return {one.key: (place, one) for place, one in enumerate(bibliography(), start=1)}


def source(key: str) -> Source:
    """The source with this key. Raises KeyError for a key that the bibliography lacks."""
    return _by_key()[key][1]


def cite(*keys: str) -> str:
    """`[12]`, or `[3, 12]` for several, by number. Raises KeyError for an unknown source."""
    return f"[{', '.join(map(str, sorted({source(key).number for key in keys})))}]"
