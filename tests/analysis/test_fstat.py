"""The ladder of the F-statistic: its figure, the seed's table, what small copies cost; made up."""

from pathlib import Path
from typing import Any

import pytest

from builders import case, load2, measurement, trace
from charts import caption_of, data_of
from plots import check_texts_of, plot_named, plotted
from strata.ladder import fstat
from strata.model.text import plain
from strata.model.units import quantity
from strata.report.tables import breitbart
from strata.run import Run

FIGURE = plot_named("fstat_ladder")
NAMES = ("serial", "cpu_lanes", "per_call", "kept_memory", "packed", "one_launch")


def stories() -> list[dict[str, str]]:
    """A chain on a CPU, and one on a GPU."""
    first = ("serial", "per_call")
    return [
        {
            "name": f"fstat_{name}", "backend": "host" if place < 2 else "cuda",
            "before": "" if name in first else f"fstat_{NAMES[place - 1]}",
            "question": "?", "change": "one", "source": "somebody", "expectation": "more",
        }
        for place, name in enumerate(NAMES)
    ]  # fmt: skip


def rung(
    name: str,
    rate: float,
    *,
    terms: float = 1e6,
    counted: dict[str, float] | None = None,
    noise: str = "passed",
    backend: str = "cuda",
    **params: int,
) -> dict[str, Any]:
    """A case of so many terms a second; on a GPU a core of its host takes 20 ns a term."""
    rows = [
        measurement("terms_per_second", [rate] * 7, unit="1/s", method="event", noise=noise),
        measurement("seconds_per_sft", [1 / rate] * 7, unit="s", method="event", noise=noise),
        measurement("terms", [terms], unit="1", method="model", provenance="modelled",
                    noise="not_applicable"),
    ]  # fmt: skip
    if backend == "cuda":
        rows.append(measurement("core_seconds_per_sft", [2e-8] * 7, unit="s", method="monotonic"))
    rows += [
        measurement(what, [value], unit="1", method="code", provenance="counted",
                    noise="not_applicable")
        for what, value in (counted or {}).items()
    ]  # fmt: skip
    where = {"sky": 1, "cells": 9, "stacks": 2, "frequencies": 161} | params
    return case(rows, suite="fstat", benchmark=f"fstat_{name}", backend=backend, params=where)


def run_of(folder: Path, *lines: dict[str, Any], backend: str = "cuda") -> Run:
    return load2(folder, lines, backend=backend, ladders={"fstat": stories()})


def calls() -> list[dict[str, Any]]:
    """Of 10^6 terms: 10 s by calls, 6 s in kept memory, 1 s packed."""
    return [
        rung("per_call", 1e5, counted={"copies": 1.2e6, "allocations": 1e6}),
        rung("kept_memory", 1e6 / 6, counted={"copies": 1.2e6, "allocations": 0}),
        rung("packed", 1e6, counted={"copies": 2e5, "allocations": 0}),
    ]


def test_without_the_suite_there_is_nothing(tmp_path: Path) -> None:
    run = load2(tmp_path, [case([measurement()])])
    assert not FIGURE.has(run)
    assert breitbart.make(run) is None
    assert not list(fstat.sentences(run))


def test_a_mark_for_each_rung_in_the_order_of_the_ladder(tmp_path: Path) -> None:
    run = run_of(tmp_path, *reversed(calls()), rung("one_launch", 5e7, stacks=84))
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        names = [[name.get_text() for name in ax.get_yticklabels()] for ax in figure.axes]
        assert names == [["per call", "kept memory", "packed"], ["one launch"]]
        two = figure.axes[0]
        assert two.get_title("left") == "1 sky point × 9 cells × 2 stacks × 161 frequencies"
        assert two.get_xscale() == "log"
        assert any(text.get_text().endswith("   6.00× kept memory") for text in two.texts)
    lines = data_of(FIGURE, run)
    assert [float(line["speedup_over_it"] or 0) for line in lines] == pytest.approx(
        [0, 10 / 6, 6, 0]
    ), "a step is over the same part of the observation"
    assert "one core of the GPU's host" in caption_of(FIGURE, run)


def test_the_best_valid_choice_of_a_rung_stands(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("packed", 3e6, group=1), rung("packed", 5e6, group=2),
        rung("packed", 9e6, group=4, noise="failed"),
    )  # fmt: skip
    (line,) = data_of(FIGURE, run)
    assert float(line["per_second"]) == 5e6


