"""Figures that others published, each with its source, to be drawn beside a run's own.

The tables are those of `results/reference`; its README says how each row was read. Blank means that
the source does not say. `bibliography()` are the sources, `cite` what stands for one in a text.
"""

from strata.reference._bibliography import Source, bibliography, bibtex, cite, source
from strata.reference._bibliography import read as read_bibliography
from strata.reference._files import ReferenceTableError, Span, folder, span
from strata.reference._tables import (
    Gpu,
    Origin,
    Published,
    PublishedBandwidth,
    PublishedGeometry,
    PublishedInstruction,
    PublishedLatency,
    PublishedRate,
    bandwidths,
    geometries,
    gpus,
    instructions,
    is_of,
    latencies,
    nbody,
    read_latencies,
    source_of,
    sources_of,
)

__all__ = [
    "Gpu",
    "Origin",
    "Published",
    "PublishedBandwidth",
    "PublishedGeometry",
    "PublishedInstruction",
    "PublishedLatency",
    "PublishedRate",
    "ReferenceTableError",
    "Source",
    "Span",
    "bandwidths",
    "bibliography",
    "bibtex",
    "cite",
    "folder",
    "geometries",
    "gpus",
    "instructions",
    "is_of",
    "latencies",
    "nbody",
    "read_bibliography",
    "read_latencies",
    "source",
    "source_of",
    "sources_of",
    "span",
]
