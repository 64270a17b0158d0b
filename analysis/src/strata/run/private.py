"""Anonymous runs, without information on who measured them, or where."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from strata.run.run import Run
from strata.run.schema import Clocks

SHOWN = frozenset(
    """
    avx2 avx512f compute_capability compute_mode core_clock_hz core_clock_peak_hz core_kinds
    cores cuda_driver cuda_runtime dram_bytes_per_second_theoretical driver ecc
    ecc_corrected_errors ecc_uncorrected_errors globaltimer_step_seconds google_benchmark
    integrated invariant_tsc l1d_bytes l1d_caches l1d_shared_by l2_bytes l2_caches
    l2_fetch_granularity_bytes l2_persisting_max_bytes l2_shared_by l3_bytes l3_caches
    l3_shared_by line_bytes load_average max_blocks_per_sm max_samples max_threads_per_block
    max_threads_per_sm max_warps_per_sm memory_bus_bits memory_bytes memory_clock_hz
    memory_clock_max_hz memory_clock_peak_hz memory_limit_bytes mig min_samples module_loading
    persistence_mode power_limit_watts power_watts registers_per_sm shared_bytes_per_block_optin
    shared_bytes_per_sm sm_clock_hz sm_clock_max_hz sm_clock_measured_hz sm_count synthetic
    temperature_celsius throttle_reasons throttled tsc_hz tsc_relative_spread visits warmups
    warp_size
    """.split()  # noqa: SIM905  (names, a line of them)
)
"""Facts of a model, of its state or of a plan; any other may identify one machine."""

# An absolute path of the measuring machine: at least two steps from the root, a home or a drive. It
# starts at a word boundary, or after a one-letter compiler flag (-I/opt/include).
_HOST_PATH = re.compile(
    r"(?:(?<![\w./~-])|(?<=\s-[A-Z])|(?<=^-[A-Z]))"
    r"(?:~|[A-Za-z]:)?(?:[/\\][\w.+@~-]+){2,}[/\\]?"
)


def without_paths(text: str) -> str:
    """`text` with each absolute path reduced to its last name, so that no folders are revealed."""
    return _HOST_PATH.sub(lambda m: "…/" + re.split(r"[/\\]", m[0].rstrip("/\\"))[-1], text)


def hidden(uuid: str) -> str:
    """The substitute of a UUID, as `strata run --anonymous` writes it: the same for one GPU."""
    if uuid.startswith("sha256-"):
        return uuid
    return f"sha256-{hashlib.sha256(uuid.encode()).hexdigest()[:16]}"


def anonymous(run: Run, *, distinct: bool = False) -> Run:
    """`run` without arguments, paths, host name and device identifiers: UUID, bus, serial number.

    Facts in `SHOWN` stay, and the numbers of cases; a digest of the UUID if devices must be
    `distinct`. `recorded` is the original run.
    """
    was = run.context
    uuid = hidden(was.device.uuid) if distinct and was.device.uuid else None
    clocks = was.clocks and Clocks(
        _shown(was.clocks.before), was.clocks.after and _shown(was.clocks.after)
    )
    context = replace(
        was,
        command=("strata", "run"),
        build=replace(was.build, flags=without_paths(was.build.flags)),
        device=replace(was.device, uuid=uuid, facts=_shown(was.device.facts)),
        host=replace(was.host, facts=_shown(was.host.facts)),
        libraries=_shown(was.libraries),
        sweep=replace(was.sweep, file=was.sweep.name, plan=_shown(was.sweep.plan), text=None),
        clocks=clocks,
        timer=_shown(was.timer),
    )
    cases = [
        replace(
            case,
            reason=without_paths(case.reason),
            facts={
                name: fact for name, fact in case.facts.items() if isinstance(fact, int | float)
            },
            gates=tuple(replace(one, detail=without_paths(one.detail)) for one in case.gates),
        )
        for case in run.cases
    ]
    return replace(run, context=context, cases=tuple(cases), before=run.recorded)


def _shown(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: facts[name] for name in facts if name in SHOWN}
