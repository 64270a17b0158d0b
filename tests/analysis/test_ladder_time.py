"""The phases of a step, what is predicted of them, and their figure, from runs that are made up."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgba
from test_neighbours_figures import stories

from builders import case, load2, measurement, trace
from charts import caption_of, data_of
from plots import bars_of, check_texts_of, labels_of, plot_named, plotted, points_of, silent_of
from strata.figures.ladder_time import COLOURS
from strata.ladder.phases import steps
from strata.model.units import count, quantity
from strata.run import Run
from strata.run.load import STEP

FIGURE = plot_named("ladder_time")
ALPHA, BETA = 5e-6, 2e-11
"""Seconds of a copy, and of a byte, in both directions."""
LAUNCH = 3e-6
QUEUED_COPY = 2e-6
WAITED_LAUNCH = 9e-6
ALLOCATION = 4e-6
FLOPS = 6e13
L2 = 1 << 20
READ = {"l2": 5e12, "dram": 2e12}


def atlas() -> list[dict[str, Any]]:
    """What a run measured of copies, launches and arithmetic."""
    sizes = [4**power for power in range(1, 13)]
    copies = [
        case(
            [
                measurement("transfer_time", [ALPHA + BETA * size], unit="s", method="wall"),
                measurement("bandwidth", [size / (ALPHA + BETA * size)], unit="B/s", method="wall"),
            ],
            benchmark="transfers",
            params={"memory": "pinned", "direction": direction, "pieces": 1, "packing": "none",
                    "bytes": size},
        )
        for direction in ("to_device", "to_host")
        for size in sizes
    ] + [
        case(
            [measurement("transfer_time", [pieces * each], unit="s", method="wall", noise=noise)],
            benchmark="transfers",
            params={"memory": "pinned", "direction": "to_device", "pieces": pieces,
                    "packing": "none", "bytes": size},
        )
        for pieces, size, each, noise in (
            (16, 65536, 3 * QUEUED_COPY, "passed"), (4096, 65536, QUEUED_COPY, "passed"),
            (4096, 1048576, 2 * QUEUED_COPY, "passed"), (4096, 16384, QUEUED_COPY / 9, "failed"),
        )
    ]  # fmt: skip
    launches = [
        case(
            [measurement("launch_seconds", [seconds], unit="s", method="event_slope")],
            benchmark="launch_overhead", params={"launch": how},
        )
        for how, seconds in (("stream", LAUNCH), ("synchronised", WAITED_LAUNCH))
    ]  # fmt: skip
    flops = measurement("flops_per_second", [FLOPS], unit="FLOP/s", method="event_slope")
    reads = [
        case(
            [measurement("bandwidth", [rate], unit="B/s", method="event_slope")],
            benchmark="bandwidth", params={"level": level, "operation": "read"},
        )
        for level, rate in READ.items()
    ]  # fmt: skip
    return [
        *reads,
        *copies,
        *launches,
        *(
            case(
                [measurement("allocation_seconds", [seconds], unit="s", method="wall_slope")],
                benchmark="allocation",
                params={"memory": memory, "bytes": size},
            )
            for memory, size, seconds in (
                ("device", 512, ALLOCATION),
                ("device", 4096, 2 * ALLOCATION),
                ("pinned", 64, 1e-3),
            )
        ),
        case([flops], benchmark="ceilings", params={"arithmetic": "fp32", "form": "steady"}),
    ]


def rung(
    name: str,
    phases: dict[str, float],
    *,
    timed: float | None = None,
    method: str = "cupti_activity",
    failed: bool = False,
    queued: dict[str, float] | None = None,
    modelled: dict[str, float] | None = None,
    **params: Any,
) -> list[dict[str, Any]]:
    """A rung that was timed and traced, with these seconds by phase."""
    where = {"problem": "boids", "spread": "uniform", "agents": 16384, "world": 50} | params
    step = timed or sum(phases.values())
    backend = "host" if method == "host_clock" else "cuda"
    rows = [measurement("steps_per_second", [1 / step] * 7, unit="1/s", method="event")]
    if backend == "cuda":
        rows.append(
            measurement("fp32_instructions", [3e9], unit="1", method="model",
                        provenance="modelled", noise="not_applicable")
        )  # fmt: skip
    rows += [
        measurement(name, [value], unit="B", method="model", provenance="modelled",
                    noise="not_applicable")
        for name, value in (modelled or {}).items()
    ]  # fmt: skip
    line = case(
        rows, suite="neighbours", benchmark=f"neighbours_{name}", backend=backend, params=where,
        facts={STEP: step},
    )  # fmt: skip
    found = [
        measurement(f"phase_{phase}", [seconds] * 7, unit="s", method=method,
                    noise="not_applicable")
        for phase, seconds in phases.items()
    ] + [
        measurement(quantity, [value], unit="1", method=method, provenance="counted",
                    noise="not_applicable")
        for quantity, value in (queued or {}).items()
    ]  # fmt: skip
    verdict = "failed" if failed else "passed"
    return [line, trace(line, found, gates=[("phases", verdict, "1.3 of it")])]


QUEUED = {
    "copies": 6.0, "copies_in": 4.0, "copied_bytes": 3e6, "copied_in_bytes": 1e6, "launches": 7.0,
}  # fmt: skip
PHASES = {"copy_in": 5e-5, "build": 2e-5, "search": 2e-4, "copy_out": 6e-5, "idle": 3e-5}


def run_of(folder: Path, *rungs: list[dict[str, Any]], known: bool = True) -> Run:
    lines = [line for found in rungs for line in found]
    backend = lines[0]["backend"]
    told = [story | {"backend": backend} for story in stories()]
    return load2(
        folder, [*(atlas() if known else []), *lines], backend=backend,
        ladders={"neighbours": told}, device__l2_bytes=L2,
    )  # fmt: skip


def test_each_phase_is_predicted_by_its_own_rule(tmp_path: Path) -> None:
    (step,) = steps(run_of(tmp_path, rung("cpu_grid", PHASES, queued=QUEUED)))
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
    assert step.place == (
        ("agents", "16384"), ("problem", "boids"), ("spread", "uniform"), ("world", "50"),
    )  # fmt: skip


def test_work_that_was_counted_otherwise_than_traced_predicts_nothing(tmp_path: Path) -> None:
    lines = rung("cpu_grid", PHASES, queued=QUEUED)
    (expected,) = steps(run_of(tmp_path / "traced", lines))
    lines[1]["measurements"] += [
        measurement(name, [value], unit="1", method="cupti_net", provenance="counted",
                    noise="not_applicable")
        for name, value in {**QUEUED, "copies_in": 40.0, "launches": 70.0}.items()
    ]  # fmt: skip
    (step,) = steps(run_of(tmp_path / "counted", lines))
    assert step.predicted == expected.predicted


def test_allocations_are_predicted_by_the_smallest_pieces(tmp_path: Path) -> None:
    phases, counted = PHASES | {"allocate": 1e-4}, {"allocations": 25.0}
    (step,) = steps(run_of(tmp_path, rung("cpu_grid", phases, queued=QUEUED, modelled=counted)))
    assert step.predicted["allocate"] == pytest.approx(25 * ALLOCATION)


def test_larger_pieces_are_no_stand_in_for_the_smallest(tmp_path: Path) -> None:
    spoilt = atlas()
    smallest = next(one for one in spoilt if one["params"].get("bytes") == "512")
    smallest["measurements"][0]["noise"]["verdict"] = "failed"
    phases, counted = PHASES | {"allocate": 1e-4}, {"allocations": 25.0}
    lines = [*spoilt, *rung("cpu_grid", phases, queued=QUEUED, modelled=counted)]
    (step,) = steps(run_of(tmp_path, lines, known=False))
    assert "allocate" not in step.predicted


def test_a_launch_whose_result_is_copied_out_is_waited_for(tmp_path: Path) -> None:
    queued = QUEUED | {"launches": 2.0}
    (step,) = steps(run_of(tmp_path, rung("cpu_grid", PHASES, queued=queued)))
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
    run = run_of(tmp_path, rung("cpu_grid", PHASES, queued=QUEUED, modelled=modelled))
    (step,) = steps(run)
    assert step.predicted["build"] == pytest.approx(seconds)
    assert step.left == pytest.approx(step.traced - sum(step.predicted.values()))
    assert "Build: the bytes" in caption_of(FIGURE, run)


def test_without_rates_what_builds_is_not_predicted(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", PHASES, queued=QUEUED, modelled={"build_bytes": 1e6}),
        known=False,
    )  # fmt: skip
    assert steps(run)[0].predicted == {}


def test_phases_by_events_say_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, rung("cpu_grid", PHASES, method="cuda_event", queued=QUEUED))
    assert set(steps(run)[0].predicted) >= {"copy_in", "copy_out", "idle"}
    caption = caption_of(FIGURE, run)
    assert "Without CUPTI" in caption
    assert "CUPTI's records" not in caption


def test_what_is_shown_stands_in_a_panel_of_its_own(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", PHASES, shown="no"), rung("cpu_grid", PHASES, shown="yes")
    )
    assert [*FIGURE.data(run).place.unique()] == [
        f"agents {count(16384)}, boids, uniform, world 50",
        f"agents {count(16384)}, boids, shown, uniform, world 50",
    ]


def test_what_the_run_did_not_measure_predicts_nothing(tmp_path: Path) -> None:
    (step,) = steps(run_of(tmp_path, rung("cpu_grid", PHASES, queued=QUEUED), known=False))
    assert step.predicted == {}
    assert step.left is None
    assert "predict" not in caption_of(
        FIGURE, run_of(tmp_path / "b", rung("serial", PHASES), known=False)
    )


def test_without_traces_there_is_no_figure(tmp_path: Path) -> None:
    line, _ = rung("serial", PHASES)
    skipped = trace(line, status="skipped", reason="this build has no CUPTI")
    run = run_of(tmp_path, [line, skipped])
    assert not FIGURE.has(run)
    (row,) = [row for row in run.rows if row.quantity == "steps_per_second"]
    assert row.reasons == "phases: tracing skipped: this build has no CUPTI"


def test_bars_are_stacked_by_phase_with_what_is_left(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", PHASES, queued=QUEUED, timed=3.5e-4),
        rung("serial", {"search": 4e-3, "idle": 1e-4}),
    )  # fmt: skip
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        assert not silent_of(figure)
        (ax,) = figure.axes
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names == ["serial", "cpu grid"], "in the order of the ladder"
        assert ax.get_title("left") == f"agents {count(16384)}, boids, uniform, world 50"
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
    assert "Copies:" in caption_of(FIGURE, run)
    lines = [line for line in data_of(FIGURE, run) if line["rung"] == "cpu grid"]
    assert [line["phase"] for line in lines] == list(PHASES)
    assert [line["predicted_seconds"] != "" for line in lines] == [True, False, True, True, True]


def test_of_the_choices_of_a_rung_the_fastest_valid_one_stands(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("cpu_grid", {"search": 3e-3}, cells=6),
        rung("cpu_grid", {"search": 2e-3}, cells=12),
        rung("cpu_grid", {"search": 1e-3}, cells=24, failed=True),
        rung("serial", {"search": 9e-3}),
    )  # fmt: skip
    found = [line["case"] for line in data_of(FIGURE, run) if line["seconds"]]
    assert len(found) == 2
    assert "cells=12" in found[1]


def test_phases_that_do_not_make_up_the_step_are_hollow(tmp_path: Path) -> None:
    run = run_of(tmp_path, rung("serial", PHASES, failed=True, method="host_clock"), known=False)
    with plotted(FIGURE, run) as figure:
        assert {bar.get_linestyle() for bar in bars_of(figure)} == {"--"}
    caption = caption_of(FIGURE, run)
    assert "Invalid, drawn hollow (1): serial" in caption
    assert "All by the host's clock." in caption


def test_a_panel_for_each_place(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, rung("serial", PHASES), rung("serial", PHASES, agents=131072),
        rung("openmp", PHASES, problem="list", world="fit"),
    )  # fmt: skip
    with plotted(FIGURE, run) as figure:
        check_texts_of(figure)
        assert [ax.get_title("left") for ax in figure.axes] == [
            f"agents {count(16384)}, boids, uniform, world 50",
            f"agents {count(131072)}, boids, uniform, world 50",
            f"agents {count(16384)}, list, uniform, fit",
        ]
