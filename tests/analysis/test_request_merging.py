"""The figure of requests of several SMs for the same line."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, count, counts, load2, measurement
from charts import caption_of, data_of
from plots import check_texts_of, hollow_of, labels_of, plot_named, plotted, points_of
from strata.run import Run

FIGURE = plot_named("request_merging")
MODEL = "one request for every 4 SMs"


def asked(
    sms: int, share: float, *, delay: int = 0, apart: float = 0, noise: str = "passed",
    level: str = "passed",
) -> list[dict[str, Any]]:  # fmt: skip
    """One case: its times, and what was counted."""
    line = case(
        [
            measurement("first_load_cycles", [330.0], method="clock64_mean"),
            measurement("other_load_cycles", [330.0 - apart], method="clock64_mean"),
            measurement("delay_cycles", [apart], method="clock64_mean", noise=noise),
        ],
        benchmark="request_merging",
        params={"sms": sms, "delay": delay},
    )
    found = count("l2_sectors_per_missed_sector", share, unit="1")
    return [line, counts(line, [found], gates=[("level", level, "counted")])]


def run_of(folder: Path, *cases: list[dict[str, Any]]) -> Run:
    return load2(folder, [line for one in cases for line in one])


PAIRS = (
    asked(2, 0.5),
    asked(2, 0.5, delay=40, apart=39),
    asked(2, 0.75, delay=60, apart=59),
    asked(2, 1.0, delay=80, apart=78),
    asked(2, 1.0, delay=120, apart=117),
)
SOME = (asked(8, 0.251), asked(5, 0.4), *PAIRS)


def test_all_at_once_stands_beside_one_after_the_other(tmp_path: Path) -> None:
    with plotted(FIGURE, run_of(tmp_path, *SOME)) as figure:
        at_once, later = (ax.lines for ax in figure.axes)
        assert points_of(at_once[1]) == [(2, 50), (5, 40), (8, pytest.approx(25.1))]
        assert points_of(later[0]) == [(0, 50), (39, 50), (59, 75), (78, 100), (117, 100)]
        assert labels_of(figure) == [MODEL, "counted, all at once", "counted, 2 SMs"]
        check_texts_of(figure)


def test_the_model_lets_four_sms_share_a_request(tmp_path: Path) -> None:
    with plotted(FIGURE, run_of(tmp_path, *SOME)) as figure:
        model = figure.axes[0].lines[0]
    assert dict(points_of(model)) == pytest.approx(
        {1: 100, 2: 50, 3: 100 / 3, 4: 25, 5: 40, 6: 100 / 3, 7: 200 / 7, 8: 25}
    )
    data = data_of(FIGURE, run_of(tmp_path, *SOME))
    assert [(line["sms"], line["delay_asked_cycles"]) for line in data[:2]] == [
        ("2", "0"),
        ("2", "40"),
    ]
    assert [line["share_by_model"] for line in data] == ["0.5", "", "", "", "", "0.4", "0.25"]
    assert [line["other_load_cycles"] for line in data[:2]] == ["330.0", "291.0"]


@pytest.mark.parametrize(("level", "noise"), [("failed", "passed"), ("passed", "failed")])
def test_a_share_and_a_delay_must_both_be_valid(tmp_path: Path, level: str, noise: str) -> None:
    late = asked(2, 0.5, delay=140, apart=139, level=level, noise=noise)
    run = run_of(tmp_path, *PAIRS, late, asked(16, 0.1, level=level, noise=noise))
    with plotted(FIGURE, run) as figure:
        assert [hollow_of(ax) for ax in figure.axes] == [[(16, 10)], [(139, 50)]]
    words = caption_of(FIGURE, run)
    assert "hollow (2): 2 SMs, delay of 140 cycles; 16 SMs, delay of 0 cycles." in words
    assert "When 2 SMs request" in words
    assert "but not if they are 78 apart" in words


def test_the_caption_says_what_is_left_and_for_how_long(tmp_path: Path) -> None:
    words = caption_of(FIGURE, run_of(tmp_path, *SOME)).replace("\u00a0", " ")
    assert words.startswith(
        "When 8 SMs request one line at the same time, 25.10 % of their requests reach L2"
    )
    assert "merge if they are 59 cycles apart, but not if they are 78 apart." in words
    assert "The others load together" not in words
    assert "Invalid" not in words


def test_no_time_is_told_where_merging_does_not_end_at_one(tmp_path: Path) -> None:
    mixed = run_of(tmp_path / "mixed", *PAIRS, asked(2, 0.5, delay=90, apart=90))
    assert "Requests of two SMs" not in caption_of(FIGURE, mixed)
    always = run_of(tmp_path / "always", *PAIRS[:3])
    assert "Requests of two SMs" not in caption_of(FIGURE, always)


def test_those_that_come_later_come_together(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME, asked(5, 0.4, delay=100, apart=99))
    with plotted(FIGURE, run) as figure:
        (line,) = (one for one in figure.axes[1].lines if one.get_label() == "counted, 5 SMs")
        assert points_of(line) == [(0, 40), (99, 40)]
    words = caption_of(FIGURE, run)
    assert "The others load together, so their own requests may merge however late" in words
    assert "merge if they are 59 cycles apart" in words
