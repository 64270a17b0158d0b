"""The figure of bandwidth against bytes in flight."""

from collections.abc import Sequence

import numpy as np

from strata import figures
from strata.figures import bandwidth_surface as surface
from strata.run import Row

TERA = 1e12


def row(
    quantity: str,
    value: float,
    *,
    level: str = "dram",
    operation: str = "read",
    flights: int = 4,
    valid: bool = True,
    backend: str = "cuda",
) -> Row:
    """One quantity of a case of its own for each level, operation and number in flight."""
    params = {"level": level, "operation": operation, "width": "16", "in_flight": f"{flights}"}
    return Row(
        run="r", device="d", backend=backend, suite="micro", benchmark="bandwidth",  # type: ignore[arg-type]
        case=f"{backend}/{level}/{operation}/{flights}", params=params, quantity=quantity,
        unit="B/s",
        provenance="timed", method="event_slope", value=value, ci_low=None, ci_high=None,
        minimum=0.98 * value, maximum=1.01 * value, samples=7, valid=valid,
        reasons="" if valid else "timer: differ",
    )  # fmt: skip


def shape(
    value: float, in_flight: float, *, share: float | None = None, **where: object
) -> list[Row]:
    """The rows of one shape of launch."""
    rows = [
        row("bandwidth", value, **where),  # type: ignore[arg-type]
        row("bytes_in_flight_per_sm", in_flight, **where),  # type: ignore[arg-type]
    ]
    if share is not None:
        rows.append(row("share_of_limit", share, **where))  # type: ignore[arg-type]
    return rows


def some() -> list[Row]:
    rows = []
    for flights in (1, 2, 4, 8):
        size = flights * 16384.0
        rows += shape(1.1 * TERA * flights**0.7, size, share=0.23 * flights**0.7, flights=flights)
        rows += shape(3.0 * TERA * flights**0.5, size, level="l2", flights=flights)
        rows += shape(25 * TERA, size, share=0.75, level="l1", flights=flights)
    rows += shape(3.9 * TERA, 65536.0, share=0.81, operation="copy")
    rows += shape(3.3 * TERA, 65536.0, share=0.69, operation="triad", valid=False)
    return rows


def drawn(rows: Sequence[Row]) -> list[float]:
    """The abscissae of the points drawn as invalid."""
    with figures.style():
        canvas = figures.render(surface.FIGURE, surface.prepare(rows))
        canvas.draw_without_rendering()
    hollow = [
        line for panel in canvas.axes for line in panel.lines if line.get_label() == "_invalid"
    ]
    assert all(line.get_markerfacecolor() == "white" for line in hollow)
    return [float(x) for line in hollow for x in np.atleast_1d(line.get_xdata())]


def test_without_its_rows_there_is_no_figure() -> None:
    assert not surface.prepare([])
    assert not surface.prepare([row("bandwidth", TERA)])
    assert not surface.prepare(shape(TERA, 1024.0, backend="host"))


def test_what_failed_a_gate_is_hollow_and_is_named() -> None:
    spots = surface.prepare(some())
    assert drawn(some()) == [65536.0]
    assert "Invalid, drawn hollow (1): cuda/dram/triad/4." in surface.caption(spots)


def test_the_line_joins_the_best_valid_shapes_only() -> None:
    rows = [
        *shape(2 * TERA, 1024.0, flights=1),
        *shape(3 * TERA, 1024.0, flights=2),
        *shape(9 * TERA, 1024.0, flights=8, valid=False),
        *shape(4 * TERA, 2048.0, flights=4),
    ]
    line = surface.best(surface.prepare(rows))
    assert [spot.bandwidth.value for spot in line] == [3 * TERA, 4 * TERA]


def test_the_limit_follows_from_the_share() -> None:
    (spot,) = surface.prepare(shape(4.5 * TERA, 1024.0, share=0.9))
    assert spot.limit is not None
    assert abs(spot.limit - 5 * TERA) < 1
    assert "90.0 % of its limit" in surface.caption([spot])
    (spot,) = surface.prepare(shape(9 * TERA, 1024.0, level="l2"))
    assert spot.limit is None


def test_the_data_file_has_a_cell_for_each_column() -> None:
    for spot in surface.prepare(some()):
        assert len(surface.cells(spot)) == len(surface.FIGURE.columns)
