"""Run folders: their schema, reading, checking and writing; no other code accesses files."""

from strata.run.files import (
    CONTEXT_FILE,
    MEASUREMENTS_FILE,
    SAMPLES_FILE,
    RunError,
    one_line,
    read_text,
    write_files,
    write_whole,
)
from strata.run.load import BOUNDS, load_context, load_run
from strata.run.rows import COLUMNS, Row, case_id, grouped, params_text
from strata.run.run import Run, beside, frame, tidy
from strata.run.schema import (
    COMMIT,
    METRIC,
    NAME,
    SCHEMA_VERSIONS,
    VERDICTS,
    WORD,
    Backend,
    Benchmark,
    Case,
    Context,
    Counters,
    CpuCache,
    Device,
    Gate,
    Line,
    Measurement,
    Noise,
    Provenance,
    Rung,
    Story,
    Verdict,
)
from strata.run.strict import finite
