"""A made-up run of the whole n-body ladder: no number was measured, all have a plausible shape."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders import case, count, counts, load2, measurement
from strata.model import Table, plain
from strata.model.units import SPACE, THIN
from strata.run import Run

SINGLE: Mapping[str, Any] = {"problem": "single", "systems": 1, "bodies": 524288}
SMALL: Mapping[str, Any] = {"problem": "single", "systems": 1, "bodies": 65536}
GALAXIES: Mapping[str, Any] = {"problem": "galaxies", "systems": 32, "bodies": 4096}
HOST_SINGLE: Mapping[str, Any] = {"problem": "single", "systems": 1, "bodies": 16384}
HOST_GALAXIES: Mapping[str, Any] = {"problem": "galaxies", "systems": 4, "bodies": 1024}

SMS = 132
CLOCK = 1.98e9
ISSUED = SMS * 128 * CLOCK
"""Lanes × clock of a chip."""

# Rate of a single system in 10¹²/s, issue slots, occupancy, registers, error in 1e-7; by rung.
GPU: Mapping[str, tuple[float, float, float, int, float]] = {
    "naive": (0.62, 0, 88, 32, 51),
    "tiled": (0.95, 0, 90, 34, 51),
    "one_launch": (0.96, 0, 90, 34, 51),
    "fast_math": (1.55, 18, 91, 30, 62),
    "unrolled": (1.84, 14.03, 91, 32, 62),
    "invariants": (1.85, 14.09, 91, 32, 62),
    "block_size": (1.88, 14.09, 95, 32, 62),
    "read_only": (1.61, 14.22, 93, 32, 62),
    "warp_shuffle": (1.02, 17.38, 93, 34, 62),
    "constant_memory": (1.93, 15.16, 92, 30, 6.1),
    "registers": (2.11, 13.25, 24, 96, 5.2),
    "register_banks": (2.26, 13.25, 24, 96, 5.2),
    "pair_once": (3.35, 8.875, 18, 126, 3.9),
    "several_gpus": (4.4, 0, 24, 96, 5.2),
}
# In 10⁹/s.
HOST: Mapping[str, tuple[float, float]] = {
    "serial": (0.21, 2.1),
    "openmp": (0.42, 2.1),
    "cpu_soa": (0.44, 2.2),
    "simd": (3.1, 1.9),
    "simd_rsqrt": (9.8, 2.5),
    "cpu_blocked": (14.6, 1.7),
}
LAYOUTS = {"aos": 0.9, "soa": 1.0, "aoas": 0.97, "soaoas": 1.02, "aosoa32": 0.99}
UNROLL = {1: 0.74, 2: 0.86, 4: 0.93, 8: 0.97, 16: 0.99, 32: 1.0, 64: 1.0, 128: 0.99, 256: 0.985}
BLOCKS = {64: 0.93, 128: 0.99, 256: 1.0, 512: 0.995, 1024: 0.95}
STALLS: Mapping[str, Mapping[str, float]] = {
    "naive": {"long_scoreboard": 9.1, "lg_throttle": 3.2, "selected": 1, "wait": 1.8},
    "warp_shuffle": {"short_scoreboard": 6.0, "mio_throttle": 4.4, "selected": 1, "wait": 1.1},
    "pair_once": {"not_selected": 0.9, "selected": 1, "wait": 1.2, "short_scoreboard": 0.4},
}
USUAL_STALLS = {
    "not_selected": 7.2, "math_pipe_throttle": 3.1, "selected": 1.0, "wait": 2.2,
    "short_scoreboard": 0.9, "dispatch_stall": 0.6, "barrier": 0.3, "no_instruction": 0.002,
    "misc": 0.05,
}  # fmt: skip


def choices(rung: str) -> list[tuple[dict[str, Any], float]]:
    """The values of a rung's own axes, and what its rate is at each, over the best."""
    if rung in ("naive", "tiled", "one_launch", "fast_math"):
        return [({"layout": layout}, gain / 1.02) for layout, gain in LAYOUTS.items()]
    if rung == "unrolled":
        return [({"layout": "soaoas", "unroll": n}, gain) for n, gain in UNROLL.items()]
    if rung == "block_size":
        return [({"layout": "soaoas", "block_size": n}, gain) for n, gain in BLOCKS.items()]
    if rung in ("registers", "register_banks"):
        return [
            (
                {"layout": "soaoas", "per_thread": each, "warps": warps},
                0.9 + each / 100 + warps / 200,
            )
            for each in (4, 8)
            for warps in (2, 4)
        ]
    if rung == "several_gpus":
        return [({"layout": "soaoas", "per_thread": 8, "gpus": n}, n / 2) for n in (1, 2)]
    if rung == "pair_once":
        return [({"layout": "soaoas", "per_thread": n}, 0.88 + n / 100) for n in (4, 8, 12)]
    if rung in HOST:
        return [({"layout": "aos" if rung in ("serial", "openmp") else "soa"}, 1.0)]
    return [({"layout": "soaoas"}, 1.0)]


