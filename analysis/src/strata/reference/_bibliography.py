"""The bibliography: every source of published figures, and papers whose methods are used.

Its numbers are fixed: the place of a source among all of them, in the order of the alphabet.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from strata.reference._files import MARK, Line, folder, lines

COLUMNS = (
    "key", "kind", "author", "title", "year", "where", "publisher", "number", "pages", "eprint",
    "doi", "url", "note",
)  # fmt: skip
_WHERE = {
    "article": "journal",
    "book": "howpublished",
    "incollection": "booktitle",
    "inproceedings": "booktitle",
    "mastersthesis": "school",
    "misc": "howpublished",
    "techreport": "institution",
}
"""Kinds of entries, and the field of BibTeX that says where each appeared."""
_NUMBER = {"book": "chapter", "incollection": "chapter", "techreport": "number"}
_KEY = re.compile(r"[a-z][a-z0-9]*", re.ASCII)
_AND = re.compile(r" and (?![^{]*\})")
"""Between two authors, and not within the braces of an organisation's name."""
_EPRINT = re.compile(r"\d{4}\.\d{4,5}", re.ASCII)
_BIBTEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ä": r"{\"a}",
    "ö": r"{\"o}",
    "ü": r"{\"u}",
    "é": r"{\'e}",
    "–": "--",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One source. `text` is what a bibliography prints, `bibtex` the same as an entry of BibTeX.

    `number` counts from 1; `short` names it in a sentence (`Jia et al. 2018`); `url` may be blank.
    """

    key: str
    number: int
    short: str
    text: str
    bibtex: str
    url: str


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    kind: str
    authors: tuple[str, ...]
    title: str
    year: str
    where: str
    publisher: str
    number: str
    pages: str
    eprint: str
    doi: str
    url: str
    note: str

    @property
    def surnames(self) -> tuple[str, ...]:
        """Of persons; organisations whole."""
        return tuple(name.strip("{}").partition(",")[0] for name in self.authors)

    @property
    def order(self) -> tuple[str, ...]:
        """By who wrote it, or else by its title."""
        first = ", ".join(self.surnames) or self.title
        return (first.casefold(), self.year, self.title.casefold(), self.key)


def _entry(line: Line) -> _Entry:
    entry = _Entry(
        key=line.word("key"),
        kind=line.one_of("kind", tuple(_WHERE)),
        authors=tuple(filter(None, _AND.split(line.text("author")))),
        title=line.word("title"),
        year=line.text("year"),
        where=line.text("where"),
        publisher=line.text("publisher"),
        number=line.text("number"),
        pages=line.text("pages"),
        eprint=line.text("eprint"),
        doi=line.text("doi"),
        url=line.text("url"),
        note=line.text("note"),
    )
    if not _KEY.fullmatch(entry.key):
        raise line.bad(f"the key '{entry.key}'", "small letters and digits, a letter first")
    if entry.eprint and not _EPRINT.fullmatch(entry.eprint):
        raise line.bad(f"the eprint '{entry.eprint}'", "a number of arXiv, as 1804.06826")
    if not (entry.where or entry.publisher or entry.eprint or entry.url):
        raise line.bad(f"no place of '{entry.key}'", "where it appeared, its eprint or its url")
    return entry


def _bibtex(entry: _Entry) -> str:
    """An entry of BibTeX; names of organisations and titles keep their capitals."""
    number = {}
    if entry.kind == "article":
        volume, _, issue = entry.number.partition("(")
        number = {"volume": volume, "number": issue.rstrip(")")}
    elif entry.number:
        number = {_NUMBER[entry.kind]: entry.number}
    fields = {
        "author": " and ".join(entry.authors),
        "title": f"{{{_escaped(entry.title)}}}",
        _WHERE[entry.kind]: entry.where,
        "publisher": entry.publisher,
        **number,
        "pages": entry.pages,
        "year": entry.year,
        "eprint": entry.eprint,
        "archiveprefix": "arXiv" if entry.eprint else "",
        "doi": entry.doi,
        "url": entry.url,
        "note": entry.note,
    }
    as_they_are = ("author", "title", "doi", "url")
    told = [
        f"  {name} = {{{text if name in as_they_are else _escaped(text)}}},"
        for name, text in fields.items()
        if text
    ]
    return "\n".join([f"@{entry.kind}{{{entry.key},", *told, "}"])


def _escaped(text: str) -> str:
    return "".join(_BIBTEX.get(letter, letter) for letter in text)


def _text(entry: _Entry) -> str:
    """Authors. Title. Where, pages, year. Eprint. Url. Note."""
    of_it = {"book": "chapter ", "incollection": "chapter "}.get(entry.kind, "")
    thesis = "Master's thesis" if entry.kind == "mastersthesis" else ""
    where = "" if entry.kind == "techreport" and entry.where in entry.surnames else entry.where
    place = [
        thesis,
        where,
        entry.publisher,
        f"{of_it}{entry.number}" if entry.number else "",
        f"pp. {entry.pages.replace('--', '–')}" if entry.pages else "",
        entry.year if entry.year not in entry.where.split() else "",
    ]
    parts = [
        _listed(entry.surnames),
        entry.title,
        ", ".join(filter(None, place)),
        f"arXiv:{entry.eprint}" if entry.eprint else "",
        f"doi:{entry.doi}" if entry.doi else "",
        entry.url,
        entry.note,
    ]
    return " ".join(f"{part}." for part in parts if part)


def _listed(names: tuple[str, ...]) -> str:
    """`Jia, Maggioni and Staiger`; `Luo et al` before a full stop."""
    if names[-1:] == ("others",):
        return f"{', '.join(names[:-1])} et al"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _short(entry: _Entry) -> str:
    """`Jia et al. 2018`, `Luo 2025`, or a title where nobody is named."""
    names = entry.surnames
    pair = 2
    who = entry.title
    if names:
        many = len(names) > pair or names[-1] == "others"
        who = f"{names[0]} et al." if many else " and ".join(names)
    return f"{who} {entry.year}".rstrip()


def read(path: Path) -> tuple[Source, ...]:
    """The bibliography in a file with the columns of `sources.csv`, by number.

    Raises `ReferenceTableError` where the file is not such a table, or has a key twice.
    """
    entries: dict[str, _Entry] = {}
    for line in lines(path, COLUMNS):
        entry = _entry(line)
        if entry.key in entries:
            raise line.bad(f"the key '{entry.key}' twice", "every key once")
        entries[entry.key] = entry
    return tuple(
        Source(
            key=entry.key,
            number=place,
            short=_short(entry),
            text=_text(entry),
            bibtex=_bibtex(entry),
            url=entry.url
            or (f"https://doi.org/{entry.doi}" if entry.doi else "")
            or (f"https://arxiv.org/abs/{entry.eprint}" if entry.eprint else ""),
        )
        for place, entry in enumerate(sorted(entries.values(), key=lambda one: one.order), start=1)
    )


@cache
def bibliography() -> tuple[Source, ...]:
    """Every source that a report may cite, in the order of the alphabet: numbers 1, 2, 3, …

    Raises `ReferenceTableError` where `results/reference/sources.csv` cannot be used.
    """
    return read(folder() / MARK)


@cache
def _by_key() -> dict[str, Source]:
    return {source.key: source for source in bibliography()}


def source(key: str) -> Source:
    """The source with this key. Raises KeyError for a key that the bibliography lacks."""
    return _by_key()[key]


def cite(*keys: str) -> str:
    """What stands for sources in a text: `[12]`, or `[3, 12]` of several, by number.

    Raises KeyError for a key that the bibliography lacks.
    """
    numbers = sorted({source(key).number for key in keys})
    return f"[{', '.join(map(str, numbers))}]"


def bibtex(sources: Iterable[Source]) -> str:
    """A file for BibTeX with these sources, an entry each, a blank line between two."""
    return "\n\n".join(one.bibtex for one in sources) + "\n"