def test_on_a_cpu_no_core_is_drawn(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("serial", 2e7, backend="host"), rung("cpu_lanes", 4e8, backend="host"),
        backend="host",
    )  # fmt: skip
    assert "core" not in caption_of(FIGURE, run)
    assert breitbart.make(run) is None
    assert not list(fstat.sentences(run))


def test_the_price_of_a_piece_is_the_step_between_two_rungs(tmp_path: Path) -> None:
    found = fstat.small_pieces(run_of(tmp_path, *calls()))
    assert found
    assert found.allocation == pytest.approx(4 / 1e6)
    assert found.copy == pytest.approx(5 / 1e6)
    assert found.share == pytest.approx(0.9)
    (sentence,) = fstat.sentences(run_of(tmp_path / "again", *calls()))
    words = plain(sentence)
    assert f"A small copy costs {quantity(5e-6, 's')}, and" in words
    assert f"with its release {quantity(4e-6, 's')}: together they take 90 % of" in words
    assert words.endswith("Packing its pieces makes it 10.0× as fast.")


def test_a_copy_has_its_price_where_the_rung_that_allocates_is_not_valid(tmp_path: Path) -> None:
    spoilt = rung("per_call", 1e5, counted={"copies": 1.2e6, "allocations": 1e6}, noise="failed")
    run = run_of(tmp_path, spoilt, *calls()[1:])
    found = fstat.small_pieces(run)
    assert found
    assert found.allocation is None
    assert found.copy == pytest.approx(5 / 1e6)
    (sentence,) = fstat.sentences(run)
    words = plain(sentence)
    assert f"A small copy costs {quantity(5e-6, 's')}: such copies take 83 % of an" in words
    assert words.endswith("Packing its pieces makes it 6.00× as fast.")


def test_what_is_not_valid_or_within_noise_has_no_price(tmp_path: Path) -> None:
    one, two, three = calls()
    assert fstat.small_pieces(run_of(tmp_path / "a", one, two)) is None
    spoilt = rung("packed", 1e6, counted={"copies": 2e5}, noise="failed")
    assert fstat.small_pieces(run_of(tmp_path / "b", one, two, spoilt)) is None
    slower = rung("packed", 1e4, counted={"copies": 2e5})
    assert fstat.small_pieces(run_of(tmp_path / "c", one, two, slower)) is None
    elsewhere = rung("packed", 1e6, counted={"copies": 2e5}, stacks=84)
    assert fstat.small_pieces(run_of(tmp_path / "d", one, two, elsewhere)) is None
    assert fstat.small_pieces(run_of(tmp_path / "e", one, two, three))


def lines_of(run: Run) -> dict[str, tuple[str, str, str]]:
    """The printed value, the value here and its rung, by the question."""
    table = breitbart.make(run)
    assert table
    return {plain(row[0]): (plain(row[1]), plain(row[2]), plain(row[3])) for row in table.rows}


def phase(name: str, value: float) -> dict[str, Any]:
    return measurement(
        f"phase_{name}", [value] * 7, unit="s", method="cupti_activity", noise="not_applicable"
    )


def test_each_number_of_the_seed_stands_beside_ours(tmp_path: Path) -> None:
    call, *others = calls()
    traced = trace(call, [phase("allocate", 4), phase("copy_in", 4.5), phase("copy_out", 0.5),
                          phase("sum", 1)])  # fmt: skip
    run = run_of(tmp_path, call, *others, rung("one_launch", 2.5e8), traced)
    found = lines_of(run)
    assert found["version 1: its time over the CPU's"] == ("70.0×", "500.0×", "per call")
    assert found["version 1: memory management"] == ("95.0 %", "90.0 %", "per call")
    assert found["version 1: of it copies"] == ("70.0 %", "50.0 %", "per call")
    assert found["version 2: its time over the CPU's"][1:] == ("50.0×", "packed")
    assert found["version 3: its time over the CPU's"] == ("0.20×", "0.20×", "one launch")
    # 10 s for 9 × 2 × 161 templates of 45 × 9 × 84 × 161.
    assert found["version 1: the whole dataset"] == (
        quantity(23300, "s"), quantity(10 * 45 * 42, "s"), "per call",
    )  # fmt: skip


def test_an_invalid_case_tells_nothing(tmp_path: Path) -> None:
    spoilt = rung("per_call", 1e5, noise="failed")
    found = lines_of(run_of(tmp_path, spoilt, rung("packed", 1e6)))
    assert found["version 1: its time over the CPU's"][1] == "–"
    assert found["version 1: the whole dataset"][1] == "–"
    assert found["version 2: its time over the CPU's"][1] == "50.0×"