def rung_case(
    rung: str,
    rate: float,
    place: Mapping[str, Any],
    *,
    backend: str = "cuda",
    slots: float = 0,
    error: float = 1e-6,
    noise: str = "passed",
    gates: Sequence[tuple[str, str, str]] = (),
    facts: Mapping[str, Any] | None = None,
    seed: int = 1,
    **axes: Any,
) -> dict[str, Any]:
    """One timed case of a rung; `rate` in interactions a second."""
    noisy = random.Random(f"{rung}{place}{axes}{seed}")  # noqa: S311  (noise, not a secret)
    samples = sorted(rate * (1 + noisy.uniform(-0.004, 0.004)) for _ in range(9))
    methods = ("globaltimer", "event") if backend == "cuda" else ("tsc", "steady_clock")
    # The clock that is looked for is the second one, and a little slower.
    found = [
        measurement(
            "interactions_per_second",
            [value * (1.001 if method == methods[0] else 1) for value in samples],
            unit="1/s", method=method, noise=noise,
        )
        for method in methods
    ]  # fmt: skip
    found.append(
        count("relative_rms_error", error, unit="1", method="fp64_reference", provenance="modelled")
    )
    if place["problem"] == "galaxies":
        pairs = place["systems"] * place["bodies"] ** 2
        found.append(
            measurement("step_time", [pairs / value for value in samples], unit="s",
                        method=methods[1])
        )  # fmt: skip
    if backend == "cuda":
        found.append(
            measurement("core_clock", [CLOCK] * 7, unit="Hz", method="clock64_over_globaltimer")
        )
    if slots:
        found.append(
            count("issue_limit", ISSUED / slots, unit="1/s", method="issue_slots",
                  provenance="modelled")
        )  # fmt: skip
    return case(
        found, suite="nbody", benchmark=rung, backend=backend, params={**place, **axes},
        gates=gates, facts=dict(facts or {}),
    )  # fmt: skip


