"""Profiles of programs: what limits a kernel, and the ceilings that it is compared with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import case, context2, count, counts, measurement, strata, write_run
from strata.model.text import plain
from strata.profile.kernels import kernels, limits_of, sentence, uses
from strata.profile.table import lenders, profile
from strata.run import Run, RunError, load_run

H200 = "nvidia-h200"


def kernel(
    name: str, time: float, counted: Mapping[str, float] | None = None, *, launches: int = 10
) -> list[dict[str, Any]]:
    """A kernel of a profile: its timing record and, if it was counted, its counts."""
    rows = [
        measurement("gpu_time", [time] * 3, unit="s", method="cupti_activity"),
        measurement("total_time", [launches * time], unit="s", method="cupti_activity"),
        measurement("launches", [launches], unit="1", method="cupti_activity"),
    ]
    timed = case(
        rows, suite="profile", benchmark=name, params={"grid": "64x1x1", "block": "256x1x1"},
        schema_version=2, facts={"kernel": f"void {name}(float*)", "launches": launches},
    )  # fmt: skip
    if counted is None:
        return [timed]
    found = [count(quantity, value, method=quantity) for quantity, value in counted.items()]
    return [timed, counts(timed, found)]


def loaded(folder: Path, *parts: list[dict[str, Any]], slug: str = H200) -> Run:
    return load_run(write_run(folder, ordered(*parts), header=context2(device__slug=slug)))


def ordered(*parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Times first, as they were taken."""
    lines = [line for part in parts for line in part]
    return sorted(lines, key=lambda line: line["kind"] == "counts")


STREAM = {
    "dram_read_bytes": 3e9, "dram_write_bytes": 1.4e9, "l2_sm_sectors": 2e8,
    "fp32_add": 0, "fp32_mul": 0, "fp32_fma": 1e9,
    "l1_sectors": 2e8, "l1_hit_sectors": 1e8, "l2_hit_sectors": 5e7, "l2_load_miss_sectors": 1.5e8,
    "stall_all": 11, "stall_selected": 1, "stall_long_scoreboard": 8, "stall_wait": 2,
    "sms_at_work": 99, "achieved_occupancy": 60,
}  # fmt: skip


def test_a_kernel_is_limited_by_what_is_nearest_its_ceiling(tmp_path: Path) -> None:
    run = loaded(tmp_path, kernel("stream", 1e-3, STREAM))
    (one,) = kernels(run)
    limits = limits_of(lenders("", H200))
    used = uses(one, limits)
    assert used[0].name == "DRAM"
    assert used[0].rate == pytest.approx(4.4e12)
    assert used[0].share == pytest.approx(4.4e12 / limits["dram"].value)
    assert [use.name for use in used] == ["DRAM", "L2", "fp32"]
    assert used[1].rate == pytest.approx(32 * 2e8 / 1e-3)
    assert used[2].rate == pytest.approx(2e9 / 1e-3)
    assert "limited by DRAM: 4.40" in sentence(one, used)
    assert "next: L2" in sentence(one, used)


def test_a_kernel_far_from_every_ceiling_is_limited_by_latency_or_too_small(tmp_path: Path) -> None:
    slow = loaded(tmp_path / "slow", kernel("slow", 0.1, STREAM))
    limits = limits_of(lenders("", H200))
    (one,) = kernels(slow)
    words = sentence(one, uses(one, limits))
    assert words.startswith("limited by latency: DRAM")
    assert "warps wait mostly for L1, L2, device memory (80" in words
    small = loaded(tmp_path / "small", kernel("small", 0.1, STREAM | {"sms_at_work": 12}))
    (one,) = kernels(small)
    assert sentence(one, uses(one, limits)).startswith("too small: SMs have work 12")


def test_tensor_operations_are_compared_with_their_type(tmp_path: Path) -> None:
    of_bf16 = {"tensor_bf16_operations": 4e12, "tensor_fp16_operations": 0}
    run = loaded(tmp_path, kernel("gemm", 6e-3, of_bf16))
    (one,) = kernels(run)
    (used,) = uses(one, limits_of(lenders("h200", "")))
    assert used.name == "bf16 tensor cores"
    assert used.share == pytest.approx(4e12 / 6e-3 / used.ceiling.value)
    assert used.ceiling.name == "bf16, tensor cores"


