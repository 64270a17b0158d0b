"""A run folder of what another tool measured: schema version 2, complete, every gate unverified."""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata.interop.plain_csv import table
from strata.run import (
    CONTEXT_FILE,
    MEASUREMENTS_FILE,
    SAMPLES_FILE,
    SCHEMA_VERSIONS,
    Backend,
    Case,
    CpuCache,
    Gate,
    Kind,
    Measurement,
    RunError,
    case_id,
    load_run,
)

UNKNOWN = "unknown"
UNDATED = "1970-01-01T00:00:00Z"
"""What stands for a time that the file does not tell: nothing was measured then."""
NO_COUNTERS: Mapping[str, Any] = {
    "asked": [],
    "state": "not_asked",
    "reason": "",
    "mend": "",
    "chip": "",
    "sets": [],
    "passes": 0,
    "quantities": [],
    "absent": [],
    "counting_seconds": 0.0,
    "timing_seconds": 0.0,
}


@dataclass(frozen=True, slots=True)
class Found:
    """One case as a file has it, before it has an id of its own.

    `name` tells cases apart; `measurements` were timed, `counted` were counted.
    """

    name: str
    suite: str
    benchmark: str
    params: Mapping[str, str]
    measurements: tuple[Measurement, ...] = ()
    counted: tuple[Measurement, ...] = ()
    gates: tuple[Gate, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    """Why it was not measured; empty where it was."""
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file says of itself, its device and its cases; None and "unknown" where it does not.

    `started` is UTC as records have it, `memory_bytes` 0 where nobody says.
    """

    tool: str
    file: Path
    text: str
    backend: Backend
    cases: Sequence[Found]
    device: str = UNKNOWN
    uuid: str | None = None
    device_facts: Mapping[str, Any] = field(default_factory=dict)
    started: str | None = None
    version: str = UNKNOWN
    commit: str = UNKNOWN
    dirty: bool = False
    build_type: str = UNKNOWN
    cores: int = 0
    caches: Sequence[CpuCache] = ()
    host_facts: Mapping[str, Any] = field(default_factory=dict)
    counters: Mapping[str, Any] = field(default_factory=lambda: dict(NO_COUNTERS))


def slug(text: str) -> str:
    """`text` as a run folder names devices: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or UNKNOWN


def name(text: str) -> str:
    """`text` as a name of ours: lower case, words joined by underscores, a letter first."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return words if re.match(r"[a-z]", words) else f"x_{words}".rstrip("_")


def word(text: str) -> str:
    """`text` as a value of a parameter: what is no letter, digit or one of `._+-` is a hyphen."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-") or "-"


