"""Benchmarks that measure one quantity with different kernels agree, and a planted defect shows."""

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from strata.model.agreement import agreements, disagreements, pairs, sentence
from strata.model.truth import load_run
from strata.model.units import SPACE
from strata.run import Run

RESULTS = Path(__file__).parents[2] / "results"
H100 = RESULTS / "nvidia-h100-80gb-hbm3/nvidia-h100-80gb-hbm3-20261128T144347Z-c2fdf95"
XEON = RESULTS / "intel-xeon-processor/intel-xeon-processor-20261121T213752Z-0cf4ff2"


@cache
def loaded(folder: Path) -> Run:
    return load_run(folder)


def scaled(run: Run, benchmark: str, factor: float) -> Run:
    """The run as a build with a defect in one benchmark would have recorded it."""
    rows = tuple(
        replace(row, value=row.value * factor) if row.benchmark == benchmark else row
        for row in run.rows
    )
    return replace(run, rows=rows)


def test_every_pair_has_recorded_rows_on_both_sides_and_agrees() -> None:
    found = [one for folder in (H100, XEON) for one in agreements(loaded(folder))]
    assert [one["quantity"] for one in found] == [one["quantity"] for one in pairs()]
    assert not any(disagreements(loaded(folder)) for folder in (H100, XEON))


@pytest.mark.parametrize(
    ("benchmark", "factor", "quantity"),
    [
        ("timer_check", 0.68, "L1 latency"),  # loads that do not wait for each other
        ("tlb", 3.4, "L2 latency of one SM"),  # loads of a round that wait for each other
        ("bank_conflicts", 0.5, "shared-memory bandwidth"),  # twice the work
        ("ceilings", 1.1, "fp32 multiply-adds"),  # instructions between
        ("l2_partition", 1.7, "near L2 latency"),  # the far half
    ],
)
def test_a_benchmark_with_a_defect_disagrees(benchmark: str, factor: float, quantity: str) -> None:
    lines = disagreements(scaled(loaded(H100), benchmark, factor))
    assert any(line.startswith(f"{quantity}: ") for line in lines)
    assert all(benchmark in line for line in lines)


def test_the_sentence_counts_pairs_and_names_those_that_differ() -> None:
    run = loaded(H100)
    assert sentence(run).startswith("Agreement: 13 of 13 quantities that two benchmarks measure")
    apart = sentence(scaled(run, "timer_check", 0.68)).replace(SPACE, " ")
    assert "12 of 13" in apart
    assert (
        "not: L1 latency: 32.00 cycles by latency_vs_footprint, 21.29 cycles by timer_check: "
        "-33.5% (tolerance 4%: the loops differ in length)" in apart
    )
    assert sentence(replace(run, rows=())) == ""
