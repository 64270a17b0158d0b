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


class Citations:
    """The sources that one page cites: they are collected while its texts are linked."""

    def __init__(self) -> None:
        self._used: set[int] = set()

    def link(self, text: str) -> Markup:
        """`text` for a page: escaped, every citation of a known source a link to it."""
        return Markup(_MARK.sub(self._mark, f"{Markup.escape(text)}"))  # noqa: S704  (escaped)

    def _mark(self, mark: re.Match[str]) -> str:
        numbers = [int(word) for word in mark[1].split(",")]
        return self._linked(numbers) if all(one in sources() for one in numbers) else mark[0]

    def cite(self, *keys: str) -> Markup:
        """The citation of sources by their keys. Raises KeyError for a key that none has."""
        numbers = {one.key: one.number for one in sources().values()}
        return self._linked(sorted(numbers[key] for key in keys))

    def used(self) -> Sequence[Source]:
        """The sources cited so far, by number."""
        return [sources()[number] for number in sorted(self._used)]

    def bibtex(self) -> str:
        """The sources cited so far, for BibTeX: an entry each, a blank line between two."""
        return "\n\n".join(one.bibtex.strip() for one in self.used()) + "\n"

    def _linked(self, numbers: Sequence[int]) -> Markup:
        self._used.update(numbers)
        link = Markup('<a href="#source-{0}">{0}</a>').format
        return Markup("[{}]").format(Markup(", ").join(map(link, numbers)))
