"""A comparison as one self-contained page: no network, no script, readable on a phone."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from strata.compare import devices, words
from strata.compare.changes import Comparison
from strata.model import Table, plain
from strata.report.page import environment, inline_svg


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page."""

    title: str
    lead: tuple[str, ...]
    warnings: tuple[str, ...]
    tables: tuple[Table, ...]


def page(
    found: Sequence[Comparison], beside: devices.Devices | None, drawings: Sequence[bytes]
) -> bytes:
    """The page with all words, tables and `drawings` (SVG files); the same runs, the same bytes."""
    parts = [
        Part(
            title=words.title(one),
            lead=(f"{words.counts(one)}.", *words.notes(one)),
            warnings=words.warnings(one),
            tables=words.tables_of(one),
        )
        for one in found
    ]
    if beside:
        tables = tuple(devices.table(beside, group) for group in beside.groups)
        parts.append(Part(devices.title(beside), (), devices.warnings(beside), tables))
    templates = environment()
    templates.filters["plain"] = plain
    shown: list[Markup] = [
        inline_svg(svg.decode(), f"d{place}-", "Comparison")
        for place, svg in enumerate(drawings, start=1)
    ]
    template = templates.get_template("compare.html.j2")
    return template.render(title="Strata: comparison", parts=parts, drawings=shown).encode()
