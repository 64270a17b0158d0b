"""Run folders made to measure: a few cases with numbers that can be followed by hand."""

import csv
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

from strata import cli
from strata.run import COLUMNS, Backend, Provenance, Row, Run, case_id, load_run, params_text

DATA = Path(__file__).parents[1] / "data"
GPU_RUN = DATA / "synthetic-gpu-20260101T000000Z-0000000"
HOST_RUN = DATA / "synthetic-cpu-20260101T000000Z-0000000"
COUNTED_RUN = DATA / "synthetic-gpu-20260202T000000Z-0000000"
SOURCES = Path(__file__).parents[2] / "analysis" / "src"
SCHEMAS = Path(__file__).parents[2] / "results" / "schema"

NAME = "test-device-20260102T030405Z-abcdef0"

CONTEXT, COUNTERS = json.loads((DATA / "context.json").read_bytes()).values()

GONE = object()
"""In place of a value: the member is missing."""


def changed(data: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of JSON with the changes; `device__name` is the member `name` of `device`."""
    result = deepcopy(data)
    for path, value in changes.items():
        part, keys = result, [int(key) if key.isdecimal() else key for key in path.split("__")]
        for key in keys[:-1]:
            part = part[key]
        if value is GONE:
            del part[keys[-1]]
        else:
            part[keys[-1]] = value
    return result


def context(**changes: Any) -> dict[str, Any]:
    """A sound context; `device__name="X"` reaches into `device`."""
    return dict(changed({**CONTEXT}, changes))


def context2(**changes: Any) -> dict[str, Any]:
    """A sound context of schema version 2; `counters__state="x"` reaches into `counters`."""
    return dict(changed({**CONTEXT, "schema_version": 2, "counters": COUNTERS}, changes))


def measurement(
    quantity: str = "warp_read_cycles",
    samples: Sequence[float] = (10.0,),
    *,
    unit: str = "cycle",
    method: str = "clock64_slope",
    noise: str = "passed",
    provenance: str = "timed",
    detail: str = "half-width 0.1 %",
) -> dict[str, Any]:
    """One quantity of a case."""
    measured = {"quantity": quantity, "unit": unit, "provenance": provenance, "method": method}
    return measured | {"samples": list(samples), "noise": {"verdict": noise, "detail": detail}}


def case(
    measurements: Sequence[dict[str, Any]] = (),
    *,
    suite: str = "micro",
    benchmark: str = "layout_read",
    backend: str = "cuda",
    gates: Sequence[tuple[str, str, str]] = (),
    params: Mapping[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """One line of samples.jsonl."""
    words = {key: f"{value}" for key, value in sorted((params or {}).items())}
    line = {
        "schema_version": 1,
        "kind": "case",
        "case": case_id(suite, benchmark, backend, words),
        "suite": suite,
        "benchmark": benchmark,
        "backend": backend,
        "params": words,
        "status": "measured",
        "reason": "",
        "started": "2026-01-02T03:04:05Z",
        "seconds": 0.5,
        "facts": {},
        "gates": [{"gate": g, "verdict": v, "detail": d} for g, v, d in gates],
        "measurements": list(measurements),
    }
    return line | changes


def count(
    quantity: str = "sectors_per_read",
    value: float = 28.0,
    *,
    unit: str = "sector",
    method: str = "cupti_net",
    provenance: str = "counted",
) -> dict[str, Any]:
    """A quantity that was counted; `predicted` is the same from the model."""
    return measurement(
        quantity, [value], unit=unit, method=method, noise="not_applicable",
        provenance=provenance, detail="",
    )  # fmt: skip


def predicted(
    quantity: str = "sectors_per_read", value: float = 28.0, *, unit: str = "sector"
) -> dict[str, Any]:
    """A quantity as the model has it."""
    return count(quantity, value, unit=unit, method="coalescing_model", provenance="modelled")


def counts(
    line: Mapping[str, Any],
    measurements: Sequence[dict[str, Any]] = (),
    *,
    gates: Sequence[tuple[str, str, str]] = (),
    **changes: Any,
) -> dict[str, Any]:
    """What the counting phase found of the case of `line`."""
    found = {
        "schema_version": 2,
        "kind": "counts",
        "started": "2026-01-02T03:09:00Z",
        "seconds": 0.25,
        "status": "measured",
        "reason": "",
        "facts": {},
        "gates": [{"gate": g, "verdict": v, "detail": d} for g, v, d in gates],
        "measurements": list(measurements),
    }
    return dict(line) | found | changes


def trace(
    line: Mapping[str, Any],
    measurements: Sequence[dict[str, Any]] = (),
    *,
    gates: Sequence[tuple[str, str, str]] = (),
    **changes: Any,
) -> dict[str, Any]:
    """What the tracing phase found of the case of `line`."""
    found = counts(line, measurements, gates=gates, **changes)
    return found | {"schema_version": 3, "kind": "trace"}


def layout_case(
    layout: str = "aos",
    cycles: float | Sequence[float] = 100.0,
    *,
    extra: Iterable[dict[str, Any]] = (),
    bandwidth: float | None = None,
    gates: Sequence[tuple[str, str, str]] = (),
    backend: str = "cuda",
    **params: Any,
) -> dict[str, Any]:
    """One case of layout_read: L1, all fields, one warp on one SM unless given otherwise."""
    place: dict[str, Any] = {"layout": layout, "fields": "all", "residency": "l1"}
    place |= {"warps_per_sm": 1, "block_size": 32, "cores": "one"}
    samples = [cycles] if isinstance(cycles, int | float) else cycles
    measurements = [measurement(samples=samples), *extra]
    if bandwidth is not None:
        measurements.append(
            measurement("useful_bandwidth", [bandwidth], unit="B/s", method="event_slope")
        )
    return case(measurements, params=place | params, gates=gates, backend=backend)


def sealed(line: bytes) -> bytes:
    """A line of samples.jsonl with its checksum."""
    text = line.removesuffix(b"}\n")
    return b'%s,"crc32":"%08x"}\n' % (text, zlib.crc32(text))


def write_run(
    folder: Path,
    lines: Sequence[dict[str, Any]],
    *,
    header: dict[str, Any] | None = None,
    table: bool = True,
) -> Path:
    """Write a run folder called NAME below `folder`, with the table that the package derives."""
    run = folder / NAME
    run.mkdir(parents=True, exist_ok=True)
    header = deepcopy(header or context())
    if not header["sweep"]["cases"]:
        header["sweep"]["cases"] = list(dict.fromkeys(line["case"] for line in lines))
    write_context(run, header)
    seal = sealed if header["schema_version"] >= 3 else bytes
    text = b"".join(seal(json.dumps(line).encode() + b"\n") for line in lines)
    (run / "samples.jsonl").write_bytes(text)
    state = header["state"]
    write_context(run, header | {"state": "running"})
    if table:
        write_table(run, load_run(run))
    write_context(run, header | {"state": state})
    return run


def write_context(run: Path, header: Mapping[str, Any]) -> None:
    """Write context.json."""
    (run / "context.json").write_text(json.dumps(header), encoding="utf-8")


def write_table(folder: Path, run: Run) -> None:
    """Write measurements.csv from the rows of `run`."""
    with (folder / "measurements.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in run.rows:
            cells = {name: getattr(row, name) for name in COLUMNS}
            cells["params"] = params_text(row.params)
            cells["valid"] = "true" if row.valid else "false"
            writer.writerow(["" if cells[name] is None else cells[name] for name in COLUMNS])


def row(
    benchmark: str,
    quantity: str,
    value: float,
    *,
    unit: str = "cycle",
    method: str = "clock64_slope",
    provenance: Provenance = "timed",
    backend: Backend = "cuda",
    valid: bool = True,
    **params: Any,
) -> Row:
    """One row of a device without published values."""
    words = {key: f"{value}" for key, value in sorted(params.items())}
    return Row(
        run="r", device="test-device", backend=backend, suite="micro", benchmark=benchmark,
        case=case_id("micro", benchmark, backend, words), params=words, quantity=quantity,
        unit=unit, provenance=provenance, method=method, value=value, ci_low=None, ci_high=None,
        minimum=0.99 * value, maximum=1.01 * value, samples=7, valid=valid,
        reasons="" if valid else "noise",
    )  # fmt: skip


def strata(*arguments: str | Path, cwd: Path = Path()) -> subprocess.CompletedProcess[str]:
    """What the command did, called in this process; `cwd` is its working folder."""
    words, out, err = [*map(str, arguments)], StringIO(), StringIO()
    try:
        with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
            cli.main(words)
    except SystemExit as left:
        code = int(left.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def strata_process(
    *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What a new process of the command did, warnings being errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-P", "-m", "strata", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": f"{SOURCES}"} | environment, cwd=cwd,
        capture_output=True, check=False, encoding="utf-8",
    )  # fmt: skip


def edit(path: Path, old: str, new: str) -> None:
    """Changes the first `old` in a file, which must be there."""
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode())


def load2(folder: Path, lines: Sequence[dict[str, Any]], **changes: Any) -> Run:
    """The run of schema version 2 that `lines` make; a line of a case may be of version 1."""
    return load_run(write_run(folder, lines, header=context2(**changes)))


def load(folder: Path, lines: Sequence[dict[str, Any]], **changes: Any) -> Run:
    """The run that `lines` make."""
    return load_run(write_run(folder, lines, header=context(**changes)))
