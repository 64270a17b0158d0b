"""Published figures, each with its source, to be drawn beside a run's own.

The tables are those of `results/reference`; its README documents how each row was read. A blank is
missing in the source. `bibliography()` returns the sources, `cite` the citation for a text.
"""

from strata.reference._bibliography import (
    Source,
    bibliography,
    bibtex,
    cite,
    read_bibliography,
    source,
)
from strata.reference._files import ReferenceTableError, Span, folder, read
from strata.reference._tables import (
    Gpu,
    Origin,
    Published,
    PublishedBandwidth,
    PublishedFstat,
    PublishedGeometry,
    PublishedInstruction,
    PublishedLatency,
    PublishedRate,
    PublishedSearch,
    bandwidths,
    fstat,
    geometries,
    gpus,
    instructions,
    is_of,
    latencies,
    nbody,
    neighbours,
)
