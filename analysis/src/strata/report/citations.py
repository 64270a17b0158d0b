"""The sources that a page cites, and the links to them.

A text cites the number of a source in brackets: `[12]`, `[3, 12]` (from `strata.reference.cite`). A
page lists the sources that it cites, and no others.
"""

import re
from collections.abc import Sequence

from markupsafe import Markup

from strata import reference

_MARK = re.compile(r"(?<![\w\])])\[(\d{1,4}(?:, ?\d{1,4})*)\]", re.ASCII)
"""Numbers of few digits: a name of a device may hold any in brackets."""
_LINK = Markup('<a href="#source-{0}">{0}</a>')


class Citations:
    """The sources that one page cites, collected while its texts are linked."""

    def __init__(self) -> None:
        self._used: set[int] = set()

    def link(self, text: str) -> Markup:
        """`text` for a page: escaped, with every citation of a known source as a link."""
        return Markup(_MARK.sub(self._mark, f"{Markup.escape(text)}"))  # noqa: S704  (escaped)

    def _mark(self, mark: re.Match[str]) -> str:
        numbers = [int(word) for word in mark[1].split(",")]
        if not {one.number for one in reference.bibliography()}.issuperset(numbers):
            return mark[0]
        self._used.update(numbers)
        return f"[{', '.join(map(_LINK.format, numbers))}]"

    def cite(self, *keys: str) -> Markup:
        """The citation of sources by their keys. Raises KeyError for an unknown key."""
        return self.link(reference.cite(*keys))

    def used(self) -> Sequence[reference.Source]:
        """The sources cited so far, by number."""
        return [one for one in reference.bibliography() if one.number in self._used]

    def bibtex(self) -> str:
        """The sources cited so far, for BibTeX."""
        return reference.bibtex(self.used())
