"""The roofline: known intensities on the roof, nothing above it in silence, axes that stay."""

import gzip
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from test_interop import raw

from builders import DATA, case, context2, count, counts, load2, measurement, strata, write_run
from plots import labels_of, plot_named
from strata import interop
from strata.figures import _style
from strata.figures import roofline as drawing
from strata.report.roofline import write
from strata.roofline.ceilings import Ceiling, joined
from strata.roofline.forms import FLOP, INSTRUCTION, LOADS, ONCE, Form, level_words
from strata.roofline.kernels import COMMAND, CONSTANTS, short_names
from strata.roofline.points import Point
from strata.roofline.verdicts import (
    Entry,
    ceilings_of,
    entries,
    impossible,
    lacking,
    notes,
    points_of,
    problems,
    table,
)
from strata.run import Run, RunError, grouped, load_run

PEAK = 60e12
BANDWIDTHS = {"l1": 30e12, "l2": 10e12, "dram": 4e12}
CLOCK = 1.98e9
SMS = 132
BODIES = 65536
PAIRS = BODIES**2
FLOPS = 18.0
Line = dict[str, Any]


def timed(
    quantity: str, value: float, unit: str, method: str = "event_slope", noise: str = "passed"
) -> Line:
    return measurement(quantity, [value] * 7, unit=unit, method=method, noise=noise)


def modelled(quantity: str, value: float, unit: str) -> Line:
    return count(quantity, value, unit=unit, method="lanes_times_clock", provenance="modelled")


def arithmetic(kind: str, rate: float, *, limit: float = 0, **changes: Any) -> Line:
    found = [
        timed("flops_per_second", rate, "FLOP/s", noise=changes.pop("noise", "passed")),
        timed("core_clock", CLOCK, "Hz", "clock64_over_globaltimer"),
    ]
    if limit:
        found.append(modelled("flops_per_second", limit, "FLOP/s"))
    params = {"arithmetic": kind, "form": changes.pop("form", "square"), "warps_per_sm": 32}
    return case(found, benchmark="ceilings", params=params, **changes)


def bandwidth(
    level: str, rate: float, *, share: float = 0, operation: str = "read", width: int = 16,
    noise: str = "passed", backend: str = "cuda",
) -> Line:  # fmt: skip
    found = [timed("bandwidth", rate, "B/s", noise=noise)]
    if share:
        found.append(timed("share_of_limit", share, "1"))
    params = {"level": level, "operation": operation, "width": width}
    return case(found, benchmark="bandwidth", params=params, backend=backend)


def strided(
    level: str, rate: float, stride: int, *, width: int = 16, noise: str = "passed"
) -> Line:
    found = [timed("useful_bandwidth", rate, "B/s", noise=noise)]
    params = {"level": level, "pattern": "strided", "stride": stride, "width": width}
    return case(found, benchmark="stride_gather", params=params)


def without_fma(rate: float) -> Line:
    found = [timed("operation_rate", rate, "1/s")]
    return case(found, benchmark="instruction_cost", params={"operation": "fadd", "ilp": 4})


def ceilings() -> list[Line]:
    return [
        arithmetic("fp32", PEAK, limit=1.01 * PEAK),
        *(bandwidth(level, rate) for level, rate in BANDWIDTHS.items()),
    ]


def rung(
    rate: float,
    moved: Mapping[str, float] | None = None,
    *,
    name: str = "tiled",
    flops: float = FLOPS,
    instructions: float = 14.0,
    clock: float = CLOCK,
    noise: str = "passed",
    extra: Sequence[Line] = (),
    **place: Any,
) -> list[Line]:
    """A rung that attains `rate` FLOP/s; `moved`: its bytes of a step, by level, where counted."""
    params: Line = {"problem": "single", "systems": 1, "bodies": BODIES, "layout": "soaoas"} | place
    pairs, each = params["systems"] * params["bodies"] ** 2, rate / flops
    rows = [
        timed("interactions_per_second", each, "1/s", "event", noise),
        timed("step_time", pairs / each, "s", "event"),
        timed("core_clock", clock, "Hz", "clock64_over_globaltimer"),
    ]
    line = case(rows, suite="nbody", benchmark=name, params=params)
    if moved is None:
        return [line]
    found = [
        count("flops_per_interaction", flops, unit="FLOP"),
        count("fp32_fma", pairs * flops / 2, unit="instruction", method="ffma.sum"),
        count("instructions_per_interaction", instructions, unit="instruction"),
        *extra,
    ]
    parts = {
        "l1": (("l1_load_sectors", 32), ("l1_store_sectors", 32), ("shared_wavefronts", 128)),
        "l2": (("l2_load_sectors", 32), ("l2_store_sectors", 32)),
        "dram": (("dram_read_bytes", 1), ("dram_write_bytes", 1)),
    }
    for level, total in moved.items():
        share = total / len(parts[level])
        found += [
            count(quantity, share / each, unit="sector", method=f"{quantity}.sum")
            for quantity, each in parts[level]
        ]
    return [line, counts(line, found)]


def at(intensities: Mapping[str, float], flops: float = FLOPS) -> dict[str, float]:
    """The bytes of a step that make these intensities of its operations."""
    return {level: flops * PAIRS / intensity for level, intensity in intensities.items()}


def run_folder(folder: Path, *lines: Line) -> Path:
    return write_run(folder, list(lines), header=context2(device__sm_count=SMS))


def run_of(folder: Path, *lines: Line, **changes: Any) -> Run:
    return load2(folder, list(lines), **{"device__sm_count": SMS, **changes})


def shown(folder: Path, *lines: Line, form: Form = FLOP, nominal: bool = True) -> tuple[Entry, ...]:
    return entries([run_of(folder, *lines)], form, nominal=nominal)


def points(found: Sequence[Entry], basis: str = "counted") -> dict[str, Point]:
    return {point.level: point for point in points_of(found) if point.basis == basis}


def named(found: Sequence[Entry], name: str, basis: str = "measured") -> Ceiling:
    (one,) = [c for c in ceilings_of(found) if (c.name, c.basis) == (name, basis)]
    return one


def caption(found: Sequence[Entry], form: Form = FLOP) -> str:
    return drawing.caption(form, drawing.data_of(form, found))


