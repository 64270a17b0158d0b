"""Which sources a page cites, and the links to them.

A text cites with the number of a source in brackets: `[12]`, `[3, 12]` (`strata.reference.cite`
gives it). A page lists the sources that it cites, and no others.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from markupsafe import Markup

from strata import reference
from strata.reference import Source

_MARK = re.compile(r"(?<![\w\])])\[(\d+(?:, ?\d+)*)\]")


@cache
def sources() -> Mapping[int, Source]:
    """Every source that a page can cite, by its number."""
    return {one.number: one for one in reference.bibliography()}


@cache
def _numbers() -> Mapping[str, int]:
    return {one.key: one.number for one in sources().values()}


class Citations:
    """The sources that one page cites: they are collected while its texts are linked."""

    def __init__(self) -> None:
        self._used: set[int] = set()

    def link(self, text: str) -> Markup:
        """`text` for a page: escaped, every citation of a known source a link to it."""
        parts: list[Markup] = []
        done = 0
        for mark in _MARK.finditer(text):
            numbers = [int(word) for word in mark[1].split(",")]
            if all(number in sources() for number in numbers):
                parts += [Markup.escape(text[done : mark.start()]), self._linked(numbers)]
                done = mark.end()
        return Markup().join([*parts, Markup.escape(text[done:])])

    def cite(self, *keys: str) -> Markup:
        """The citation of sources by their keys. Raises KeyError for a key that none has."""
        return self._linked(sorted(_numbers()[key] for key in keys))

    def used(self) -> Sequence[Source]:
        """The sources cited so far, by number."""
        return [sources()[number] for number in sorted(self._used)]

    def bibtex(self) -> str:
        """The sources cited so far, for BibTeX: an entry each, a blank line between two."""
        return "\n\n".join(one.bibtex.strip() for one in self.used()) + "\n"

    def _linked(self, numbers: Sequence[int]) -> Markup:
        self._used.update(numbers)
        link = Markup('<a href="#source-{0}">{0}</a>').format
        return Markup("[") + Markup(", ").join(map(link, numbers)) + Markup("]")
