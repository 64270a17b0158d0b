"""The sources that a page cites, and the links to them.

A text cites the number of a source in brackets: `[12]`, `[3, 12]` (from `strata.reference.cite`). A
page lists the sources that it cites, and no others.
"""

import re
from collections.abc import Sequence

from markupsafe import Markup

from strata import reference
from strata.model.tables import LATEX

_MARK = re.compile(r"(?<![\w\])])\[(\d{1,4}(?:, ?\d{1,4})*)\]", re.ASCII)
"""Numbers of few digits: a name of a device may hold any in brackets."""
_WHERE = {
    "article": "journal",
    "book": "howpublished",
    "incollection": "booktitle",
    "inproceedings": "booktitle",
    "mastersthesis": "school",
    "misc": "howpublished",
    "techreport": "institution",
}
"""Kinds of entries, and the field of BibTeX for where each appeared."""
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
        """The sources cited so far, for BibTeX: one entry each, separated by blank lines."""
        return "\n\n".join(bibtex(one) for one in self.used()) + "\n"


def bibtex(one: reference.Source) -> str:
    """A BibTeX entry; names of organisations and titles keep their capitals."""
    volume, _, issue = one.issue.partition("(")
    numbers = {"chapter" if one.in_book else "number": one.issue}
    if one.kind == "article":
        numbers = {"volume": volume, "number": issue.rstrip(")")}
    words = {
        _WHERE[one.kind]: one.where,
        "publisher": one.publisher,
        **numbers,
        "pages": one.pages,
        "year": one.year,
        "eprint": one.eprint,
        "archiveprefix": "arXiv" if one.eprint else "",
    }
    escaped = {name: text.translate(LATEX) for name, text in words.items()}
    names = {"author": one.author, "title": f"{{{one.title.translate(LATEX)}}}"}
    fields = names | escaped | {"doi": one.doi, "url": one.link, "note": one.note.translate(LATEX)}
    told = [f"  {name} = {{{text}}}," for name, text in fields.items() if text]
    return "\n".join([f"@{one.kind}{{{one.key},", *told, "}"])