# --- on the roof, below, above --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(16))
def test_kernels_of_known_intensity_lie_on_the_roof_or_below(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311  (intensities, no secret)
    levels = chance.sample(sorted(BANDWIDTHS), 1 + seed % 3)
    intensities = {level: 10 ** chance.uniform(-2, 4) for level in levels}
    allowed = {level: min(PEAK, BANDWIDTHS[level] * i) for level, i in intensities.items()}
    rate = min(allowed.values()) * (1 if seed % 2 else chance.uniform(0.1, 1))
    found = shown(tmp_path, *ceilings(), *rung(rate, at(intensities)))
    assert {level: one.intensity for level, one in points(found).items()} == pytest.approx(
        intensities
    )
    for level, point in points(found).items():
        assert (point.value, point.share) == pytest.approx((rate, rate / allowed[level]))
        assert point.above is None
    assert all("nominal" in problem for problem in problems(found))


@pytest.mark.parametrize(("over", "refused"), [(1.0, ""), (1.015, ""), (1.05, "refused")])
@pytest.mark.parametrize("level", BANDWIDTHS)
def test_above_its_level_by_more_than_the_tolerance_is_an_error(
    level: str, over: float, refused: str, tmp_path: Path
) -> None:
    kernel = rung(over * 0.5 * BANDWIDTHS[level], at({level: 0.5}))
    found = shown(tmp_path, *ceilings(), *kernel, nominal=False)
    point = points(found)[level]
    assert impossible(found) == (point.above is not None) == bool(refused)
    if point.above is not None:
        assert point.above.level == level
        assert point.above_by == pytest.approx(over)
        (words,) = problems(found)
        name = level_words(level)
        assert words.startswith(
            f"tiled (counted) at {name} is 5.0\u00a0% above {name}, read (nbody/tiled"
        )


def test_a_point_above_the_peak_is_named_once_for_all_levels(tmp_path: Path) -> None:
    kernel = rung(1.3 * PEAK, at({"l1": 900, "l2": 900, "dram": 900}), instructions=5.0)
    run = run_folder(tmp_path, *ceilings(), *kernel)
    found = entries([load_run(run)], nominal=False)
    assert [point.above is not None for point in points(found).values()] == [True] * 3
    (words,) = problems(found)
    assert words.startswith("tiled (counted) is 30.0\u00a0% above fp32 ")
    assert "above the theoretical limit too" in words
    assert "Above a roof, which is impossible (1): tiled (counted) is 30.0" in caption(found)
    with drawn(found) as ax:
        figure: Any = ax.get_figure(root=True)
        assert "above a roof" in labels_of(figure)
    done = strata("roofline", run, "-o", tmp_path / "out", "--no-nominal")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("strata: above its roof: tiled (counted) is 30.0")
    assert (tmp_path / "out" / "roofline.svg").is_file()


def test_the_interval_counts_in_favour_of_a_point(tmp_path: Path) -> None:
    spread = [1 + step / 100 for step in (-6, -5, -4, 0, 4, 5, 6)]
    for name, of_kernel, of_roof in (("point", spread, [1.0] * 7), ("roof", [1.0] * 7, spread)):
        line, counted = rung(1.05 * PEAK, at({"l2": 900}))
        line["measurements"][0]["samples"] = [1.05 * PEAK / FLOPS * step for step in of_kernel]
        peak, *others = ceilings()
        peak["measurements"][0]["samples"] = [PEAK * step for step in of_roof]
        found = shown(tmp_path / name, peak, *others, line, counted, nominal=False)
        assert points(found)["l2"].above is None


@pytest.mark.parametrize(
    ("limit", "clock", "words"),
    [
        (1.01, 1.1 * CLOCK, "its clock was 10.0\u00a0% higher than the roof's"),
        (2, CLOCK, "no measured launch reached the chip"),
        (0, CLOCK, "or more operations were counted than timed"),
    ],
)
def test_the_likely_cause_is_what_the_rows_can_tell(
    limit: float, clock: float, words: str, tmp_path: Path
) -> None:
    lines = [arithmetic("fp32", PEAK, limit=limit * PEAK), bandwidth("l2", 1e13)]
    kernel = rung(1.2 * PEAK, at({"l2": 900}), clock=clock)
    (problem,) = problems(shown(tmp_path, *lines, *kernel, nominal=False))
    assert words in problem


def test_nominal_operations_above_the_roof_are_named_and_prove_nothing(tmp_path: Path) -> None:
    found = shown(tmp_path, *ceilings(), *rung(0.8 * PEAK, at({"l2": 900}, 12.0), flops=12.0))
    assert points(found)["l2"].above is None
    nominal = points(found, "nominal")["l2"]
    assert nominal.value == pytest.approx(0.8 * PEAK * 20 / 12)
    assert nominal.intensity == pytest.approx(900 * 20 / 12)
    (words,) = problems(found)
    assert "20 operations of an interaction are nominal, and 12.0 were executed" in words
    assert not impossible(found)


# --- which rows are points, which are ceilings ----------------------------------------------------


def test_a_level_of_which_a_part_was_not_counted_has_no_point(tmp_path: Path) -> None:
    line, counted = rung(1e13, at({"l1": 3, "l2": 300, "dram": 3000}))
    counted["measurements"] = [
        one
        for one in counted["measurements"]
        if one["quantity"] not in ("shared_wavefronts", "dram_write_bytes")
    ]
    found = shown(tmp_path, *ceilings(), line, counted)
    assert set(points(found)) == set(points(found, "nominal")) == {"l2"}


def test_an_uncounted_rung_is_nominal_at_the_bytes_that_it_cannot_do_without(
    tmp_path: Path,
) -> None:
    lines = rung(1e13, name="naive") + rung(1e13, problem="galaxies", systems=4, bodies=1024)
    found = points_of(shown(tmp_path, *ceilings(), *lines))
    assert [(p.name, p.level, p.basis) for p in found] == [
        ("naive", ONCE, "nominal"),
        ("tiled, 4 × 1024 bodies", ONCE, "nominal"),
    ]
    assert [p.intensity for p in found] == pytest.approx([20 * BODIES / 28, 20 * 1024 / 48])
    assert found[0].value == pytest.approx(1e13 * 20 / FLOPS)
    assert found[0].share is None
    assert not points_of(shown(tmp_path / "b", *ceilings(), *lines, nominal=False))


def test_the_best_valid_row_of_any_operation_within_its_limit_is_the_roof(tmp_path: Path) -> None:
    lines = [
        bandwidth("l2", 12e12, operation="triad"),
        bandwidth("l2", 99e12, operation="copy", noise="failed"),
        bandwidth("shared", 31e12),
        bandwidth("dram", 4.2e12, share=1.02, operation="write"),
        arithmetic("fp32", 2 * PEAK, form="steady", noise="failed"),
        *rung(1e13, at({"l2": 300}), noise="failed"),
        *rung(1e13, at({"l2": 300}), name="several_gpus", gpus=1),
        *rung(9e13, at({"l2": 300}), name="tiled", gpus=2),
    ]
    found = shown(tmp_path, *ceilings(), *lines)
    roofs = {name: named(found, name).value for name in ("fp32", "L2, triad", "L1, shared, read")}
    assert roofs == {"fp32": PEAK, "L2, triad": 12e12, "L1, shared, read": 31e12}
    assert named(found, "DRAM, read").value == BANDWIDTHS["dram"]
    assert [(one.kernel, one.valid) for one in points_of(found)] == [("tiled", False)] * 2


def test_tensor_cores_are_ceilings_of_their_types(tmp_path: Path) -> None:
    def rate(value: float, **params: str) -> Line:
        usual = {"instruction": "wgmma", "type": "fp16", "shape": "n256", "a": "shared"}
        usual |= {"measure": "rate", "sparsity": "dense", "data": "random"}
        found = [timed("operations_per_second", value, "operation/s")]
        return case(found, benchmark="tensor_rate", params=usual | params)

    lines = [
        rate(8e14),
        rate(6e14, instruction="mma", shape="largest"),
        rate(9e14, data="zeros"),
        rate(16e14, sparsity="sparse"),
        rate(4e14, type="tf32"),
        rate(16e14, type="int8"),
    ]
    found = shown(tmp_path, *ceilings(), *lines, *rung(1e13, at({"l2": 300})))
    fp16 = named(found, "fp16, tensor cores")
    assert (fp16.value, fp16.how) == (8e14, "wgmma, shape n256, A in shared")
    assert fp16.bounds
    assert not fp16.roof  # of kernels that do not multiply matrices
    assert named(found, "tf32, tensor cores").value == 4e14
    assert named(found, "int8, tensor cores").value == 16e14


def test_an_invalid_ceiling_bounds_nothing_and_is_named(tmp_path: Path) -> None:
    lines = [arithmetic("fp32", PEAK), bandwidth("l2", 10e12)]
    lines += [bandwidth("dram", 4e12, noise="failed"), *rung(50e12, at({"dram": 0.5, "l2": 300}))]
    found = shown(tmp_path, *lines)
    assert not named(found, "DRAM, read").valid
    assert points(found)["dram"].above is None
    assert points(found)["dram"].share is None
    assert "Not drawn, because none of their rows is valid: DRAM, read." in caption(found)
    with drawn(found) as ax:
        assert not any("DRAM" in text.get_text() for text in ax.texts)


def test_ceilings_alone_are_a_chart(tmp_path: Path) -> None:
    bandwidths, peak = ceilings()[1:], ceilings()[:1]
    lost = arithmetic("fp32", PEAK, noise="failed")
    for place, (lines, kinds) in enumerate(
        (
            (ceilings(), {True, False}),
            (peak, {False}),
            (bandwidths[:1], {True}),
            ([lost, *bandwidths], {True, False}),
            ([*bandwidths, *rung(1e13, at({"l2": 300}))], {True}),
        )
    ):
        run = run_folder(tmp_path / f"{place}", *lines)
        found = entries([load_run(run)])
        assert {one.sloped for one in ceilings_of(found)} == kinds
        assert not lacking(load_run(run))
        with drawn(found) as ax:
            assert len(ax.lines) >= len(kinds)
    done = strata("roofline", run, "-o", tmp_path / "out")
    assert done.returncode == 0
    assert f"{tmp_path / 'out' / 'roofline.svg'}\n" in done.stdout
    none = run_folder(tmp_path / "none", lost)
    (line,) = strata("roofline", none).stderr.splitlines()
    assert "found no valid ceiling" in line
    assert "ladder" not in line


WORK = {"fp32_add": 0.0, "fp32_mul": 0.0, "fp32_fma": 1e9}
MOVED = {"dram_bytes": 1e9}
NO_TIME = "kernels without a time (gpu__time_duration.sum, or sm__cycles_elapsed.avg with"
NO_WORK = "kernels without operations (smsp__sass_thread_inst_executed_op_f{add,mul,fma}_pred_on"
NO_TRAFFIC = "kernels without traffic (dram__bytes.sum"


def test_what_a_roofline_lacks_is_named_with_its_remedy(tmp_path: Path) -> None:
    lender = run_of(tmp_path / "b", *ceilings(), run="lender")
    timeless = profiled(1e-3, WORK | MOVED)
    timeless[1]["measurements"] = timeless[1]["measurements"][1:]
    several = rung(1e13, name="several_gpus", gpus=2)
    for place, (lines, found, fix) in enumerate(
        (
            (timeless, NO_TIME, "ncu --csv --page raw"),
            (profiled(1e-3, MOVED), NO_WORK, "--set roofline"),
            (profiled(1e-3, WORK), NO_TRAFFIC, "dram__bytes_read.sum"),
            (profiled(1e-3, {}), NO_WORK, "ncu"),
            (timed_whole("best", "large", 1.0, {}), "", ""),
            (several, "", ""),
        )
    ):
        run = run_of(tmp_path / f"{place}", *lines)
        ceiling, *kernels = lacking(run)
        assert ceiling.found.startswith("no valid ceiling")
        assert "--ceilings" in ceiling.fix
        assert lacking(run, lender) == kernels
        assert [lack.found.startswith(found) for lack in kernels] == [True] * bool(found)
        assert all(fix in lack.fix for lack in kernels)
    uncounted = run_of(tmp_path / "whole", *ceilings(), *timed_whole("best", "large", 1.0, {}))
    first, second = notes(uncounted, entries([uncounted]))
    assert first.startswith(f"not drawn, without {NO_WORK.partition('without ')[2]}")
    assert second.endswith("strata run --counters auto")


def test_lower_ceilings_are_those_that_lack_something(tmp_path: Path) -> None:
    lines = [
        arithmetic("fp64", 0.5 * PEAK),
        arithmetic("fp16x2", 2 * PEAK),
        without_fma(0.49 * PEAK),
        bandwidth("dram", 3.9e12, width=4),  # as good as the roof
        bandwidth("l2", 8e12, width=4),
        bandwidth("l2", 9e12, width=4, operation="write"),
        strided("dram", 0.7e12, 32),
        strided("dram", 0.6e12, 64, noise="failed"),
        strided("dram", 0.5e12, 16),
        strided("l2", 2.5e12, 64),
        *rung(1e13, at({"l2": 300})),
    ]
    found = shown(tmp_path, *ceilings(), *lines)
    assert {c.name: c.value for c in ceilings_of(found) if c.lower} == {
        "fp16, packed": 2 * PEAK,
        "fp64": 0.5 * PEAK,
        "fp32 without FMA": 0.49 * PEAK,
        "L2, read, ungrouped": 8e12,
        "L2, read, uncoalesced": 2.5e12,
        "DRAM, read, uncoalesced": 0.7e12,
    }
    assert points(found)["l2"].above is None


def test_theoretical_ceilings_come_from_the_rows_and_the_device(tmp_path: Path) -> None:
    lines = [
        arithmetic("fp32", PEAK, limit=1.01 * PEAK),
        bandwidth("dram", 4e12, share=0.8),
        bandwidth("dram", 3e12, share=0.75, width=4),
        bandwidth("dram", 3e12, share=0.5, width=8),  # a fast clock makes of it more
        bandwidth("l2", 1e13),
        *rung(1e13, at({"l2": 300})),
    ]
    run = run_of(tmp_path, *lines)
    theory = [c for c in ceilings_of(entries([run])) if c.basis == "theoretical"]
    assert {c.name: c.value for c in theory} == pytest.approx(
        {"fp32": 1.01 * PEAK, "DRAM, read": 5e12}
    )
    found = entries([run], INSTRUCTION)
    assert named(found, "issue").value == pytest.approx(PEAK / 64)
    assert named(found, "issue", "theoretical").value == pytest.approx(4 * SMS * CLOCK)
    assert named(found, "issue", "theoretical").how == "4 a cycle × 132 SMs × clock"
    assert named(found, "DRAM, read").value == pytest.approx(4e12 / 32)


# --- instructions, profiled kernels ---------------------------------------------------------------


def test_instructions_of_warps_against_sectors(tmp_path: Path) -> None:
    loads = [count("l1_load_requests", 1e6, unit="request", method="requests.sum")]
    kernel = rung(18e12, {"l1": 96e6, "l2": 64e6}, instructions=16.0, extra=loads)
    three = points(shown(tmp_path / "a", *ceilings(), *kernel, form=INSTRUCTION))
    warps = PAIRS / 2
    assert three["l2"].intensity == pytest.approx(warps / 2e6)
    assert three["l1"].intensity == pytest.approx(warps / 3e6)
    assert three["l2"].value == pytest.approx(0.5e12)
    # One request against a million sectors: a third of the bytes of L1 are those of loads.
    assert three[LOADS].intensity == pytest.approx(1.0)
    assert three[LOADS].value == pytest.approx(1e6 * 1e12 / PAIRS)
    assert three["l2"].share == pytest.approx(0.5e12 / (PEAK / 64))
    many = rung(18e12, {"l2": 64e6}, instructions=40.0)
    above = points(shown(tmp_path / "b", *ceilings(), *many, form=INSTRUCTION))["l2"].above
    assert above
    assert above.name == "issue"


def profiled(
    time: float, quantities: Mapping[str, float], kernel: str = "triad", grid: int = 64
) -> list[Line]:
    """A launch as `strata import` leaves it."""
    line = case([], suite="ncu", benchmark=kernel, params={"grid": grid, "block": 256})
    found = [count("gpu_time", time, unit="s", method="gpu__time_duration.sum")]
    found[0]["samples"] = [0.999 * time, time, 1.001 * time]
    found += [
        count(name, value, unit="1", method=f"{name}.sum") for name, value in quantities.items()
    ]
    return [line, counts(line, found)]


def test_profiled_kernels_stand_under_borrowed_ceilings(tmp_path: Path) -> None:
    doubles = {"fp64_add": 5e9, "fp64_mul": 0.0, "fp64_fma": 0.0}
    mine = run_of(
        tmp_path,
        *profiled(1e-3, {**WORK, **MOVED, "executed_instructions": 1e8}),
        *profiled(9e-4, {**WORK, "dram_bytes": 9e9}, grid=1),
        *profiled(1e-3, {**doubles, **MOVED}, "dgemm"),
        *profiled(1e-3, MOVED, "copy"),
    )
    lender = run_of(tmp_path / "b", *ceilings(), arithmetic("fp64", 1e12), run="other")
    assert entries([mine]) == ()
    assert strata("roofline", mine.folder, "-o", tmp_path / "no").returncode == 2
    found = entries([mine], lender=lender)
    assert {one.run for one in found} == {mine.context.run}
    assert named(found, "fp32").how.endswith("of the run other")
    triad, small, dgemm = points_of(found)  # each launch shape is a kernel of its own
    assert triad.low < triad.value < triad.high
    assert (triad.full, triad.work, triad.above) == ("triad", 2e9, None)
    assert (triad.value, triad.intensity) == pytest.approx((2e12, 2))
    assert (small.name, small.shape) == ("triad #2", "grid 1, block 256")
    assert dgemm.above is not None
    assert dgemm.above.name == "fp64"
    assert "as timed and counted by Nsight Compute" in caption(found)
    (point,) = points_of(entries([mine], INSTRUCTION, lender=lender))
    assert point.value == pytest.approx(1e11)
    assert any("not drawn, without operations" in note for note in notes(mine, found))


def timed_whole(
    form: str, size: str, seconds: float, quantities: Mapping[str, float]
) -> list[Line]:
    """A kernel of another suite, timed whole."""
    found = [timed("kernel_time", seconds, "s"), timed("kernel_time", seconds, "s", "graph_slope")]
    line = case(found, benchmark="dct", params={"form": form, "size": size})
    counted = [
        count(name, value, unit="1", method=f"{name}.sum") for name, value in quantities.items()
    ]
    return [line, counts(line, counted)]


# --- files of Nsight Compute ----------------------------------------------------------------------

FILES = DATA / "interop"
ADD, MUL, FMA = (
    f"smsp__sass_thread_inst_executed_op_f{op}_pred_on.sum" for op in ("add", "mul", "fma")
)
TENSOR = "sm__ops_path_tensor_src_"
CYCLES = "sm__cycles_elapsed.avg"


def tensor_rate(kind: str, rate: float) -> Line:
    params = {"instruction": "wgmma", "type": kind, "shape": "n256", "a": "shared"}
    params |= {"measure": "rate", "sparsity": "dense", "data": "random"}
    found = [timed("operations_per_second", rate, "operation/s")]
    return case(found, benchmark="tensor_rate", params=params)


@pytest.fixture(scope="module")
def lender(tmp_path_factory: pytest.TempPathFactory) -> Run:
    lines = [arithmetic("fp64", 33e12), arithmetic("fp16x2", 130e12), tensor_rate("fp16", 800e12),
             tensor_rate("bf16", 820e12), tensor_rate("e4m3", 1600e12),
             tensor_rate("fp64", 66e12), tensor_rate("tf32", 440e12),
             tensor_rate("int8", 1e15)]  # fmt: skip
    return run_of(tmp_path_factory.mktemp("lender"), *ceilings(), *lines, run="lender")


def page(folder: Path, metrics: Mapping[str, float], name: str = "k(int)", **cells: str) -> Path:
    """A raw page of one launch of 1 ms that moves 1 GB, with these metrics as well."""
    metrics = {"gpu__time_duration.sum": 1e6, "dram__bytes.sum": 1e9, **metrics}
    units = {metric: "ns" if "time" in metric else "byte" if "bytes" in metric else "inst"
             for metric in metrics} | {f"{CYCLES}.per_second": "cycle/second"}  # fmt: skip
    units |= {metric: "%" for metric in metrics if ".pct" in metric}
    numbers = {metric: f"{value:,.10g}" for metric, value in metrics.items()}
    file = folder / "kernels.csv"
    launch = {"Kernel Name": name, "Block Size": "(256, 1, 1)", "Grid Size": "(64, 1, 1)"}
    file.write_text(raw(launch | cells | numbers, units=units))
    return file


def drawn_of(file: Path, lender: Run) -> tuple[Run, list[Point]]:
    """The points of a file under the ceilings of a run."""
    run = interop.load(file)
    return run, points_of(entries([run], lender=lender))


@pytest.mark.parametrize(
    ("file", "rate", "limit"),
    [
        ("ncu_cycles_and_rate", 3 * 67108864 / (512000.5 / 1410000000.25), "DRAM, read"),
        ("ncu_tensor", (137438953472 + 16777216) / 220e-6, "fp16, tensor cores"),
        ("ncu_fp16", 4 * 5e8 / 30e-6, "fp16, packed"),
        ("ncu_packed", (4 * 5e8 + 3e6) / 30e-6, "fp32"),
    ],
)
def test_all_operations_of_a_file_count(file: str, rate: float, limit: str, lender: Run) -> None:
    run, found = drawn_of(FILES / f"{file}.csv", lender)
    assert [point.value for point in found] == pytest.approx([rate] * len(found))
    top = max(found, key=lambda point: point.share or 0)
    assert top.limit
    assert top.limit.name == limit
    assert not any(point.lacks for point in found)
    assert run.folder == FILES / f"{file}.csv"


def test_a_kernel_is_its_full_name_and_its_share_of_time(tmp_path: Path, lender: Run) -> None:
    run, found = drawn_of(FILES / "ncu_three_functors.csv", lender)
    dram = [point for point in found if point.level == "dram"]
    assert [point.time_share for point in dram] == pytest.approx([0.75, 1 / 12, 1 / 6])
    for functor, point in zip(("Force", "Integrate", "Bin"), dram, strict=True):
        assert f"ParallelFor<{functor}, Kokkos::" in point.full
        assert functor in point.name
        assert len(point.name) <= 30
        assert point.shape == "grid 1024x1x1, block 256x1x1"
    out = tmp_path / "out"
    words = ["roofline", f"{run.folder}", "--ceilings", f"{lender.folder}", "-o", f"{out}"]
    longest = strata(*words, "--top", "2").stdout
    assert "75.0\u00a0%" in longest
    assert "Integrate" not in longest
    assert "Force" not in strata(*words, "--kernel", "ParallelFor<(Bin|Integrate),").stdout
    assert "no kernel matches" in strata(*words, "--kernel", "absent").stderr
    assert "expected a regular expression" in strata(*words, "--kernel", "(").stderr
    assert "one run" in strata(*words, words[1], "--before", words[1]).stderr


def test_the_share_of_time_is_that_of_all_launches(lender: Run) -> None:
    _, found = drawn_of(FILES / "nsight_compute_raw.csv", lender)
    triad, adds = (next(one for one in found if one.kernel == name) for name in
                   ("triad<float, 4>", "multiply_adds"))  # fmt: skip
    launches = 72.448e-6 + 72.544e-6
    assert triad.seconds == pytest.approx(launches / 2)
    assert triad.time_share == pytest.approx(launches / (launches + adds.seconds))


def test_sums_may_be_rates(tmp_path: Path, lender: Run) -> None:
    clock = {f"{CYCLES}.per_second": 1.5e9}
    bf16, fma = f"{TENSOR}bf16_dst_fp32.sum", FMA
    derived = "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2"
    for metrics, flop in (
        ({bf16: 3e9}, 3e9),
        ({f"{bf16}.per_second": 3e12}, 3e9),
        ({f"{bf16}.per_cycle_elapsed": 2000, **clock}, 2000 * 1.5e6),
        ({f"{bf16}.per_cycle_elapsed": 2000, CYCLES: 1.4e6, **clock}, 2000 * 1.4e6),
        ({f"{fma}.per_cycle_elapsed": 100, **clock}, 2 * 100 * 1.5e6),
        ({derived: 200, **clock}, 200 * 1.5e6),
        # Parts of one division are added, divisions are not.
        ({f"{TENSOR}fp16.sum": 5e9, f"{TENSOR}fp16_dst_fp32.sum": 3e9,
          f"{TENSOR}fp16_dst_fp16.sum": 2e9}, 5e9),
        ({f"{TENSOR}fp8_sparsity_off.sum": 5e9, f"{TENSOR}fp8_sparsity_on.sum": 1e9,
          "sm__ops_path_tensor_op_hgmma_src_fp8.sum": 4e9}, 6e9),
        ({f"{TENSOR}int8.sum": 7e9}, 7e9),
        ({f"{bf16}.peak_sustained": 4096, f"{TENSOR}tf32_dst_fp32.sum": 1e9, **clock}, 1e9),
    ):  # fmt: skip
        _, (point,) = drawn_of(page(tmp_path, metrics), lender)
        assert point.work == pytest.approx(flop), metrics


def test_few_digits_of_a_main_part_make_a_point_invalid(tmp_path: Path, lender: Run) -> None:
    clock, rate = {f"{CYCLES}.per_second": 1.5e9}, f"{FMA}.per_cycle_elapsed"
    little = {rate.replace("ffma", "hfma"): 0.02}
    for metrics, valid in (({rate: 0.02} | clock, False), ({FMA: 1e9} | little | clock, True)):
        _, (point,) = drawn_of(page(tmp_path, metrics), lender)
        assert point.valid is valid


LSU = {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 1e6}


@pytest.mark.parametrize(
    ("metrics", "traffic"),
    [
        ({"lts__t_bytes.sum": 4e9}, {"l2": 4e9}),
        ({"lts__t_sectors_srcunit_tex_op_read.sum": 1e6, "lts__t_bytes.sum": 4e9,
          "lts__t_sectors_srcunit_tex_op_write.sum": 1e6}, {"l2": 64e6}),
        ({"lts__t_sectors_srcunit_tex_op_read.sum": 1e6, "lts__t_sectors_srcunit_tex.sum": 5e6,
          "lts__t_sectors_srcunit_tex_op_write.sum": 1e6}, {"l2": 160e6}),
        ({"derived__lts__lts2xbar_bytes.sum.per_second": 4e12}, {"l2": 4e9}),
        ({"l1tex__t_bytes.sum": 6e9, **LSU}, {"l1": 6e9}),
        ({"derived__l1tex__lsu_writeback_bytes_mem_lg.sum.per_second": 5e12}, {"l1": 5e9}),
        ({"dram__bytes_read.sum": 2e9, "dram__bytes_write.sum": 1e9}, {"dram": 3e9}),
    ],
)  # fmt: skip
def test_traffic_in_whichever_form(
    metrics: Mapping[str, float], traffic: Mapping[str, float], tmp_path: Path, lender: Run
) -> None:
    _, found = drawn_of(page(tmp_path, {FMA: 1e9, **metrics}), lender)
    assert {one.level: one.moved for one in found} == pytest.approx({"dram": 1e9, **traffic})


BUSY = "sm__inst_executed_pipe_tensor.sum"
CYCLES_OF_PIPE = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
HALF = {
    f"smsp__sass_thread_inst_executed_op_h{op}_pred_on.sum": 1e6 for op in ("add", "mul", "fma")
}
FLOPS_OF_32 = {ADD: 1e6, MUL: 1e6, FMA: 1e6}
EXECUTED = "smsp__inst_executed.sum"
OF_TENSOR = "sm__ops_path_tensor_src_*.sum"


@pytest.mark.parametrize(
    ("metrics", "lacks"),
    [
        (FLOPS_OF_32 | {BUSY: 4e6}, [OF_TENSOR]),
        (FLOPS_OF_32 | {BUSY: 4e6, f"{TENSOR}bf16_dst_fp32.sum": 1e9}, []),
        (FLOPS_OF_32 | {"sm__inst_executed_pipe_tensor_op_hmma.sum": 4e6,
                        f"{TENSOR}int8.sum": 0}, [OF_TENSOR]),
        (FLOPS_OF_32 | {BUSY: 0}, []),
        (FLOPS_OF_32 | {CYCLES_OF_PIPE: 30.5}, [OF_TENSOR]),
        (FLOPS_OF_32 | {CYCLES_OF_PIPE: 2.4}, []),
        (FLOPS_OF_32 | HALF | {BUSY: 4e6, EXECUTED: 2e5}, []),  # executes these on Hopper
        (FLOPS_OF_32 | HALF | {BUSY: 4e6, EXECUTED: 2e7}, [OF_TENSOR]),
        (FLOPS_OF_32 | {BUSY: 4e6} | {f"{TENSOR}{kind}.sum.per_second": 0 for kind in
                                      ("bf16_dst_fp32", "fp16", "int8", "fp64")}, []),
        (FLOPS_OF_32 | {"sm__inst_executed_pipe_fp64.sum": 4e6},
         ["smsp__sass_thread_inst_executed_op_d{add,mul,fma}_pred_on.sum"]),
        (FLOPS_OF_32 | {"sm__inst_executed_pipe_fp64.sum.peak_sustained": 64}, []),
        ({MUL: 1e6, FMA: 1e6}, [ADD]),
    ],
)  # fmt: skip
def test_a_busy_pipe_whose_operations_were_not_collected_makes_a_lower_bound(
    metrics: Mapping[str, float], lacks: list[str], tmp_path: Path, lender: Run
) -> None:
    run, (point,) = drawn_of(page(tmp_path, metrics), lender)
    assert point.lacks == lacks
    found = entries([run], lender=lender)
    (line,) = table(found, FLOP).rows
    words = " ".join(f"{part}" for cell in line for part in cell)
    assert ("≥" in words) == bool(lacks)
    assert all(f"lower bound: without {metric}" in words for metric in lacks)
    assert ("Arrow up" in caption(found)) == bool(lacks)
    advice = notes(run, found)
    assert [("--set roofline" in line) for line in advice] == [False, True][: 2 * bool(lacks)]


def test_a_missing_metric_is_named_with_the_command_that_collects_it(
    tmp_path: Path, lender: Run
) -> None:
    file, out = page(tmp_path, FLOPS_OF_32 | {BUSY: 4e6}), tmp_path / "out"
    done = strata("roofline", file, "--ceilings", lender.folder, "-o", out)
    assert done.returncode == 0
    assert f"lower bounds, executed but not collected {OF_TENSOR}: 1 (k(int))" in done.stderr
    assert "to collect all: LC_ALL=C ncu --csv --page raw" in done.stderr
    none = page(tmp_path, {})
    (line,) = strata("roofline", none, "--ceilings", lender.folder, "-o", out).stderr.splitlines()
    assert "found kernels without operations (smsp__sass_thread_inst_executed_op_f{add" in line
    assert "to fix: LC_ALL=C ncu --csv --page raw" in line


PYTORCH = {
    "ffma": 2 * 4096 * 4096 * 2048, "tst": 2 * 8192 * 4096 * 4096, "f64f64": 2 * 4096 * 2048 * 4096,
    "hsh": 2 * 4096 * 4096 * 8192, "tf32f32": 2 * 4096 * 8192 * 2048, "i16832": 2 * 4096**3,
    "qqtst": 2 * 4096 * 8192 * 4096,
}  # fmt: skip
"""Operations of the products of matrices in a program of PyTorch, by a part of the name."""


@pytest.mark.parametrize(("page", "count"), [("full", 14), ("listed", 2)])
def test_all_of_a_program_that_others_wrote_is_drawn(
    page: str, count: int, tmp_path: Path, lender: Run
) -> None:
    """On an H200: all types of products, softmax, layer norm, gather and sort; `--set full`."""
    file = tmp_path / "kernels.csv"
    file.write_bytes(gzip.decompress((FILES / f"pytorch_{page}.csv.gz").read_bytes()))
    run, found = drawn_of(file, lender)
    assert run.context.device.name == "NVIDIA H200"
    assert not lacking(run, lender)
    for levels in grouped(found, lambda point: point.row.case).values():
        assert {point.level for point in levels} == {"l1", "l2", "dram"}
    dram = [point for point in found if point.level == "dram"]
    assert len(dram) == len({point.name for point in dram}) == count
    assert sum(point.time_share or 0 for point in dram) == pytest.approx(1)
    for (part, operations), point in zip(PYTORCH.items(), dram, strict=False):
        assert part in point.full
        assert point.value * point.seconds == pytest.approx(operations, rel=0.03)
        assert point.arithmetic == OF_PART.get(part, "fp32")
    assert not any(point.lacks for point in found)
    assert all(point.valid for point in dram if point.work)
    assert all(point.above for point in found if point.share and point.share > 1.03)
    assert all(point.limit for point in found)
    gather = [point for point in dram if "gather" in point.full or "reverse" in point.full]
    assert all(point.doubt == CONSTANTS for point in gather)
    sorts = [point for point in dram if "RadixSort" in point.full]
    assert [point.work for point in sorts] == [0, 0, 0][: len(sorts)]


def test_ceilings_of_a_recorded_device_have_tensor_cores(tmp_path: Path) -> None:
    file, out = tmp_path / "kernels.csv", tmp_path / "out"
    file.write_bytes(gzip.decompress((FILES / "pytorch_full.csv.gz").read_bytes()))
    done = strata("roofline", file, "--ceilings", "h200", "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"{kind}, tensor cores" in done.stdout for kind in ("bf16", "fp16", "fp64"))
    first = run_of(tmp_path / "a", *ceilings(), run="first")
    second = run_of(tmp_path / "b", arithmetic("fp32", 1e12), tensor_rate("bf16", 8e14), run="two")
    both = entries([joined([first, second])])
    for name, value, run in (("fp32", PEAK, "first"), ("bf16, tensor cores", 8e14, "two")):
        assert (named(both, name).value, named(both, name).run) == (value, run)


OF_PART = {"tst": "tensor bf16", "f64f64": "tensor fp64", "hsh": "tensor fp16",
           "tf32f32": "tensor tf32", "i16832": "tensor int8", "qqtst": "tensor e4m3"}  # fmt: skip


def test_a_type_without_a_ceiling_is_marked(tmp_path: Path, lender: Run) -> None:
    run, (point,) = drawn_of(page(tmp_path, {f"{TENSOR}int4.sum": 300e9}), lender)
    assert point.value == pytest.approx(300e12)
    assert (point.share, point.above) == (None, None)
    found = entries([run], lender=lender)
    assert any("no ceiling of tensor int4" in note for note in notes(run, found))
    with drawn(found) as ax:
        figure: Any = ax.get_figure(root=True)
        assert "no ceiling of its type" in labels_of(figure)


def test_kernels_without_operations_are_at_the_edge_as_far_below_their_bandwidth(
    tmp_path: Path,
    lender: Run,
) -> None:
    metrics = {ADD: 0, MUL: 0, FMA: 0, "lts__t_bytes.sum": 1e9, "smsp__inst_executed.sum": 1e6}
    run, found = drawn_of(page(tmp_path, metrics), lender)
    shares = {one.level: one.share for one in found}
    assert shares == pytest.approx({level: 1e12 / BANDWIDTHS[level] for level in ("dram", "l2")})
    for point in found:
        x, y = drawing.place(point, 0.01)
        assert (x, y / (0.01 * BANDWIDTHS[point.level])) == pytest.approx((0.01, point.share))
    (one,) = [one for one in points_of(entries([run], INSTRUCTION, lender=lender))
              if one.level == "l2"]  # fmt: skip
    assert one.value == pytest.approx(1e9)
    above, (over, *_) = drawn_of(page(tmp_path, {**metrics, "dram__bytes.sum": 8e9}), lender)
    assert any(one.above for one in points_of(entries([above], lender=lender)))
    assert over.work == 0


def test_arrows_lead_from_a_run_before(tmp_path: Path, lender: Run) -> None:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    old = page(tmp_path / "old", FLOPS_OF_32 | {FMA: 1e9}, "void a::step<4>(float *)")
    new = page(tmp_path / "new", FLOPS_OF_32 | {FMA: 4e9}, "void a::step<8>(float *)")
    out = tmp_path / "out"
    done = strata("roofline", new, "--before", old, "--ceilings", lender.folder, "-o", out)
    assert done.returncode == 0
    lines = (out / "roofline.csv").read_text().splitlines()
    (line,) = [line for line in lines if ",before," in line]
    assert "void a::step<4>(float *)" in line
    titles = re.findall(r"<title>(.*?)</title>", (out / "roofline.svg").read_text())
    words = "void a::step&lt;8&gt;(float *); grid 64x1x1, block 256x1x1; DRAM; "
    (mark,) = [title for title in titles if title.startswith(words)]
    assert mark.endswith(
        "(100.0\u00a0% of all); 8 FLOP/B; 8.00\u00a0TFLOP/s; 25.0\u00a0% of DRAM, read"
    )
    assert any(title.startswith("before: void a::step&lt;4") for title in titles)
    assert any(title.startswith("ridge point of DRAM, read and fp32: 15") for title in titles)


def test_names_of_kernels_do_nothing_but_name(tmp_path: Path, lender: Run) -> None:
    name, out = "=cmd|日本語<script>alert(1)</script>$_0$_1\x1b[31m", tmp_path / "out"
    file = page(tmp_path, FLOPS_OF_32, name)
    done = strata("roofline", file, "--ceilings", lender.folder, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    for made in out.glob("*.*"):
        assert b"\x1b[31m" not in made.read_bytes()
    svg = (out / "roofline.svg").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert" in svg
    assert "<script>" not in svg
    assert ",'=cmd|" in (out / "roofline.csv").read_text(encoding="utf-8")


def test_the_manual_collects_what_messages_ask_for() -> None:
    manual = (DATA.parents[1] / "docs" / "roofline.md").read_text(encoding="utf-8")
    metrics = re.findall(r"\w+__\w+\.sum", COMMAND)
    assert len(metrics) == 8
    assert all(metric in manual for metric in metrics)


def test_names_are_short_and_each_once() -> None:
    names = [
        *(f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}<float>, "
          "std::array<char *, 3>>(int, T2, T3)" for functor in ("CUDAFunctor_add", "FillFunctor")),
        "void (anonymous namespace)::step<8>(Bodies, int)",
        "step",
        "step",
        "_Z5triadPKfPfi",
    ]  # fmt: skip
    short = [*short_names(enumerate_names(names)).values()]
    assert short == [
        "vectorized…CUDAFunctor_add<fl…",
        "vectorized…FillFunctor<float>…",
        "step<8>",
        "step",
        "step #2",
        "_Z5triadPKfPfi",
    ]


def enumerate_names(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(f"{at}", name) for at, name in enumerate(names)]


def test_kernels_of_a_profile_of_ours_are_drawn(tmp_path: Path, lender: Run) -> None:
    times = [measurement("gpu_time", [2e-3] * 3, unit="s", method="activity"),
             measurement("total_time", [5e-3], unit="s", method="activity")]  # fmt: skip
    facts = {"kernel": "void gemm<float>(float *)"}
    kernel = case(times, suite="profile", benchmark="gemm", facts=facts, params={"grid": "64x1x1"})
    bf16 = count("tensor_bf16_operations", 1e12, method=f"{TENSOR}bf16_dst_fp32.sum")
    l2_sectors = count("l2_sm_sectors", 1e8, method="lts__t_sectors_srcunit_tex.sum")
    counted = [bf16, l2_sectors, *(count(f"dram_{way}_bytes", 1e9) for way in ("read", "write"))]
    copies = case(times[1:], suite="profile", benchmark="memory_copies", params={"kind": "fill"})
    run = run_of(tmp_path, kernel, counts(kernel, counted), copies)
    l2, dram = points_of(entries([run], lender=lender))
    assert (l2.level, l2.moved, dram.level, dram.moved) == ("l2", 3.2e9, "dram", 2e9)
    assert (dram.full, dram.shape, dram.time_share) == (facts["kernel"], "grid 64x1x1", 1)
    assert dram.value == pytest.approx(500e12)
    assert dram.share == pytest.approx(500 / 820)


def test_a_report_of_ncu_is_read_by_ncu(
    tmp_path: Path, lender: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, tool = tmp_path / "kernels.ncu-rep", tmp_path / "bin" / "ncu"
    report.write_bytes(b"NVR\0")
    monkeypatch.setenv("PATH", f"{tool.parent}")
    with pytest.raises(RunError, match=r"no ncu here.*LC_ALL=C ncu --import .* --page raw"):
        interop.load(report)
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\n[ "$2" = {report} ] && /bin/cat {FILES / "ncu_tensor.csv"}\n')
    tool.chmod(0o755)
    assert len(drawn_of(report, lender)[1]) == 2
    tool.write_text("#!/bin/sh\necho ==ERROR== too old\nexit 1\n")
    with pytest.raises(RunError, match=r"cannot read .==ERROR== too old"):
        interop.load(report)


# --- figures --------------------------------------------------------------------------------------


@contextmanager
def drawn(found: Sequence[Entry], form: Form = FLOP) -> Iterator[Axes]:
    with _style.styled():
        yield plot_named(form.name).plot(drawing.data_of(form, found)).axes[0]


# --- the command ----------------------------------------------------------------------------------


def test_ceilings_are_borrowed_from_a_run_of_the_same_device_alone(tmp_path: Path) -> None:
    kernel = rung(18e12, at({"l2": 300}))
    poor = run_of(tmp_path / "a", *kernel, run="poor")
    known = run_of(tmp_path / "k", *kernel, run="known", device__compute_capability="9.0")
    rich = run_of(tmp_path / "b", *ceilings(), *rung(1e12), run="rich")
    found = write([poor], tmp_path / "out", ceilings=rich)[FLOP]
    assert {one.run for one in found} == {"poor"}
    for name in ("roofline.csv", "roofline.txt"):
        assert "f the run rich" in (tmp_path / "out" / name).read_text(encoding="utf-8")
    for name, capability in {"Other": "9.0", "unknown": "8.0"}.items():
        device = {"slug": "x", "name": name, "uuid": None, "compute_capability": capability}
        other = load2(tmp_path / name, [*ceilings(), *rung(1e12)], run=name.lower(), device=device)
        with pytest.raises(RunError, match=f"found ceilings of the device {name} "):
            write([known], tmp_path / "no", ceilings=other)
        if name == "unknown":
            write([poor], tmp_path / "out", ceilings=other)
    assert not (tmp_path / "no").exists()
