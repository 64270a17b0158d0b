"""The figure of cache geometry: marks, hollow marks, labels."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, load, measurement
from charts import caption_of, data_of
from plots import check_texts_of, hollow_of, plot_named, plotted, points_of
from strata.figures import cache_geometry

FIGURE = plot_named("cache_geometry")
KIB = 1024


def derived(quantity: str, value: float, method: str, provenance: str) -> dict[str, Any]:
    return measurement(quantity, [value], unit="B", method=method, noise="not_applicable") | {
        "provenance": provenance
    }


def found(
    name: str,
    value: float,
    *,
    above: float | None = None,
    reported: float | None = None,
    failed: bool = False,
    confidence: float = 0.9995,
    backend: str = "cuda",
    **params: Any,
) -> dict[str, Any]:
    """One case that found something; it was found in seven repetitions."""
    quantity = name.rpartition("_")[2]
    rows = [
        measurement(quantity, [value] * 7, unit="B", method="change_point"),
        derived("interval_low", value, "bootstrap", "modelled"),
        derived("interval_high", above or value, "bootstrap", "modelled"),
        derived("confidence", confidence, "rank_scan_permutation", "modelled") | {"unit": "1"},
        measurement("load_cycles", [32.0]),
    ]
    if reported is not None:
        rows.append(derived("reported", reported, "cuda_programming_guide", "published"))
    gates = [("result", "failed" if failed else "passed", "1 of 9 chain ends differ")]
    axes = {"property": name, "carveout": 0} | params
    return case(rows, benchmark="cache_geometry", backend=backend, params=axes, gates=gates)


def lines() -> list[dict[str, Any]]:
    return [
        found("l1_sector", 32, reported=32),
        found("l1_line", 128, above=144, reported=128),
        found("l1_size", 228 * KIB, above=228 * KIB + 128, reported=256 * KIB),
        found("l1_size", 120 * KIB, above=120 * KIB + 128, reported=156 * KIB, carveout=100),
        found("constant_l1_size", 2 * KIB, above=2 * KIB + 64),
    ]


def test_a_finding_has_its_interval_and_what_is_reported(tmp_path: Path) -> None:
    data = data_of(FIGURE, load(tmp_path, lines()))
    assert [(line["property"], line["carveout_kib"]) for line in data] == [
        ("l1_size", "0"),
        ("l1_size", "100"),
        ("constant_l1_size", "0"),
        ("l1_line", "0"),
        ("l1_sector", "0"),
    ]
    numbers = ("interval_low_bytes", "bytes", "interval_high_bytes", "reported_bytes", "confidence")
    assert [float(data[0][name]) for name in numbers] == [
        228 * KIB, 228 * KIB, 228 * KIB + 128, 256 * KIB, 0.9995,
    ]  # fmt: skip


def test_every_finding_has_a_place_a_name_and_words(tmp_path: Path) -> None:
    run = load(tmp_path, lines())
    assert [*FIGURE.data(run)[["_low", "_high"]].iloc[0]] == [228 * KIB, 228 * KIB + 128]
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        sizes, small = figure.axes
        assert [sum(map(len, map(points_of, ax.lines))) for ax in (sizes, small)] == [3 + 2, 2 + 2]
        names = [label.get_text() for ax in figure.axes for label in ax.get_yticklabels()]
        assert names == ["L1", "L1, 100\u00a0KiB shared", "constant L1", "L1 line", "L1 fetch"]
        texts = [text.get_text() for text in sizes.texts]
        assert texts[0] == "228\u00a0KiB  (guide: 256\u00a0KiB)"
        assert texts[2] == "2\u00a0KiB"


def test_what_failed_a_gate_is_hollow_and_named(tmp_path: Path) -> None:
    cases = [*lines(), found("l2_size", 29 << 20, above=30 << 20, failed=True)]
    run = load(tmp_path, cases)
    with plotted(FIGURE, run) as figure:
        assert [x for x, _ in hollow_of(figure.axes[0])] == [29 << 20]
    assert "Invalid, drawn hollow (1): L2" in caption_of(FIGURE, run)


@pytest.mark.parametrize(("backend", "halves"), [("cuda", True), ("host", False)])
def test_the_caption_owns_up_to_the_least_confidence_and_to_halves(
    tmp_path: Path, backend: str, *, halves: bool
) -> None:
    lines = [
        found("l1_size", 48 * KIB, backend=backend),
        found("l2_size", 29 << 20, confidence=0.98, backend=backend),
    ]
    words = caption_of(FIGURE, load(tmp_path, lines, backend=backend))
    assert "has a confidence of at least 0.98." in words
    assert ("An L2 of two halves" in words) == halves


@pytest.mark.parametrize(
    ("value", "words"), [(49216, "48.06 KiB"), (48 * KIB, "48 KiB"), (144, "144 B")]
)
def test_sizes_that_are_no_round_number_keep_their_lines(value: int, words: str) -> None:
    assert cache_geometry.exact(value).replace("\u00a0", " ") == words