def test_counts_are_compared_with_the_times_of_the_same_launches(tmp_path: Path) -> None:
    # A kernel of cuBLAS on an H200, with two sizes of work in one launch shape.
    of_bf16 = {"tensor_bf16_operations": 34359738368.0}
    timed, counted = kernel("nvjet", 29.5e-6, of_bf16)
    paired = measurement("paired_time", [44.9e-6, 44.4e-6], unit="s", method="cupti_activity")
    run = loaded(tmp_path, [timed | {"measurements": [*timed["measurements"], paired]}, counted])
    (one,) = kernels(run)
    (used,) = uses(one, limits_of(lenders("", H200)))
    assert used.rate == pytest.approx(34359738368 / 44.65e-6)
    assert 0.9 < used.share < 0.92
    # Where the pairs are doubtful, the counted launches have the times that they had then.
    paired["noise"] = {"verdict": "failed", "detail": "it may not be the same"}
    counting = count("counted_time", 46200, unit="ns", method="gpu__time_duration.sum")
    counted["measurements"].append(counting)
    timed["measurements"].append(paired)
    (one,) = kernels(loaded(tmp_path / "doubtful", [timed, counted]))
    assert one.counted_time == pytest.approx(46.2e-6)


def test_rows_that_no_two_passes_agree_on_are_not_used(tmp_path: Path) -> None:
    timed, counted = kernel("small", 1e-3, STREAM)
    for row in counted["measurements"]:
        if row["quantity"].startswith("dram_"):
            row["noise"] = {"verdict": "failed", "detail": "passes found different caches"}
    (one,) = kernels(loaded(tmp_path, [timed, counted]))
    assert one.moved("dram") is None
    assert [use.name for use in uses(one, limits_of(lenders("", H200)))] == ["L2", "fp32"]


def test_shares_of_time_and_the_table_follow_the_total_time(tmp_path: Path) -> None:
    run = loaded(
        tmp_path, kernel("rare", 1e-3, launches=1), kernel("frequent", 1e-4, STREAM, launches=90)
    )
    table, lines = profile(run)
    rows = [[plain(cell) for cell in row] for row in table.rows]
    names = [row[0] for row in rows]
    assert names == ["frequent 64·256", "rare 64·256"]
    assert [row[1] for row in rows] == ["90\u00a0%", "10\u00a0%"]
    assert plain(table.rows[0][8]) == "50\u00a0%"
    assert plain(table.rows[0][9]) == "25\u00a0%"
    assert plain(table.rows[1][4]) == "–"
    assert "rare 64·256: not counted" in lines


def test_a_device_without_recorded_ceilings_is_told_how_to_measure_them(tmp_path: Path) -> None:
    run = loaded(tmp_path, kernel("stream", 1e-3, STREAM), slug="unknown-gpu")
    table, lines = profile(run)
    assert plain(table.rows[0][4]) == "–"
    assert plain(table.rows[0][6]) == "4.40\u00a0GB"
    assert any("strata run ceilings" in line for line in lines)


def test_what_is_no_profile_and_unknown_ceilings_are_refused(tmp_path: Path) -> None:
    micro = load_run(write_run(tmp_path / "micro", [case([measurement()])]))
    with pytest.raises(RunError, match="no kernel of a profile"):
        profile(micro)
    run = loaded(tmp_path, kernel("stream", 1e-3))
    with pytest.raises(RunError, match="h9000"):
        profile(run, "h9000")


def test_the_command_prints_the_table_of_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path, kernel("stream", 1e-3), header=context2(device__slug=H200))
    for ceilings in ((), ("--ceilings", "h200")):
        done = strata("profile", run, *ceilings)
        assert (done.returncode, done.stderr) == (0, "")
        assert "stream 64·256" in done.stdout
        assert "ceilings of nvidia-h200-" in done.stdout


def test_the_page_of_a_profile_explains_its_kernels(tmp_path: Path) -> None:
    run = write_run(
        tmp_path, ordered(kernel("stream", 1e-3, STREAM)), header=context2(device__slug=H200)
    )
    done = strata("report", run, "--formats", "svg")
    assert done.returncode == 0
    page = (run / "report" / "report.html").read_text(encoding="utf-8")
    assert "Kernels of a program" in page
    assert "limited by DRAM" in page
