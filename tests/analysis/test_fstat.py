"""The ladder of the F-statistic: its figure, the seed's table, what small copies cost; made up."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, count, load2, measurement, trace
from charts import caption_of, data_of
from plots import check_texts_of, plot_named, plotted, rules_of
from strata.ladder import fstat
from strata.model.text import plain
from strata.model.units import factor, quantity
from strata.report.tables import papers
from strata.run import Run

FIGURE = plot_named("fstat_ladder")
NAMES = ("serial", "cpu_lanes", "per_call", "kept_memory", "packed", "one_launch")


def stories() -> list[dict[str, str]]:
    """A chain on a CPU, and one on a GPU."""
    return [
        {
            "name": f"fstat_{name}", "backend": "host" if place < 2 else "cuda",
            "before": "" if name in ("serial", "per_call") else f"fstat_{NAMES[place - 1]}",
            "question": "?", "change": "one", "source": "somebody", "expectation": "more",
        }
        for place, name in enumerate(NAMES)
    ]  # fmt: skip


def rung(
    name: str, rate: float, noise: str = "passed", *, counted: dict[str, float] | None = None,
    backend: str = "cuda", **params: int,
) -> dict[str, Any]:  # fmt: skip
    """A case of so many of 10^6 terms a second; on a GPU a core of its host takes 20 ns a term."""
    rows = [
        measurement("terms_per_second", [rate] * 7, unit="1/s", method="event", noise=noise),
        measurement("seconds_per_sft", [1 / rate] * 7, unit="s", method="event", noise=noise),
        count("terms", 1e6, unit="1", method="model", provenance="modelled"),
    ]
    if backend == "cuda":
        rows.append(measurement("core_seconds_per_sft", [2e-8] * 7, unit="s", method="monotonic"))
    found = (counted or {}).items()
    rows += [count(what, value, unit="1", method="code") for what, value in found]
    where = {"sky": 1, "cells": 9, "stacks": 2, "frequencies": 161} | params
    return case(rows, suite="fstat", benchmark=f"fstat_{name}", backend=backend, params=where)


def run_of(folder: Path, *lines: dict[str, Any], backend: str = "cuda") -> Run:
    return load2(folder, lines, backend=backend, ladders={"fstat": stories()})


def calls(noise: str = "passed") -> list[dict[str, Any]]:
    """Of 10^6 terms: 10 s by calls, 6 s in kept memory, 1 s packed."""
    return [
        rung("per_call", 1e5, noise, counted={"copies": 1.2e6, "allocations": 1e6}),
        rung("kept_memory", 1e6 / 6, counted={"copies": 1.2e6, "allocations": 0}),
        rung("packed", 1e6, counted={"copies": 2e5, "allocations": 0}),
    ]


@pytest.mark.parametrize("lines", [[], [rung("serial", 2e7, backend="host")]])
def test_without_rungs_of_a_gpu_there_is_neither_table_nor_sentence(
    lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    run = run_of(tmp_path, *lines, case([measurement()], backend="host"), backend="host")
    assert FIGURE.has(run) == bool(lines)
    assert not lines or "core" not in caption_of(FIGURE, run)
    assert papers.einstein_at_home(run) is None
    assert not list(fstat.sentences(run))


def test_a_line_for_each_rung_in_the_order_of_the_ladder(tmp_path: Path) -> None:
    spoilt = rung("packed", 9e6, "failed", group=4)
    lines = [*reversed(calls()), spoilt, rung("one_launch", 5e7, stacks=84)]
    run = run_of(tmp_path, *lines)
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        names = [[name.get_text() for name in ax.get_yticklabels()] for ax in figure.axes]
        assert names == [["per call", "kept memory", "packed"], ["one launch"]]
        two = figure.axes[0]
        assert two.get_title("left") == "1 sky point × 9 cells × 2 stacks × 161 frequencies"
        assert two.get_xscale() == "log"
        assert [rule.get_xdata()[0] for rule in rules_of(two)] == [5e7]  # type: ignore[index]
        assert "1.00\u00a0M/s   6.00× kept memory" in [text.get_text() for text in two.texts]
    gains = [float(line["speedup_over_it"] or 0) for line in data_of(FIGURE, run)]
    assert gains == pytest.approx([0, 10 / 6, 6, 0]), "over the same part, by the best valid case"
    assert "one core of the GPU's host" in caption_of(FIGURE, run)


@pytest.mark.parametrize(
    ("noise", "allocation", "share", "words"),
    [
        ("passed", 4e-6, 0.9, "together they take 90 % of an"),
        ("failed", None, 5 / 6, f"costs {quantity(5e-6, 's')}: such copies take 83 % of an"),
    ],
)
def test_the_price_of_a_piece_is_the_step_between_two_rungs(
    noise: str, allocation: float | None, share: float, words: str, tmp_path: Path
) -> None:
    run = run_of(tmp_path, *calls(noise))
    found = fstat.small_pieces(run)
    assert found
    assert found.allocation == (allocation and pytest.approx(allocation))
    assert (found.copy, found.share) == pytest.approx((5e-6, share))
    (sentence,) = fstat.sentences(run)
    assert words in plain(sentence)
    assert plain(sentence).endswith(f"makes it {factor(1 / (1 - share))} as fast.")


@pytest.mark.parametrize(
    "packed",
    [
        None, rung("packed", 1e6, "failed", counted={"copies": 2e5}),
        rung("packed", 1e4, counted={"copies": 2e5}),
        rung("packed", 1e6, counted={"copies": 2e5}, stacks=84),
    ],
)  # fmt: skip
def test_what_is_not_valid_or_within_noise_has_no_price(
    packed: dict[str, Any] | None, tmp_path: Path
) -> None:
    lines = [*calls()[:2], *([packed] if packed else [])]
    assert fstat.small_pieces(run_of(tmp_path, *lines)) is None


def lines_of(run: Run) -> dict[str, list[str]]:
    """The printed value, the value here and its rung, by the question."""
    table = papers.einstein_at_home(run)
    assert table
    return {plain(row[0]): [*map(plain, row[1:4])] for row in table.rows}


def test_each_number_of_the_seed_is_beside_ours(tmp_path: Path) -> None:
    call, *others = calls()
    phases = {"allocate": 4, "copy_in": 4.5, "copy_out": 0.5, "sum": 1}
    found = [
        measurement(f"phase_{name}", [value] * 7, unit="s", method="cupti_activity",
                    noise="not_applicable")
        for name, value in phases.items()
    ]  # fmt: skip
    run = run_of(tmp_path, call, *others, rung("one_launch", 2.5e8), trace(call, found))
    lines = lines_of(run)
    assert lines["version 1: its time over the CPU's"] == ["70.0×", "500.0×", "per call"]
    assert lines["version 1: memory management"] == ["95.0 %", "90.0 %", "per call"]
    assert lines["version 1: of it copies"] == ["70.0 %", "50.0 %", "per call"]
    assert lines["version 2: its time over the CPU's"][1:] == ["50.0×", "packed"]
    assert lines["version 3: its time over the CPU's"] == ["0.20×", "0.20×", "one launch"]
    # 10 s for 9 × 2 × 161 templates of 45 × 9 × 84 × 161.
    whole = [quantity(23300, "s"), quantity(10 * 45 * 42, "s"), "per call"]
    assert lines["version 1: the whole dataset"] == whole
    invalid = lines_of(run_of(tmp_path / "b", *calls("failed")[::2]))
    assert invalid["version 1: its time over the CPU's"][1] == "–"
    assert invalid["version 1: the whole dataset"][1] == "–"
    assert invalid["version 2: its time over the CPU's"][1] == "50.0×"
