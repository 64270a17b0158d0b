"""The figures of single benchmarks: what is selected, what is invalid, what captions find."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from builders import GPU_RUN, HOST_RUN, case, count, counts, load2, measurement
from builders import row as row_of
from charts import caption_of, data_of, run_with
from plots import hollow_of, labels_of, lines_of, plot_named, plotted, points_of, solid_of
from strata import model
from strata.figures.cache_geometry import exact
from strata.figures.instruction_cost import OPERATIONS
from strata.figures.warp_access import accesses
from strata.run import Row, Run, load_run

TERA = 1e12


def words_of(name: str, rows: Sequence[Row] | Run) -> str:
    run = rows if isinstance(rows, Run) else run_with(rows)
    return caption_of(plot_named(name), run).replace("\u00a0", " ")


def hollow(name: str, rows: Sequence[Row]) -> list[list[tuple[float, float]]]:
    """The invalid points of each panel."""
    with plotted(plot_named(name), run_with(rows)) as figure:
        return [hollow_of(ax) for ax in figure.axes]


# --- async_copy, atomics --------------------------------------------------------------------------


def copy(measure: str, size: int, value: float, *, valid: bool = True, **params: Any) -> Row:
    name, unit = {"latency": ("tile_latency", "cycle")}.get(
        measure, ("bandwidth_per_sm", "B/cycle")
    )
    place = {"residency": "l2", "method": "bulk", "cluster": 1, "measure": measure, "bytes": size}
    made = row_of("async_copy", name, value, unit=unit, valid=valid)
    words = {key: f"{word}" for key, word in sorted((place | params).items())}
    return replace(made, params=words, case=f"{words}")


def test_a_copy_is_a_point_by_the_clock_inside_and_a_cluster_a_line() -> None:
    far: Any = {"method": "distributed", "residency": "shared"}
    rows = [
        copy("bandwidth", 1024, 20), copy("latency", 16, 600),
        copy("latency", 4096, 700, valid=False),
        *(copy("latency", 4096, 200, cluster=blocks, **far) for blocks in (2, 8)),
    ]  # fmt: skip
    rows += [replace(one, method="event_slope", value=1.0) for one in rows]
    found = data_of(plot_named("async_copy"), run_with(rows))
    assert [(line["measure"], line["value"]) for line in found] == [
        ("latency", "600.0"), ("latency", "700.0"), ("latency", "200.0"), ("latency", "200.0"),
        ("bandwidth", "20.0"),
    ]  # fmt: skip
    assert hollow("async_copy", rows) == [[(4096, 700)], [], []]
    with plotted(plot_named("async_copy"), run_with(rows)) as figure:
        names = [f"ld.shared::cluster, {blocks} blocks" for blocks in (2, 8)]
        assert labels_of(figure) == ["cp.async.bulk", *names]
    assert "Invalid, drawn hollow (1): latency from L2, bulk, 4" in words_of("async_copy", rows)


@pytest.mark.parametrize(("backend", "unit"), [("cuda", "cycle"), ("host", "tsc_cycle")])
def test_targets_of_an_atomic_share_a_line_and_those_without_a_result_have_no_latency(
    backend: Any, unit: str
) -> None:
    look: Any = {"backend": backend, "method": {"host": "tsc_slope"}.get(backend, "clock64_slope")}
    places = product(("shared", "global"), ("same", "disjoint"), ("yes", "no"))
    rows = [
        row_of("atomics", name, value, unit=unit, space=space, operation="add_int", target=target,
               returns=returns, valid=target != "same", **look)
        for space, target, returns in places
        for name, value in (("atomic_latency", 100.0), ("atomics_per_cycle", 1.0))
        if returns == "yes" or name != "atomic_latency"
    ]  # fmt: skip
    run = run_with(rows, HOST_RUN if backend == "host" else GPU_RUN)
    with plotted(plot_named("atomics"), run) as figure:
        titles = [ax.get_title("left") for ax in figure.axes]
        shown = ["shared memory"] * 2 + ["global memory"] * 2
        assert titles == (shown if backend == "cuda" else ["memory"] * 4)
        latency, rate, *_ = figure.axes
        assert ("TSC cycle" in rate.get_xlabel()) == (backend == "host")
        assert [x for line in latency.lines for x, _ in points_of(line)] == [100, 100]
        assert ([x for x, _ in hollow_of(latency)], len(hollow_of(rate))) == ([100], 2)
        names = [label.get_text() for label in latency.get_yticklabels()]
        assert names == ["add int32", "add int32, " + ("red" if backend == "cuda" else "no return")]
    words = words_of("atomics", run)
    assert "Invalid, drawn hollow (6): global, add int32, same" in words
    assert ("warp" in words) == (backend == "cuda")


# --- bandwidth_surface ----------------------------------------------------------------------------


def shape(
    rate: float, in_flight: float, share: float = 0, *, valid: bool = True, **params: Any
) -> list[Row]:
    place: dict[str, Any] = {
        "level": "dram",
        "operation": "read",
        "width": 16,
        "flights": in_flight,
    }
    place |= params | {"method": "event_slope", "valid": valid}
    rows = [
        row_of("bandwidth", "bandwidth", rate * TERA, unit="B/s", **place),
        row_of("bandwidth", "bytes_in_flight_per_sm", in_flight, unit="B", **place),
        row_of("bandwidth", "share_of_limit", share, unit="1", **place),
    ]
    return rows if share else rows[:-1]


def test_lines_join_the_best_valid_launches_below_the_limit() -> None:
    rows = [
        *shape(2, 1024, 0.4), *shape(3, 1024, 0.6, width=8), *shape(9, 1024, valid=False, width=4),
        *shape(4.5, 2048, 0.9), *shape(9, 1024, level="l2"),
    ]  # fmt: skip
    with plotted(plot_named("bandwidth_surface"), run_with(rows)) as figure:
        assert [ax.get_title("left").replace("\u00a0", " ") for ax in figure.axes] == [
            "L2", "DRAM, limit 5.00 TB/s",
        ]  # fmt: skip
        lines = [line for line in figure.axes[1].lines if line.get_linestyle() == "-"]
        assert points_of(lines[0]) == [(1024, 3e12), (2048, 4.5e12)]
        assert hollow_of(figure.axes[1]) == [(1024, 9e12)]
    words = words_of("bandwidth_surface", rows)
    assert "Best reads: L2 9.00 TB/s; DRAM 4.50 TB/s, 90.0 % of its limit." in words
    assert "Invalid, drawn hollow (1): micro/bandwidth/cuda/flights=1024" in words


# --- bank_conflicts, coalescing, misalignment -----------------------------------------------------


def access(
    benchmark: str, counted: float = 0, *, valid: bool = True, predicted: float = 0, **params: Any
) -> list[Row]:
    """A case of an access, timed; predicted and counted if not 0."""
    shared, operation = benchmark == "bank_conflicts", params.get("operation", "load")
    name = "wavefronts_per_access" if shared else "sectors_per_request"
    own = f"shared_{operation}_{name}" if shared else name
    timed = "warp_access_cycles" if shared else "warp_load_cycles"
    place: dict[str, Any] = {"width": 4, "stride": 1, "misalignment": 0} | params
    rows = [row_of(benchmark, timed, 5.0, **place)]
    modelled: Any = {"method": "coalescing_model", "provenance": "modelled"}
    if predicted:
        rows.append(row_of(benchmark, name, predicted, unit="sector", **modelled, **place))
    if counted:
        how: Any = {"method": "cupti_net", "provenance": "counted", "valid": valid}
        rows.append(row_of(benchmark, own, counted, unit="sector", **how, **place))
    return rows


@pytest.mark.parametrize("benchmark", ["bank_conflicts", "coalescing"])
def test_lines_are_predicted_and_marks_are_counted(benchmark: str) -> None:
    rows = [
        *access(benchmark, 1, predicted=1),
        *access(benchmark, 2.1, predicted=2, stride=2, valid=False),
        *access(benchmark, predicted=4, stride=4), *access(benchmark, 2, predicted=2, width=8),
        *access(benchmark, 9, predicted=9, stride=8, pattern="permuted"),
    ]  # fmt: skip
    with plotted(plot_named(benchmark), run_with(rows)) as figure:
        first, times, *_ = figure.axes
        assert solid_of(first, marked=False) == [[(1, 1), (2, 2), (4, 4)], [(1, 2)]]
        assert solid_of(first) == [[(1, 1)], [(1, 2)]]
        assert hollow_of(first) == [(2, 2.1)]
        assert solid_of(times) == [[(1, 5), (2, 5), (4, 5)], [(1, 5)]]
    words = words_of(benchmark, rows)
    assert "Counts equal the prediction in 2 of 3 cases." in words
    assert "Invalid, drawn hollow (1): " in words
    alone = access(benchmark, predicted=4)
    assert "No counts are available" in words_of(benchmark, alone)


def test_stores_are_dots_and_misaligned_loads_have_their_own_figure() -> None:
    rows = [*access("bank_conflicts", 2, predicted=2, operation="store", width=8)]
    with plotted(plot_named("bank_conflicts"), run_with(rows)) as figure:
        assert "counted, stores" in labels_of(figure)
    loads = [
        *access("coalescing", 4, predicted=4),
        *access("coalescing", 5, predicted=5, misalignment=7),
        *access("coalescing", 32, predicted=32, misalignment=3, stride=9),
    ]  # fmt: skip
    by_stride, by_misalignment = plot_named("coalescing"), plot_named("misalignment")
    with (
        plotted(by_stride, run_with(loads)) as strides,
        plotted(by_misalignment, run_with(loads)) as moved,
    ):
        assert solid_of(strides.axes[0]) == [[(1, 4)]]
        assert solid_of(moved.axes[0]) == [[(0, 4), (7, 5)]]
    assert not by_misalignment.has(run_with(access("coalescing", 4)))
    odd = run_with(access("coalescing", 4, width="wide"))
    assert not len(accesses(odd, "coalescing"))


# --- cache_geometry -------------------------------------------------------------------------------


def found(
    name: str, size: float, above: float = 0, confidence: float = 0.9995, *, valid: bool = True,
    reported: float = 0, backend: Any = "cuda", carveout: int = 0,
) -> list[Row]:  # fmt: skip
    """One case that found something."""
    place: dict[str, Any] = {
        "property": name,
        "carveout": carveout,
        "backend": backend,
        "valid": valid,
    }
    others = {"interval_low": size, "interval_high": above or size, "confidence": confidence}
    rows = [row_of("cache_geometry", name.rpartition("_")[2], size, unit="B", **place)]
    rows += [
        row_of("cache_geometry", quantity, value, provenance="modelled", **place)
        for quantity, value in others.items()
    ]
    how: Any = {"method": "cuda_programming_guide", "provenance": "published"}
    return rows + (
        [row_of("cache_geometry", "reported", reported, **how, **place)] if reported else []
    )


def test_a_finding_has_its_interval_and_what_is_reported() -> None:
    rows = [
        *found("l1_line", 128, 144, reported=128),
        *found("l1_size", 228 << 10, (228 << 10) + 128, reported=256 << 10),
        *found("l1_size", 120 << 10, carveout=100), *found("l2_size", 29 << 20, valid=False),
    ]  # fmt: skip
    geometry = plot_named("cache_geometry")
    data = data_of(geometry, run_with(rows))
    assert [(line["property"], line["carveout_kib"]) for line in data] == [
        ("l1_size", "0"), ("l1_size", "100"), ("l2_size", "0"), ("l1_line", "0"),
    ]  # fmt: skip
    assert [*geometry.data(run_with(rows))[["_low", "_high"]].iloc[0]] == [
        228 << 10,
        (228 << 10) + 128,
    ]
    with plotted(geometry, run_with(rows)) as figure:
        assert figure.axes[0].texts[0].get_text() == "228\u00a0KiB  (guide: 256\u00a0KiB)"
        assert [x for x, _ in hollow_of(figure.axes[0])] == [29 << 20]
    assert "Invalid, drawn hollow (1): L2" in words_of("cache_geometry", rows)


@pytest.mark.parametrize("backend", ["cuda", "host"])
def test_the_caption_has_the_least_confidence_and_names_halves(backend: str) -> None:
    rows = [*found("l1_size", 48, backend=backend), *found("l2_size", 29, 0, 0.98, backend=backend)]
    words = words_of("cache_geometry", rows)
    assert "has a confidence of at least 0.98." in words
    assert ("An L2 of two halves" in words) == (backend == "cuda")


@pytest.mark.parametrize(
    ("value", "words"), [(49216, "48.06 KiB"), (48 << 10, "48 KiB"), (144, "144 B")]
)
def test_sizes_that_are_no_round_number_keep_their_lines(value: int, words: str) -> None:
    assert exact(value).replace("\u00a0", " ") == words


# --- distributed_shared, issue_mix, instruction_cost ----------------------------------------------


def read(
    name: str, value: float, cluster: int, distance: int, warps: int = 1, *, valid: bool = True
) -> Row:
    measure = "latency" if name == "load_cycles" else "bandwidth"
    return row_of("distributed_shared", name, value, valid=valid, measure=measure, cluster=cluster,
                  distance=distance, warps=warps)  # fmt: skip


def test_latency_of_another_sm_comes_first_then_bandwidth_by_warps() -> None:
    cycles, rate = "load_cycles", "bandwidth_per_sm"
    rows = [
        read(rate, 12, 4, 2, 32), read(rate, 127, 4, 0, 32), read(rate, 14, 4, 2, 8),
        read(rate, 126, 4, 0, 8), read(cycles, 200, 4, 2), read(cycles, 185, 2, 1),
        read(cycles, 26, 4, 0), read(cycles, 26, 2, 0), read(cycles, 300, 8, 4, valid=False),
    ]  # fmt: skip
    with plotted(plot_named("distributed_shared"), run_with(rows)) as figure:
        assert [ax.get_title("left") for ax in figure.axes] == [
            "latency", "bandwidth, 8 warps a block", "bandwidth, 32 warps a block",
        ]  # fmt: skip
        assert solid_of(figure.axes[0]) == [[(0, 26), (1, 185)], [(0, 26), (2, 200)]]
        assert [y for _, y in hollow_of(figure.axes[0])] == [300]
    words = words_of("distributed_shared", rows)
    assert "takes 185.0 to 200.0 cycles, one from the SM's own 26.00." in words
    assert "at most 14.00 bytes per cycle from another's shared memory, and 127.0 from" in words
    assert "hollow (1): latency, cluster of 8, distance 4, warps 1." in words


def test_the_greatest_cost_of_another_unit_is_that_of_a_valid_row() -> None:
    mixes = [("shuffle", 12, 2.7), ("rsqrt", 12, 4), ("rsqrt", 4, 4.5), ("integer_add", 48, 9.1)]
    rows = [
        row_of("issue_mix", "partner_cycles", cycles, method="less_multiply_adds", partner=partner,
               provenance="modelled", valid=partner != "integer_add", multiply_adds=size)
        for partner, size, cycles in mixes
    ]  # fmt: skip
    assert [line["partner"] for line in data_of(plot_named("issue_mix"), run_with(rows))] == [
        "rsqrt", "rsqrt", "shuffle", "integer_add",
    ]  # fmt: skip
    assert hollow("issue_mix", rows) == [[(48, 9.1)]]
    words = words_of("issue_mix", rows)
    assert "Invalid, drawn hollow (1): micro/issue_mix/cuda/multiply_adds=48" in words
    assert "maximum is 4.5 cycles: reciprocal square root among 4 multiply-adds." in words


def operation(
    name: str, cycles: float, ilp: int, warps: int, *, valid: bool = True, **look: Any
) -> Row:
    shape: Any = {"operation": name, "ilp": ilp, "warps_per_sm": warps}
    what = "operation_core_cycles" if look else "operation_cycles"
    return row_of("instruction_cost", what, cycles, valid=valid, **look, **shape)


def test_latency_is_one_chain_on_one_warp_and_throughput_the_best_valid_shape() -> None:
    rows = [
        *(operation("ffma", *shape) for shape in ((4.02, 1, 1), (0.5, 1, 32), (0.25, 4, 32))),
        operation("ffma", 1.0, 4, 1), operation("ffma", 0.1, 8, 32, valid=False),
        operation("shuffle", 24, 1, 1), operation("shuffle", 9, 4, 32, valid=False),
        operation("fadd", 5, 1, 1, valid=False),
    ]  # fmt: skip
    fadd, ffma, shuffle = data_of(plot_named("instruction_cost"), run_with(rows))
    names = ("latency_cycles", "cycles_per_warp_operation", "best_ilp", "g80_cycles_per_warp")
    assert [float(ffma[name]) for name in names] == pytest.approx([4.02, 0.25, 4, 4])
    assert [line["valid"] for line in (fadd, ffma, shuffle)] == ["false", "true", "false"]
    first, second = hollow("instruction_cost", rows)
    assert (first, second[0]) == ([(5, 0)], (9, 2))
    with plotted(plot_named("instruction_cost"), run_with(rows)) as figure:
        published = {line.get_label(): points_of(line) for line in figure.axes[1].lines}
        assert published["G80, published"] == [(4, 0), (4, 1)], "the shuffle has none"
    assert "(2): instruction_cost/cuda/ilp=1/operation=fadd" in words_of("instruction_cost", rows)
    every = [operation(name, 4, 1, 1) for name in reversed(OPERATIONS)]
    data = plot_named("instruction_cost").data(run_with(every))
    assert [*data.operation] == [*OPERATIONS]


@pytest.mark.parametrize("shapes", [(1,), (1, 4, 10)])
def test_costs_of_a_cpu_are_cycles_of_its_core(shapes: Sequence[int]) -> None:
    look: Any = {"backend": "host", "method": "over_dependent_adds"}
    run = run_with([operation("rcp_ieee", 12.0 / ilp, ilp, 1, **look) for ilp in shapes], HOST_RUN)
    with plotted(plot_named("instruction_cost"), run) as figure:
        assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["divide, fp32"]
        marks = [points_of(ax.lines[0]) for ax in figure.axes]
        assert marks == [[(12, 0)], [(1.2, 0)]][: len(shapes)]
    assert "warp" not in words_of("instruction_cost", run)


# --- l2_partition, request_merging ----------------------------------------------------------------

SMS = 12


def split(folder: Any, more: Sequence[dict[str, Any]] = (), **noise: str) -> Run:
    """A run that found two sides; every third SM is on the smaller one."""
    near, crossing = [290.0 + sm for sm in range(SMS)], [190.0 + sm % 3 for sm in range(SMS)]
    far = [value + cost for value, cost in zip(near, crossing, strict=True)]
    samples = {
        "near_cycles": near, "far_cycles": far, "crossing_cycles": crossing,
        "near_share": [0.75 - (sm % 3 == 0) / 2 for sm in range(SMS)],
    }  # fmt: skip
    rows = [
        measurement(name, taken, noise=noise.get(name, "passed")) for name, taken in samples.items()
    ]
    line = case([*rows, *more], benchmark="l2_partition")
    fabric = count("fabric_sectors_per_access", 0.5)
    fabric["noise"]["verdict"] = noise.get("fabric", "passed")
    return load2(folder, [line, counts(line, [fabric])], device__sm_count=SMS)


def test_every_sm_is_a_point_near_and_far_and_of_a_side(tmp_path: Any) -> None:
    partition = plot_named("l2_partition")
    run = split(tmp_path / "a")
    with plotted(partition, run) as figure:
        each, sides = figure.axes
        near, far = (points_of(each.lines[place]) for place in (0, 3))
        assert near == [(sm, 290 + sm) for sm in range(SMS)]
        assert [y - x for (_, x), (_, y) in zip(near, far, strict=True)] == [190, 191, 192] * 4
        assert [y for _, y in points_of(sides.lines[0])] == [25, 75, 75] * 4
        assert each.texts[-1].get_text() == "crossing: 191.0\u00a0cycles"
    words = words_of("l2_partition", run)
    assert "Crossing costs 191.0 cycles (median), 190.0 to 192.0 by SM." in words
    assert "Counted between the halves: 0.50 sectors per exchange" in words
    run = split(tmp_path / "b", far_cycles="failed", fabric="failed")
    with plotted(partition, run) as figure:
        assert [y for _, y in hollow_of(figure.axes[0])] == [*partition.data(run).far_cycles]
        assert not hollow_of(figure.axes[1])
    words = words_of("l2_partition", run)
    assert "Invalid, drawn hollow (1): far_cycles (noise: half-width 0.1 %)." in words
    assert not any(part in words for part in ("Crossing costs", "Counted between", "A load"))


@pytest.mark.parametrize("noise", ["passed", "failed"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [("load", "copy in the other half takes 284.0 cycles near and 470.0 far"),
     ("dram", "by memory takes 284.0 cycles behind the SM's own side of L2 and 470.0 behind the")],
)  # fmt: skip
def test_the_caption_has_loads_if_both_are_valid(
    tmp_path: Any, kind: str, words: str, noise: str
) -> None:
    loads = [
        measurement(f"near_{kind}_cycles", [284.0] * SMS),
        measurement(f"far_{kind}_cycles", [470.0] * SMS, noise=noise),
    ]
    found = words_of("l2_partition", split(tmp_path, loads))
    assert (words in found) == ("A load" in found) == (noise == "passed")
    assert found.count("A load ") <= 1


def delayed(
    sms: int,
    share: float,
    delay: int = 0,
    apart: float = 0,
    *,
    valid: bool = True,
    late: bool = True,
) -> list[Row]:
    """One case: its delay, and what was counted."""
    place: dict[str, Any] = {"sms": sms, "delay": delay}
    how: Any = {"unit": "1", "method": "cupti_net", "provenance": "counted", "valid": valid}
    return [
        row_of("request_merging", "delay_cycles", apart, method="mean", valid=late, **place),
        row_of("request_merging", "l2_sectors_per_missed_sector", share, **how, **place),
    ]  # fmt: skip


PAIRS = (
    *delayed(2, 0.5), *delayed(2, 0.5, 40, 39), *delayed(2, 0.75, 60, 59),
    *delayed(2, 1.0, 80, 78), *delayed(2, 1.0, 120, 117),
)  # fmt: skip


def test_requests_at_once_are_beside_later_ones() -> None:
    rows = [*delayed(8, 0.251), *delayed(5, 0.4), *delayed(5, 0.4, 100, 99), *PAIRS]
    with plotted(plot_named("request_merging"), run_with(rows)) as figure:
        (model_line, at_once, *_), later = (ax.lines for ax in figure.axes)
        assert points_of(at_once) == [(2, 50), (5, 40), (8, pytest.approx(25.1))]
        assert points_of(later[0]) == [(0, 50), (39, 50), (59, 75), (78, 100), (117, 100)]
        wanted = {1: 100, 2: 50, 3: 100 / 3, 4: 25, 5: 40, 6: 100 / 3, 7: 200 / 7, 8: 25}
        assert dict(points_of(model_line)) == pytest.approx(wanted)
    words = words_of("request_merging", rows)
    assert "When 8 SMs request one line at the same time, 25.10 % of their requests" in words
    assert "merge if they are 59 cycles apart, but not if they are 78 apart." in words


@pytest.mark.parametrize(("valid", "late"), [(False, True), (True, False)])
def test_a_share_and_a_delay_must_both_be_valid(*, valid: bool, late: bool) -> None:
    how = {"valid": valid, "late": late}
    rows = [*PAIRS, *delayed(2, 0.5, 140, 139, **how), *delayed(16, 0.1, **how)]
    assert hollow("request_merging", rows) == [[(16, 10)], [(139, 50)]]
    words = words_of("request_merging", rows)
    assert "hollow (2): 2 SMs, delay of 140 cycles; 16 SMs, delay of 0 cycles." in words
    assert "When 2 SMs request" in words
    assert "but not if they are 78 apart" in words


@pytest.mark.parametrize("rows", [(*PAIRS, *delayed(2, 0.5, 90, 90)), PAIRS[:6]])
def test_no_time_is_given_where_merging_does_not_end_at_one(rows: Any) -> None:
    assert "Requests of two SMs" not in words_of("request_merging", rows)


# --- stride_gather --------------------------------------------------------------------------------


def gather(
    useful: float, moved_over_used: float = 0, *, valid: bool = True,
    requested: str = "requested_bandwidth", memory: float = 0, **place: Any,
) -> list[Row]:  # fmt: skip
    """The rows of one case, in TB/s; without sectors as on a CPU."""
    axes: dict[str, Any] = {"level": "dram", "pattern": "strided", "width": 4, "stride": 1}
    axes |= {"misalignment": 0, "locality": 32, "valid": valid, "unit": "B/s"} | place
    rows = [row_of("stride_gather", "useful_bandwidth", useful * TERA, **axes)]
    if moved_over_used:
        rate = useful * moved_over_used * TERA
        rows.append(row_of("stride_gather", requested, rate, **axes))
    if memory:
        name = "memory_bytes_per_used_byte"
        rows.append(row_of("stride_gather", name, memory, provenance="counted", **axes))
    return rows


SOME = [
    row
    for level, whole in (("l2", 8.0), ("dram", 4.0))
    for row in (
        *gather(whole, 1, level=level), *gather(whole / 2, 2, level=level, stride=2),
        *gather(whole / 16, 8, level=level, stride=16, valid=level == "l2"),
        *gather(0.8 * whole, 1.25, level=level, pattern="misaligned", misalignment=1),
        *gather(whole / 6, 6, level=level, pattern="gather", locality=512),
    )
]  # fmt: skip


def test_the_model_is_the_sectors_at_the_rate_of_stride_1() -> None:
    rows = [*SOME, *gather(0.2, 8, pattern="gather", locality=2**28)]
    data = plot_named("stride_gather").data(run_with(rows))
    setting = data.stride_misalignment_or_window_bytes
    zero = data[(data.pattern == "misaligned") & (setting == 0)]
    assert [*zero.useful_bytes_per_second] == [8 * TERA, 4 * TERA], "a stride of 1 is aligned"
    (far,) = data[setting == 2**30].itertuples()
    assert far.modelled_useful_bytes_per_second == pytest.approx(4 * TERA / 8)
    assert far.share_of_sectors_at_stride_1 == pytest.approx(0.4)
    words = words_of("stride_gather", rows)
    assert "window of 1 GiB, 4 B elements, with 40" in words
    assert "Invalid, drawn hollow (1): DRAM, strided, 16, 4 B." in words
    rows = [*gather(4, 1), *gather(1, 2, stride=2), *gather(0.1, 2, stride=8, valid=False)]
    wanted = "DRAM, strided, stride 2, 4 B elements, with 50.00 %"
    assert wanted in words_of("stride_gather", rows), "the furthest that is valid"


@pytest.mark.parametrize(("level", "memory"), [("dram", 2.02), ("l2", float("nan"))])
def test_what_memory_gave_is_as_counted(level: str, memory: float) -> None:
    how: dict[str, Any] = {"level": level, "pattern": "gather", "requested": "sector_bandwidth"}
    line = plot_named("stride_gather").data(run_with(gather(2, 4, memory=1.01, **how))).iloc[0]
    assert line.requested_bytes_per_second == 8 * TERA, "as older runs call it"
    assert line.memory_bytes_per_second / TERA == pytest.approx(memory, nan_ok=True)


def test_an_invalid_stride_of_1_is_no_measure_of_the_others() -> None:
    rows = [*gather(4, 1, valid=False), *gather(2, 2, stride=2)]
    data = plot_named("stride_gather").data(run_with(rows))
    assert data.modelled_useful_bytes_per_second.isna().all()
    assert data.share_of_sectors_at_stride_1.isna().all()
    assert "Dashed" not in words_of("stride_gather", rows)
    assert hollow("stride_gather", rows) == [[(1, 4 * TERA)]]


# --- timer_agreement ------------------------------------------------------------------------------


def test_ratios_of_timers_are_sorted() -> None:
    timers = plot_named("timer_agreement")
    stored = load_run(GPU_RUN)
    assert len(data_of(timers, stored)) == len(model.agreements(stored.rows)) == 109
    assert "Invalid, drawn hollow (1): micro/layout_read/" in words_of("timer_agreement", stored)
    rows = [
        row_of("b", "warp_load_cycles", value, method=method, n=n)
        for n, ratio in enumerate((1.03, 1.01, 9))
        for method, value in (("clock64_slope", 100), ("event_slope", 100 * ratio))
    ]
    with plotted(timers, run_with(rows)) as figure:
        line = next(one for one in lines_of(figure) if one.get_label() == "event_slope")
        found = sorted(points_of(line), key=lambda at: -at[1])
        assert [x for x, _ in found] == pytest.approx([1, 3, 800])
        assert labels_of(figure) == ["within 2 %", "event_slope"]
    assert "1 of 3 pairs within 2 %" in words_of("timer_agreement", rows)
