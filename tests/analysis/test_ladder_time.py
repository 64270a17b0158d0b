"""The phases of a step, what is predicted of them, and their figure, from made-up runs."""

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgba
from test_neighbours_figures import CEILING, FLOPS, stories

from builders import case, count, load2, measurement, trace
from charts import caption_of, data_of
from plots import bars_of, labels_of, plot_named, plotted, points_of, silent_of
from strata.figures.ladder_time import COLOURS
from strata.ladder.phases import steps
from strata.model.units import count as grouped
from strata.model.units import quantity
from strata.run import Run
from strata.run.load import STEP

FIGURE = plot_named("ladder_time")
ALPHA, BETA = 5e-6, 2e-11
"""Seconds of a copy, and of a byte, in both directions."""
LAUNCH, WAITED_LAUNCH = 3e-6, 9e-6
QUEUED_COPY = 2e-6
ALLOCATION = 4e-6
L2 = 1 << 20
READ = {"l2": 5e12, "dram": 2e12}
HERE = f"agents {grouped(16384)}, boids, uniform, world 50"


def timed(
    benchmark: str, seconds: float, what: str, method: str = "wall", noise: str = "passed",
    **params: Any,
) -> dict[str, Any]:  # fmt: skip
    rows = [measurement(what, [seconds], unit="s", method=method, noise=noise)]
    return case(rows, benchmark=benchmark, params=params)


def atlas(smallest: str = "passed") -> list[dict[str, Any]]:
    """What a run measured of copies, launches and arithmetic; the noise of the smallest piece."""
    pinned: dict[str, Any] = {"memory": "pinned", "packing": "none"}
    copies = [
        timed("transfers", ALPHA + BETA * size, "transfer_time", direction=direction, pieces=1,
              bytes=size, **pinned)
        for direction in ("to_device", "to_host")
        for size in (4**power for power in range(1, 13))
    ]  # fmt: skip
    for line in copies:
        size, seconds = int(line["params"]["bytes"]), line["measurements"][0]["samples"][0]
        line["measurements"].append(
            measurement("bandwidth", [size / seconds], unit="B/s", method="wall")
        )
    copies += [
        timed("transfers", pieces * each, "transfer_time", noise=noise, direction="to_device",
              pieces=pieces, bytes=size, **pinned)
        for pieces, size, each, noise in (
            (16, 65536, 3 * QUEUED_COPY, "passed"), (4096, 65536, QUEUED_COPY, "passed"),
            (4096, 1048576, 2 * QUEUED_COPY, "passed"), (4096, 16384, QUEUED_COPY / 9, "failed"),
        )
    ]  # fmt: skip
    launches = [
        timed("launch_overhead", seconds, "launch_seconds", "event_slope", launch=how)
        for how, seconds in (("stream", LAUNCH), ("synchronised", WAITED_LAUNCH))
    ]
    pieces = [
        timed("allocation", seconds, "allocation_seconds", "wall_slope", noise, memory=memory,
              bytes=size)
        for memory, size, seconds, noise in (
            ("device", 512, ALLOCATION, smallest), ("device", 4096, 2 * ALLOCATION, "passed"),
            ("pinned", 64, 1e-3, "passed"),
        )
    ]  # fmt: skip
    reads = [
        case(
            [measurement("bandwidth", [rate], unit="B/s", method="event_slope")],
            benchmark="bandwidth", params={"level": level, "operation": "read"},
        )
        for level, rate in READ.items()
    ]  # fmt: skip
    return [*reads, *copies, *launches, *pieces, CEILING]


QUEUED = {
    "copies": 6.0, "copies_in": 4.0, "copied_bytes": 3e6, "copied_in_bytes": 1e6, "launches": 7.0,
}  # fmt: skip
PHASES = {"copy_in": 5e-5, "build": 2e-5, "search": 2e-4, "copy_out": 6e-5, "idle": 3e-5}


