"""A run folder of another tool's measurements: schema version 2, complete, gates unverified."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from strata.interop.plain_csv import encode
from strata.run import case_id, files, load_run, schema

Json = dict[str, Any]

UNKNOWN = "unknown"


class Found(Struct, frozen=True):
    """One case as in the file, before it has an id of its own.

    `name` identifies the case; `measurements` were timed, `counted` were counted. `reason` is why
    it was not measured; empty if it was.
    """

    name: str
    suite: str
    benchmark: str
    params: Mapping[str, str]
    measurements: Sequence[schema.Measurement] = ()
    counted: Sequence[schema.Measurement] = ()
    gates: Sequence[schema.Gate] = ()
    facts: Mapping[str, Any] = {}
    reason: str = ""
    skipped: bool = False


class Imported(Struct, frozen=True):
    """The contents of a file: about itself, its device and its cases.

    `started` is UTC in the format of records, None if the file lacks it; `context` is what else
    the file knows for the parts `strata`, `device`, `host` and `counters` of context.json;
    `left_out` counts the values of the file that become no row, by reason.
    """

    tool: str
    backend: schema.Backend
    cases: Sequence[Found]
    context: Mapping[str, Json]
    device: str = UNKNOWN
    started: str | None = None
    left_out: Mapping[str, int] = {}


def _joined(text: str, by: str) -> str:
    return re.sub(r"[^a-z0-9]+", by, text.lower()).strip(by)


def name(text: str) -> str:
    """`text` as a name: lower case, words joined by underscores, beginning with a letter."""
    words = _joined(text, "_")
    return words if re.match(r"[a-z]", words) else f"x_{words}".rstrip("_")


def word(text: str) -> str:
    """`text` as a parameter value: letters, digits and `._+-` remain, the rest become hyphens.

    A number keeps its sign: -8 and 8 are different values.
    """
    bare = re.sub(r"^[^A-Za-z0-9._+-]+", "", text)
    sign = "-" if re.match(r"-\.?\d", bare) else ""
    return sign + re.sub(r"[^A-Za-z0-9._+-]+", "-", bare).strip("-") or "-"


def because(reasons: Mapping[str, int]) -> str:
    """`because they are invalid (3), have no unit (2)`."""
    counted = (f"{reason} ({count:,})" for reason, count in reasons.items())
    return f"because they {', '.join(counted)}"


def write(imported: Imported, file: Path, text: str, folder: Path, *, force: bool) -> Path:
    """Write the run of the `text` in `file` below `folder`, whole or not at all; return a path."""
    digest, device = hashlib.sha256(text.encode()).hexdigest(), _joined(imported.device, "-")
    when = re.sub(r"[-:]|\.\d+", "", imported.started) if imported.started else "undated"
    run = folder / f"{device or UNKNOWN}-{when}-{digest[:7]}"
    files.refuse_taken(run, ours=files.is_run(run), force=force)
    context: Json = json.loads(files.resource("strata.run", "blank.json"))
    context |= {"run": run.name, "backend": imported.backend}
    context["command"] = ["strata", "import", file.name]
    if imported.started:
        context |= dict.fromkeys(("started", "finished"), imported.started)
    # The digest of its own file, so that no two imports seem to have the same kernel source.
    context["strata"]["source_digest"] = f"import-{digest}"
    context["device"] |= {"slug": device or UNKNOWN, "name": imported.device}
    of_file = {"file": file.name, "digest": f"sha256:{digest}"}
    context["imported"] = {"tool": imported.tool, **of_file, "dated": bool(imported.started)}
    for part, members in imported.context.items():
        context[part] |= members
    lines = [*_lines(imported, file, context["started"])]
    cases = [line["case"] for line in lines if line["kind"] == "case"]
    context["sweep"] |= {**of_file, "cases": cases}
    dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    header = json.dumps(to_builtins(context), indent=2, ensure_ascii=False)
    samples = "".join(f"{dump(to_builtins(line))}\n" for line in lines)
    parts = {files.CONTEXT_FILE: f"{header}\n".encode(), files.SAMPLES_FILE: samples.encode()}
    return files.place_folder(
        run, parts, lambda part: {files.MEASUREMENTS_FILE: encode(load_run(part), exact=True)}
    )


def _lines(imported: Imported, file: Path, started: str) -> Iterator[Json]:
    """The lines of samples.jsonl; cases with equal ids get a number each."""
    detail = f"from {file.name} by {imported.tool}, not checked by our gates"
    seen = schema.Gate("import", "unverified", detail)
    taken: set[str] = set()
    for found in imported.cases:
        params, number, measured = dict(found.params), 1, not found.reason
        while (made := case_id(found.suite, found.benchmark, imported.backend, params)) in taken:
            number += 1
            params["same_name"] = f"{number}"
        taken.add(made)
        line: Json = {"schema_version": 2, "kind": "case", "case": made, "suite": found.suite}
        line |= {"benchmark": found.benchmark, "backend": imported.backend}
        line["params"] = dict(sorted(params.items()))
        line["status"] = "measured" if measured else "skipped" if found.skipped else "failed"
        line |= {"reason": found.reason, "started": started, "seconds": 0.0}
        line |= {"facts": {"name": found.name, **found.facts}}
        line["gates"] = [seen, *found.gates] if measured else []
        line["measurements"] = list(found.measurements) if measured else []
        yield line
        if found.counted and measured:
            yield line | {"kind": "counts", "measurements": list(found.counted)}
