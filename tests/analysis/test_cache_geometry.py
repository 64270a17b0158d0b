"""The figure of cache geometry: what is drawn, what is hollow, what stands beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders import case, load, measurement
from strata import figures
from strata.figures import cache_geometry
from strata.figures.cache_geometry import FIGURE, Finding

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
    return case(rows, benchmark="cache_geometry", params=axes, gates=gates)


def prepared(tmp_path: Path, lines: Sequence[dict[str, Any]]) -> Sequence[Finding]:
    return FIGURE.prepare(load(tmp_path, lines).rows)


def lines() -> list[dict[str, Any]]:
    return [
        found("l1_sector", 32, reported=32),
        found("l1_line", 128, above=144, reported=128),
        found("l1_size", 228 * KIB, above=228 * KIB + 128, reported=256 * KIB),
        found("l1_size", 120 * KIB, above=120 * KIB + 128, reported=156 * KIB, carveout=100),
        found("constant_l1_size", 2 * KIB, above=2 * KIB + 64),
    ]


def test_nothing_is_drawn_without_rows(tmp_path: Path) -> None:
    assert not prepared(tmp_path, [case([measurement()], params={"layout": "aos"})])


def test_sizes_come_first_and_carveouts_in_their_order(tmp_path: Path) -> None:
    findings = prepared(tmp_path, lines())
    assert [(one.sought, one.carveout) for one in findings] == [
        ("l1_size", 0),
        ("l1_size", 100),
        ("constant_l1_size", 0),
        ("l1_line", 0),
        ("l1_sector", 0),
    ]


def test_a_finding_has_its_interval_and_what_is_reported(tmp_path: Path) -> None:
    first, *_ = prepared(tmp_path, lines())
    assert (first.low, first.found.value, first.high) == (
        228 * KIB, 228 * KIB, 228 * KIB + 128,
    )  # fmt: skip
    assert first.reported is not None
    assert first.reported.value == 256 * KIB
    assert first.confidence == 0.9995


def test_every_finding_has_a_row_and_a_name(tmp_path: Path) -> None:
    findings = prepared(tmp_path, lines())
    with figures.style():
        canvas = figures.render(FIGURE, findings)
    (panel,) = canvas.axes
    labels = [line.get_label() for line in panel.lines]
    assert labels.count("_valid") == 5
    assert labels.count("_reported") == 4
    names = [label.get_text().strip() for label in panel.get_yticklabels()]
    assert names == [one.name for one in findings]
    (right,) = panel.child_axes
    texts = [label.get_text() for label in right.get_yticklabels()]
    assert texts[0].startswith("228\u00a0KiB")
    assert "guide: 256\u00a0KiB" in texts[0]
    assert "guide" not in texts[2]


def test_what_failed_a_gate_is_hollow_and_has_no_bar(tmp_path: Path) -> None:
    cases = [*lines(), found("l2_size", 29 << 20, above=30 << 20, failed=True)]
    findings = prepared(tmp_path, cases)
    with figures.style():
        canvas = figures.render(FIGURE, findings)
    (panel,) = canvas.axes
    hollow = [line for line in panel.lines if line.get_label() == "_invalid"]
    assert len(hollow) == 1
    assert hollow[0].get_markerfacecolor() == "white"
    assert len(panel.collections) == 5
    assert "Invalid, drawn hollow (1): L2" in FIGURE.caption(findings)


def test_sizes_that_are_no_round_number_keep_their_lines() -> None:
    assert cache_geometry._bytes(49216) == "48.06\u00a0KiB"
    assert cache_geometry._bytes(48 * KIB) == "48\u00a0KiB"
    assert cache_geometry._bytes(144) == "144\u00a0B"


def test_data_file_has_a_cell_for_each_column(tmp_path: Path) -> None:
    for one in prepared(tmp_path, lines()):
        assert len(FIGURE.cells(one)) == len(FIGURE.columns)