def write(imported: Imported, folder: Path, *, force: bool) -> Path:
    """Write the run below `folder`, whole or not at all; the path of the run folder."""
    digest = hashlib.sha256(imported.text.encode()).hexdigest()
    device = slug(imported.device)
    when = re.sub(r"[-:]|\.\d+", "", imported.started) if imported.started else "undated"
    run = folder / f"{device}-{when}-{digest[:7]}"
    if run.exists() and not (force and (run / CONTEXT_FILE).is_file()):
        raise RunError(
            run,
            found="a run that is there already"
            if (run / CONTEXT_FILE).is_file()
            else "something that is no run folder",
            expected="a name that is free",
            mend="name another folder, or say --force" if run.is_dir() else "name another folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    cases = _cases(imported)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".import-") as scratch:
        part = Path(scratch) / run.name
        part.mkdir()
        header = _context(imported, run.name, device, digest, [case.id for case in cases])
        _samples(part / SAMPLES_FILE, imported, cases)
        # An unfinished run needs no table: loaded so, it gives the rows of its own.
        _json(part / CONTEXT_FILE, header | {"state": "interrupted"})
        (part / MEASUREMENTS_FILE).write_bytes(table(load_run(part).rows))
        _json(part / CONTEXT_FILE, header)
        load_run(part)
        if run.exists():
            shutil.rmtree(run)
        part.rename(run)
    return run


def _cases(imported: Imported) -> list[Case]:
    """The cases with their ids; those that would have the same get a number each."""
    result = []
    taken: set[str] = set()
    for found in imported.cases:
        params = dict(found.params)
        number = 1
        while (made := case_id(found.suite, found.benchmark, imported.backend, params)) in taken:
            number += 1
            params["same_name"] = f"{number}"
        taken.add(made)
        measured = not found.reason
        result.append(
            Case(
                id=made,
                suite=found.suite,
                benchmark=found.benchmark,
                backend=imported.backend,
                params=params,
                status="measured" if measured else "skipped" if found.skipped else "failed",
                reason=found.reason,
                started=imported.started or UNDATED,
                seconds=0.0,
                facts={"name": found.name, **found.facts},
                gates=(_gate(imported), *found.gates) if measured else (),
                measurements=found.measurements if measured else (),
            )
        )
    return result


def _gate(imported: Imported) -> Gate:
    return Gate(
        name="import",
        verdict="unverified",
        detail=f"from {imported.file.name} by {imported.tool}, none of our gates saw it",
    )


def _samples(path: Path, imported: Imported, cases: Sequence[Case]) -> None:
    lines = []
    for case, found in zip(cases, imported.cases, strict=True):
        lines.append(_line("case", case, case.measurements))
        if found.counted and case.status == "measured":
            lines.append(_line("counts", case, found.counted))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _line(kind: Kind, case: Case, measurements: Sequence[Measurement]) -> str:
    return json.dumps(
        {
            "schema_version": max(SCHEMA_VERSIONS),
            "kind": kind,
            "case": case.id,
            "suite": case.suite,
            "benchmark": case.benchmark,
            "backend": case.backend,
            "params": dict(sorted(case.params.items())),
            "status": case.status,
            "reason": case.reason,
            "started": case.started,
            "seconds": case.seconds,
            "facts": dict(case.facts),
            "gates": [
                {"gate": gate.name, "verdict": gate.verdict, "detail": gate.detail}
                for gate in case.gates
            ],
            "measurements": [
                {
                    "quantity": one.quantity,
                    "unit": one.unit,
                    "provenance": one.provenance,
                    "method": one.method,
                    "samples": list(one.samples),
                    "noise": {"verdict": one.noise.verdict, "detail": one.noise.detail},
                }
                for one in measurements
            ],
        },
        ensure_ascii=False,
        allow_nan=False,
    )


def _context(
    imported: Imported, run: str, device: str, digest: str, cases: Sequence[str]
) -> dict[str, Any]:
    started = imported.started or UNDATED
    return {
        "schema_version": max(SCHEMA_VERSIONS),
        "run": run,
        "strata": {
            "version": imported.version,
            "commit": imported.commit,
            "dirty": imported.dirty,
            # Of its own file, so that no two imports pass for kernels of the same source.
            "source_digest": f"import-{digest}",
            "build_type": imported.build_type,
            "compiler": UNKNOWN,
            "cuda_compiler": None,
            "flags": UNKNOWN,
            "cuda_architectures": None,
        },
        "started": started,
        "finished": started,
        "state": "complete",
        "command": ["strata", "import", imported.file.name],
        "backend": imported.backend,
        "device": {
            "slug": device,
            "name": imported.device,
            "uuid": imported.uuid,
            **imported.device_facts,
        },
        "host": {
            "cpu": UNKNOWN,
            "cores": imported.cores,
            "os": UNKNOWN,
            "kernel": UNKNOWN,
            "memory_bytes": 0,
            "caches": [
                {
                    "level": cache.level,
                    "type": cache.type,
                    "bytes": cache.bytes,
                    "line_bytes": cache.line_bytes,
                }
                for cache in imported.caches
            ],
            **imported.host_facts,
        },
        "libraries": {},
        "sweep": {
            "name": "import",
            "file": imported.file.name,
            "digest": f"sha256:{digest}",
            "plan": {},
            "cases": list(cases),
        },
        "clocks": None,
        "timer": {},
        "counters": dict(imported.counters),
        "imported": {
            "tool": imported.tool,
            "file": imported.file.name,
            "digest": f"sha256:{digest}",
            "dated": imported.started is not None,
        },
    }


def _json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
