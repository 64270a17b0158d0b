"""What a page cites is what it lists."""

import pytest

from strata import reference
from strata.report.citations import Citations


def number(key: str) -> int:
    return reference.source(key).number


def test_a_citation_of_a_known_source_is_a_link() -> None:
    cites = Citations()
    first, second = number("siegel2009gravit"), number("wilt2013handbook")
    text = f"as in [{first}] & [{first}, {second}]"
    link = '<a href="#source-{0}">{0}</a>'.format
    assert cites.link(text) == f"as in [{link(first)}] &amp; [{link(first)}, {link(second)}]"
    assert [one.number for one in cites.used()] == sorted({first, second})


@pytest.mark.parametrize(
    "text",
    ["[9999]", f"GPU [{'1' * 5000}]", "[\u0661]", "samples[1]", "[a]", "[1.5]", "x[0][2]", "[]"],
)
def test_other_brackets_are_left_alone(text: str) -> None:
    cites = Citations()
    assert cites.link(text) == text
    assert cites.used() == []


def test_a_page_cites_by_key_and_has_a_bibtex_entry_for_each_source() -> None:
    cites, place = Citations(), number("david2003order")
    assert cites.link("<b>") == "&lt;b&gt;"
    assert cites.cite("david2003order") == f'[<a href="#source-{place}">{place}</a>]'
    cites.cite("okabe2008color")
    assert cites.bibtex().count("@") == 2
    assert "@book{david2003order," in cites.bibtex()
    with pytest.raises(KeyError):
        cites.cite("nobody1900nothing")
