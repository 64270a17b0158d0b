"""Published figures, each with its source, to be drawn beside a run's own.

The tables are those of `results/reference`; its README documents how each row was read. A blank is
missing in the source. `bibliography()` returns the sources, `cite` the citation for a text.
"""

from strata.reference._bibliography import (
    ReferenceTableError,
    Source,
    bibliography,
    bibtex,
    cite,
    folder,
    read_bibliography,
    source,
)
from strata.reference._tables import (
    LATENCY,
    Published,
    Span,
    bandwidths,
    fstat,
    geometries,
    gpus,
    instructions,
    is_of,
    latencies,
    nbody,
    neighbours,
    read,
)
