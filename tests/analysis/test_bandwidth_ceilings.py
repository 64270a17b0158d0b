"""The figure of the ceilings of bandwidth: which row stands for which, and what is owned up to."""

from collections.abc import Sequence
from typing import Any

import pytest

from strata import figures
from strata.figures import bandwidth_ceilings
from strata.run import Row

FIGURE = bandwidth_ceilings.FIGURE
TERA = 1e12
PINS = 4.8


def row(benchmark: str, quantity: str, value: float, params: dict[str, Any], *, valid: bool) -> Row:
    words = {key: f"{value}" for key, value in params.items()}
    return Row(
        run="r", device="d", backend="cuda", suite="micro", benchmark=benchmark,
        case="/".join([benchmark, *words.values()]), params=words, quantity=quantity,
        unit="1" if quantity == "share_of_limit" else "B/s", provenance="timed",
        method="event_slope", value=value, ci_low=None, ci_high=None, minimum=0.98 * value,
        maximum=1.01 * value, samples=7, valid=valid, reasons="" if valid else "timer: differ",
    )  # fmt: skip


def launch(
    best: float,
    *,
    level: str = "dram",
    width: int = 16,
    operation: str = "read",
    in_flight: int = 2,
    limit: float | None = PINS,
    valid: bool = True,
) -> list[Row]:
    """The rows of one case of bandwidth, in TB/s."""
    params = {
        "block_size": 256, "blocks_per_sm": 8, "in_flight": in_flight, "level": level,
        "operation": operation, "width": width,
    }  # fmt: skip
    rows = [row("bandwidth", "bandwidth", best * TERA, params, valid=valid)]
    if limit is not None:
        rows.append(row("bandwidth", "share_of_limit", best / limit, params, valid=valid))
    return rows


def strided(
    useful: float,
    *,
    level: str = "dram",
    width: int = 4,
    stride: int = 1,
    pattern: str = "strided",
    valid: bool = True,
) -> list[Row]:
    """The rows of one case of stride_gather, in TB/s."""
    params = {"level": level, "pattern": pattern, "stride": stride, "width": width}
    return [row("stride_gather", "useful_bandwidth", useful * TERA, params, valid=valid)]


def some() -> list[Row]:
    return [
        *launch(4.6),
        *launch(4.7, in_flight=4),
        *launch(4.9, in_flight=8, valid=False),
        *launch(4.75, operation="write"),
        *launch(3.0, width=4),
        *strided(4.5),
        *strided(4.4, width=16),
        *strided(2.0, stride=2),
        *strided(0.2, stride=64),
        *strided(0.7, width=16, stride=64, valid=False),
        *strided(9.9, pattern="gather"),
        *launch(9.0, level="l2", limit=None),
        *launch(33.0, level="l1", width=8, limit=33.4),
        *launch(32.0, level="l1", limit=33.4),
        *launch(26.0, level="l1", width=4, limit=33.4),
        *launch(33.0, level="shared", limit=33.4),
    ]


def drawn(rows: Sequence[Row]) -> Any:
    with figures.style():
        canvas = figures.render(FIGURE, FIGURE.prepare(rows))
        canvas.draw_without_rendering()
    return canvas


def lengths(panel: Any, label: str) -> list[float]:
    """Of the bars of one kind."""
    return [
        bar.get_width()
        for container in panel.containers
        if container.get_label() == label
        for bar in container
    ]


def test_without_its_rows_there_is_no_figure() -> None:
    assert not FIGURE.prepare([])
    assert not FIGURE.prepare(launch(4.7, operation="copy"))
    assert not FIGURE.prepare(launch(33.0, level="shared"))


def test_each_ceiling_is_the_best_valid_row_of_its_kind() -> None:
    found = {(one.level, one.kind): one for one in FIGURE.prepare(some())}
    assert {place: one.row.value / TERA for place, one in found.items()} == pytest.approx(
        {
            ("dram", "grouped and coalesced"): 4.7,
            ("dram", "ungrouped"): 4.5,
            ("dram", "uncoalesced"): 0.7,
            ("dram", "uncoalesced and ungrouped"): 0.2,
            ("l2", "grouped and coalesced"): 9.0,
            ("l1", "grouped and coalesced"): 33.0,
            ("l1", "ungrouped"): 26.0,
        }
    )
    assert found["dram", "ungrouped"].row.benchmark == "stride_gather"
    assert found["dram", "ungrouped"].share == pytest.approx(4.5 / 4.7)
    assert found["l1", "grouped and coalesced"].shape == "8 B, 2 in flight, 8 × 256 threads"
    assert found["dram", "uncoalesced"].share is None


def test_a_narrow_stride_is_no_ceiling_of_what_is_uncoalesced() -> None:
    (one,) = FIGURE.prepare([*strided(2.0, stride=2), *strided(0.2, stride=64)])
    assert one.row.params["stride"] == "64"
    (coalesced,) = FIGURE.prepare(strided(4.5))
    assert coalesced.kind == "ungrouped"


def test_bars_are_hollow_where_invalid_and_limits_stand_where_known() -> None:
    dram, l2, l1 = drawn(some()).axes
    assert lengths(dram, "_valid") == pytest.approx([4.7, 4.5, 0.2])
    assert lengths(dram, "_invalid") == pytest.approx([0.7])
    limits = [
        [line.get_xdata()[0] for line in panel.lines if line.get_label() == "_limit"]
        for panel in (dram, l2, l1)
    ]
    assert limits == [[pytest.approx(PINS)], [], [pytest.approx(33.4)]]
    assert [panel.get_title(loc="left") for panel in (dram, l2, l1)] == ["DRAM", "L2", "L1"]
    words = FIGURE.caption(FIGURE.prepare(some())).replace("\u00a0", " ")
    assert "Invalid, drawn hollow (1): DRAM, uncoalesced (16 B, stride of 64)." in words
    assert "bus width times clock for device memory (4.80 TB/s)" in words


@pytest.mark.parametrize("rows", [some(), launch(9.0, level="l2", limit=None), strided(0.01)])
def test_texts_lie_on_the_canvas_and_bars_say_what_they_are(rows: list[Row]) -> None:
    canvas = drawn(rows)
    for panel in canvas.axes:
        assert len(panel.get_yticklabels()) == len(panel.containers)
        texts = [*panel.get_yticklabels(), *panel.texts]
        for extent in (text.get_window_extent() for text in texts):
            assert canvas.bbox.x0 <= extent.x0 <= extent.x1 <= canvas.bbox.x1
        beside = [text.get_window_extent() for text in panel.texts]
        for place, one in enumerate(beside):
            assert not any(one.overlaps(two) for two in beside[place + 1 :])


def test_the_data_file_has_a_cell_for_each_column() -> None:
    for one in FIGURE.prepare(some()):
        assert len(FIGURE.cells(one)) == len(FIGURE.columns)
        assert FIGURE.cells(one)[-1] == FIGURE.source(one).case