def rung(
    name: str, phases: dict[str, float], *, timed: float = 0.0, method: str = "cupti_activity",
    failed: bool = False, queued: dict[str, float] | None = None,
    modelled: dict[str, float] | None = None, **params: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """A rung that was timed and traced, with these seconds by phase."""
    where = {"problem": "boids", "spread": "uniform", "agents": 16384, "world": 50} | params
    step = timed or sum(phases.values())
    backend = "host" if method == "host_clock" else "cuda"
    rows = [measurement("steps_per_second", [1 / step] * 7, unit="1/s", method="event")]
    work = (modelled or {}) | ({"fp32_instructions": 3e9} if backend == "cuda" else {})
    rows += [
        count(what, value, unit="1", method="model", provenance="modelled")
        for what, value in work.items()
    ]
    line = case(
        rows, suite="neighbours", benchmark=f"neighbours_{name}", backend=backend, params=where,
        facts={STEP: step},
    )  # fmt: skip
    found = [
        measurement(f"phase_{phase}", [seconds] * 7, unit="s", method=method,
                    noise="not_applicable")
        for phase, seconds in phases.items()
    ]  # fmt: skip
    found += [count(what, value, unit="1", method=method) for what, value in (queued or {}).items()]
    verdict = "failed" if failed else "passed"
    return [line, trace(line, found, gates=[("phases", verdict, "1.3 of it")])]


def run_of(folder: Path, *rungs: list[dict[str, Any]], known: bool = True, **changes: str) -> Run:
    lines = [*(atlas(**changes) if known else []), *chain(*rungs)]
    backend = lines[-1]["backend"]
    ladders = {"neighbours": stories(backend)}
    return load2(folder, lines, backend=backend, ladders=ladders, device__l2_bytes=L2)


def test_each_phase_is_predicted_by_its_own_rule(tmp_path: Path) -> None:
    lines = rung("cpu_grid", PHASES, queued=QUEUED)
    # Work that was counted otherwise than traced predicts nothing.
    lines[1]["measurements"] += [
        count(name, value, unit="1") for name, value in {**QUEUED, "launches": 70.0}.items()
    ]
    (step,) = steps(run_of(tmp_path, lines))
    assert step.predicted == pytest.approx(
        {
            "copy_in": 4 * QUEUED_COPY + 1e6 * BETA,
            "copy_out": 2 * ALPHA + 2e6 * BETA,
            "search": 3e9 / (FLOPS / 2),
            "idle": 7 * LAUNCH,
        }
    )
    assert step.traced == pytest.approx(3.6e-4)
    assert step.left == pytest.approx(3.6e-4 - sum(step.predicted.values()))
    assert [axis for axis, _ in step.place] == ["agents", "problem", "spread", "world"]


@pytest.mark.parametrize("smallest", ["passed", "failed"])
def test_allocations_are_predicted_by_the_smallest_pieces_alone(
    smallest: str, tmp_path: Path
) -> None:
    phases = PHASES | {"allocate": 1e-4}
    lines = rung("cpu_grid", phases, queued=QUEUED, modelled={"allocations": 25.0})
    (step,) = steps(run_of(tmp_path, lines, smallest=smallest))
    wanted = 25 * ALLOCATION if smallest == "passed" else None
    assert step.predicted.get("allocate") == (wanted and pytest.approx(wanted))


def test_a_launch_whose_result_is_copied_out_is_waited_for(tmp_path: Path) -> None:
    (step,) = steps(run_of(tmp_path, rung("cpu_grid", PHASES, queued=QUEUED | {"launches": 2.0})))
    assert step.predicted["idle"] == pytest.approx(2 * WAITED_LAUNCH)


@pytest.mark.parametrize(
    ("moved", "issued", "seconds"),
    [
        (L2 / 2, None, L2 / 2 / READ["l2"]),
        (2 * L2, None, 2 * L2 / READ["dram"]),
        (L2 / 2, 3e10, 3e10 / (FLOPS / 2)),
        (L2 / 2, 3e3, L2 / 2 / READ["l2"]),
    ],
)
def test_what_builds_takes_as_long_as_its_bytes_or_its_instructions(
    tmp_path: Path, moved: float, issued: float | None, seconds: float
) -> None:
    modelled = {"build_bytes": moved} | ({"build_instructions": issued} if issued else {})
    lines = rung("cpu_grid", PHASES, queued=QUEUED, modelled=modelled)
    (step,) = steps(run_of(tmp_path, lines))
    assert step.predicted["build"] == pytest.approx(seconds)
    assert steps(run_of(tmp_path / "b", lines, known=False))[0].predicted == {}


@pytest.mark.parametrize(
    ("method", "words", "known"),
    [
        ("cuda_event", "Without CUPTI", True), ("cupti_activity", "CUPTI's records", True),
        ("host_clock", "All by the host's clock.", False),
    ],
)  # fmt: skip
def test_the_caption_names_the_clock(
    method: str, words: str, known: bool, tmp_path: Path  # noqa: FBT001
) -> None:  # fmt: skip
    run = run_of(tmp_path, rung("cpu_grid", PHASES, method=method, queued=QUEUED), known=known)
    caption = caption_of(FIGURE, run)
    assert words in caption
    assert ("predictions" in caption) == known
    assert (steps(run)[0].left is None) != known


def test_bars_are_stacked_by_phase_with_what_is_left(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", PHASES, queued=QUEUED, timed=3.5e-4),
        rung("serial", {"search": 4e-3, "idle": 1e-4}),
    )  # fmt: skip
    with plotted(FIGURE, run) as figure:
        assert not silent_of(figure)
        (ax,) = figure.axes
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names == ["serial", "cpu grid"], "in the order of the ladder"
        assert ax.get_title("left") == HERE
        bars = [bar for bar in bars_of(figure) if bar.get_y() > 0.5]
        (searched,) = [bar for bar in bars if bar.get_facecolor() == to_rgba(COLOURS["search"])]
        assert (searched.get_x(), searched.get_width()) == pytest.approx((7e-5, 2e-4)), (
            "behind what is copied and built"
        )
        (left,) = [bar for bar in bars if bar.get_hatch()]
        assert left.get_x() + left.get_width() == pytest.approx(3.6e-4)
        timed = [x for line in ax.lines for x, _ in points_of(line)]
        assert timed == pytest.approx([4.1e-3, 3.5e-4])
        assert labels_of(figure) == [
            "copy in", "build", "search", "copy out", "idle", "timed", "not predicted",
        ]  # fmt: skip
        share = 100 * sum(steps(run)[0].predicted.values()) / 3.6e-4
        words = [text.get_text() for text in ax.texts]
        assert f"{quantity(3.6e-4, 's')}   {share:.3g} % predicted" in words
    lines = [line for line in data_of(FIGURE, run) if line["rung"] == "cpu grid"]
    assert [line["phase"] for line in lines] == list(PHASES)
    assert [line["predicted_seconds"] != "" for line in lines] == [True, False, True, True, True]


def test_the_fastest_valid_choice_of_a_rung_is_drawn(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", {"search": 3e-3}, cells=6),
        rung("cpu_grid", {"search": 2e-3}, cells=12),
        rung("cpu_grid", {"search": 1e-3}, cells=24, failed=True),
        rung("serial", {"search": 9e-3}, failed=True, method="host_clock"), known=False,
    )  # fmt: skip
    first, second = data_of(FIGURE, run)
    assert "cells=12" in second["case"]
    with plotted(FIGURE, run) as figure:
        assert [bar.get_linestyle() for bar in bars_of(figure)] == ["--", "solid"]
    assert f"Invalid, drawn hollow (1): {first['rung']}" in caption_of(FIGURE, run)
