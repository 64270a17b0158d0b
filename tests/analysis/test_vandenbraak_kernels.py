"""The figure of a paper's application kernels: times then and now, and rotations as they turn."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from charts import caption_of, data_of, run_with, timed
from plots import check_texts_of, hollow_of, plot_named, plotted, solid_of
from strata.run import Row

FIGURE = plot_named("vandenbraak_kernels")


def kernel(
    name: str, form: str, seconds: float, size: str = "seed", angle: int | None = None,
    *, valid: bool = True, method: str = "event_slope",
) -> list[Row]:  # fmt: skip
    """Rows of one kernel, by events and by graphs."""
    params = {"form": form, "size": size} | ({} if angle is None else {"angle": angle})
    rates = {"unit": "B/s", "method": method, "valid": valid}
    return [
        timed(name, params, "kernel_time", seconds, unit="s", method=method, valid=valid),
        timed(name, params, "kernel_time", 3 * seconds, unit="s", method="graph_slope"),
        timed(name, params, "useful_bandwidth", 1e3 / seconds, **rates),
    ]


def every() -> list[Row]:
    """Some of each kernel."""
    return [
        *kernel("sobel", "best", 1e-6),
        *kernel("sobel", "original", 4e-6),
        *kernel("dct", "original", 1e-3),
        *kernel("dct", "separable", 1e-5),
        *(
            row
            for size in ("seed", "large")
            for angle in (0, 30)
            for row in kernel("rotation_forward", "original", (1 + angle) * 1e-6, size, angle)
        ),
    ]


def names(rows: Sequence[Row]) -> list[tuple[str, str, str, int | None]]:
    lines: Any = FIGURE.data(run_with(rows)).itertuples()
    return [
        (one.kernel, one.form, one.size, None if pd.isna(one.angle_degrees) else one.angle_degrees)
        for one in lines
    ]


def test_kernels_stand_in_the_order_of_the_paper_each_with_its_forms() -> None:
    assert names(every()) == [
        ("dct", "original", "seed", None),
        ("dct", "separable", "seed", None),
        ("sobel", "original", "seed", None),
        ("sobel", "best", "seed", None),
        ("rotation_forward", "original", "seed", 0),
        ("rotation_forward", "original", "seed", 30),
        ("rotation_forward", "original", "large", 0),
        ("rotation_forward", "original", "large", 30),
    ]
    assert not names([])
    assert not names([row for row in every() if row.quantity == "kernel_time"])
    assert not names(kernel("rotation_forward", "original", 1e-6, angle=45))


def test_times_stand_beside_the_published_ones_on_the_papers_sizes_alone() -> None:
    with plotted(FIGURE, run_with(every())) as figure:
        check_texts_of(figure)
        times, turned = figure.axes
        own, theirs = ([x for x, _ in line] for line in solid_of(times))
        assert own == [1e-3, 1e-5, 4e-6, 1e-6, 31e-6]
        assert theirs == [3.0, 12.1e-3, 3.29e-3]
        ((*rates,),) = ([y for _, y in line] for line in solid_of(turned))
        assert rates == [1.0, 1 / 31]


def test_without_large_images_there_is_one_panel() -> None:
    with plotted(FIGURE, run_with(kernel("sobel", "best", 1e-6))) as figure:
        assert len(figure.axes) == 1


def test_the_caption_says_which_table_and_what_was_chosen() -> None:
    caption = caption_of(FIGURE, run_with(every()))
    assert "Table II" in caption
    assert "by 30°" in caption
    assert "Bandwidth" in caption
    assert "part of the coefficients" not in caption
    plain = caption_of(FIGURE, run_with(kernel("sobel", "best", 1e-6)))
    assert "Bandwidth" not in plain


def test_what_is_invalid_is_named() -> None:
    rows = [*kernel("sobel", "best", 1e-6, valid=False), *kernel("sobel", "original", 4e-6)]
    assert "Sobel, today" in caption_of(FIGURE, run_with(rows))
    with plotted(FIGURE, run_with(rows)) as figure:
        assert [x for x, _ in hollow_of(figure.axes[0])] == [1e-6]


def test_the_data_hold_what_was_published() -> None:
    lines = data_of(FIGURE, run_with(every()))
    assert [line["published_seconds"] for line in lines] == [
        "3.0", "", "0.0121", "", "0.00329", "0.00329", "", "",
    ]  # fmt: skip
    assert lines[0]["kernel_seconds"] == "0.001"