def rung_counts(
    line: Mapping[str, Any], occupancy: float, utilisation: float, instructions: float = 14.3,
    *more: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """What was counted in a step of a case."""
    rung = line["benchmark"]
    states = STALLS.get(rung, USUAL_STALLS)
    ratio = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    found = [
        count(f"stall_{state}", value, unit="warp", method=ratio.format(state))
        for state, value in states.items()
    ]
    found += [
        count("stall_all", sum(states.values()), unit="warp", method="smsp__all.ratio"),
        count("issue_utilisation", utilisation, unit="%", method="smsp__issue_active.pct"),
        count("achieved_occupancy", occupancy, unit="%", method="sm__warps_active.pct"),
        count("flops_per_interaction", 18.0 if rung != "pair_once" else 12.5, unit="FLOP"),
        count("instructions_per_interaction", instructions, unit="instruction"),
        count("executed_per_cycle", utilisation / 25, unit="instruction/cycle"),
        count("dram_read_bytes", 2.1e7, unit="B", method="dram__bytes_read.sum"),
        *more,
    ]
    return counts(line, found)


def gravit_case(rung: str, bodies: int, rate: float, **axes: Any) -> dict[str, Any]:
    """A step of one system, timed with its copies as well: 50 µs, and 40 bytes at 20 GB/s."""
    place = {"problem": "gravit", "systems": 1, "bodies": bodies}
    line = rung_case(rung, rate, place, **axes)
    kernel = bodies * bodies / rate
    whole = kernel + 5e-5 + 40 * bodies / 2e10
    line["measurements"] += [
        measurement("step_time", [kernel] * 7, unit="s", method="event"),
        measurement("copied_step_time", [whole * (1 + n / 500) for n in range(7)], unit="s",
                    method="wall"),
    ]  # fmt: skip
    return line


def gravit_lines() -> list[dict[str, Any]]:
    """Every rung at the paper's sizes; few particles do not fill a chip."""
    return [
        gravit_case(rung, bodies, 1e12 * GPU[rung][0] * bodies / (bodies + 30000), **axes)
        for rung in GPU
        for bodies in (40000, 100000, 200000, 500000, 1000000)
        for axes, _ in choices(rung)[:1]
    ]


def gpu_lines() -> list[dict[str, Any]]:
    """Every rung, layout and value of an axis, counted as well.

    Of a small system, of many, and, but for the first rungs, which take too long, of a large one.
    """
    lines = []
    for rung, (rate, slots, occupancy, registers, error) in GPU.items():
        for place, part in ((SMALL, 0.93), (SINGLE, 1.0), (GALAXIES, 0.95)):
            if place is SINGLE and rung in ("naive", "tiled"):
                continue
            for axes, gain in choices(rung):
                if rung == "tiled" and place is GALAXIES:
                    gain *= 0.3  # noqa: PLW2901  (a launch for each system fills no chip)
                line = rung_case(
                    rung, 1e12 * rate * part * gain, place, slots=slots,
                    error=1e-7 * error * (place["bodies"] / 524288) ** 0.5,
                    facts={"registers": registers}, **axes,
                )  # fmt: skip
                issued = (slots or 36) + 0.2
                used = min(98.0, 100 * rate * gain * issued * 1e12 / ISSUED)
                full = occupancy - 20 * (axes.get("block_size") == 1024)
                lines += [line, rung_counts(line, full, used, issued)]
    return lines


def host_lines() -> list[dict[str, Any]]:
    """Every rung of a CPU."""
    return [
        rung_case(rung, 1e9 * rate * part, place, backend="host", error=1e-7 * error, **axes)
        for rung, (rate, error) in HOST.items()
        for place, part in ((HOST_SINGLE, 1.0), (HOST_GALAXIES, 0.97))
        if place is HOST_GALAXIES or rung in ("simd_rsqrt", "cpu_blocked")
        for axes, _ in choices(rung)
    ]


def gpu_run(folder: Path) -> Run:
    """The run of `gpu_lines`, on a chip that others published rates of."""
    device = {"slug": "nvidia-h200", "name": "NVIDIA H200", "uuid": "GPU-1", "sm_count": SMS}
    return load2(folder, gpu_lines() + gravit_lines(), device=device)


def host_run(folder: Path) -> Run:
    """The run of `host_lines`."""
    device = {"slug": "test-cpu", "name": "Test CPU", "uuid": None}
    return load2(folder, host_lines(), backend="host", device=device)


def some(folder: Path, *lines: dict[str, Any], sms: int = SMS) -> Run:
    """The run of some lines, on a chip of so many SMs."""
    return load2(folder, lines, device__sm_count=sms)


def made(make: Callable[[Run], Table | None], run: Run) -> Table:
    """The table of a run, which there is."""
    found = make(run)
    assert isinstance(found, Table)
    assert all(len(row) == len(found.header) for row in found.rows)
    return found


def words(table: Table, name: str) -> list[str]:
    """One column of a table, spaces plain."""
    place = table.header.index(name)
    return [re.sub(f"[{SPACE}{THIN}]", " ", plain(row[place])) for row in table.rows]
