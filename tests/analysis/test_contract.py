"""The contract from the reader's side: schemas, loader and real run folders agree.

STRATA_RUN=FOLDER names a run folder that the harness wrote, to be held against both.
"""

import csv
import json
import os
import re
import runpy
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from builders import (
    COUNTED_RUN,
    DATA,
    GPU_RUN,
    HOST_RUN,
    SCHEMAS,
    context,
    context2,
    count,
    counts,
    layout_case,
    measurement,
    predicted,
    write_context,
    write_run,
)
from strata.run import COLUMNS, SCHEMA_VERSIONS, Context, Line, RunError, load_run
from strata.run.files import MOST_BYTES, MOST_OF_LINE
from strata.run.validate import findings
from test_records import WRONG_LINES, changed

try:
    import jsonschema
except ModuleNotFoundError:
    jsonschema = None  # type: ignore[assignment]

needs_jsonschema = pytest.mark.skipif(
    jsonschema is None, reason="jsonschema is not installed: the loader alone checks the runs"
)


def runs() -> list[Path]:
    named = os.environ.get("STRATA_RUN")
    return [Path(named)] if named else [GPU_RUN, HOST_RUN, COUNTED_RUN]


def schema(name: str, version: int = 1) -> dict[str, Any]:
    path = SCHEMAS / f"v{version}" / name
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def accepts(name: str, instance: dict[str, Any], version: int = 1) -> bool:
    instance = {"crc32": "00000000"} | instance
    return not list(jsonschema.Draft202012Validator(schema(name, version)).iter_errors(instance))


each_version = pytest.mark.parametrize("version", SCHEMA_VERSIONS)


def test_every_version_has_its_schemas() -> None:
    assert sorted(path.name for path in SCHEMAS.glob("v*")) == [
        f"v{version}" for version in SCHEMA_VERSIONS
    ]


@needs_jsonschema
@each_version
@pytest.mark.parametrize("name", ["context.schema.json", "samples.schema.json"])
def test_schemas_are_sound(name: str, version: int) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name, version))


def test_stored_runs_are_what_their_script_writes(tmp_path: Path) -> None:
    script = runpy.run_path(f"{DATA / 'make_synthetic.py'}")
    writers = ("small_gpu", "small_host", "counted_gpu")
    for write, stored in zip(writers, (GPU_RUN, HOST_RUN, COUNTED_RUN), strict=True):
        script[write](tmp_path / stored.name)
        for path in stored.iterdir():
            if path.is_file():
                assert (tmp_path / stored.name / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.name)
def test_run_keeps_the_contract(run: Path) -> None:
    assert findings(load_run(run)) == ()


@needs_jsonschema
@pytest.mark.parametrize("run", runs(), ids=lambda run: run.name)
def test_run_meets_the_schemas(run: Path) -> None:
    header = json.loads((run / "context.json").read_text(encoding="utf-8"))
    version = header["schema_version"]
    context_schema = schema("context.schema.json", version)
    jsonschema.validate(header, context_schema, jsonschema.Draft202012Validator)
    validator = jsonschema.Draft202012Validator(schema("samples.schema.json", version))
    lines = (run / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        errors = [
            f"line {number}: {error.message}" for error in validator.iter_errors(json.loads(line))
        ]
        assert errors == []


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.name)
def test_table_keeps_its_dialect(run: Path) -> None:
    raw = (run / "measurements.csv").read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert raw.endswith(b"\n")
    header = next(csv.reader(StringIO(raw.decode("utf-8"), newline="")))
    assert header == [column["name"] for column in schema("measurements.json")["columns"]]


@each_version
def test_columns_are_those_of_the_schema(version: int) -> None:
    columns = schema("measurements.json", version)["columns"]
    assert tuple(column["name"] for column in columns) == COLUMNS


@each_version
def test_versions_and_numbers_are_those_of_the_schemas(version: int) -> None:
    header, line = schema("context.schema.json", version), schema("samples.schema.json", version)
    for told in (header["properties"]["schema_version"], line["properties"]["schema_version"]):
        assert told["const"] == version
    assert schema("measurements.json", version)["schema_version"] == version


def test_the_bounds_are_those_of_the_harness() -> None:
    harness = (SCHEMAS.parents[1] / "harness/record/run_folder.cpp").read_text(encoding="utf-8")
    told = dict(re.findall(r"(\w+) = \w[\w:]*\{(\d+)\} << \d0;", harness))
    line, file = f"{MOST_OF_LINE >> 20}", f"{MOST_BYTES >> 30}"
    assert told == {"longest_line": line, "most_samples": file}
    text = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    assert f"of more than {line} MiB, and a file of more than {file} GiB" in text


NULL = {"type": "null"}


def shape(node: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """What a schema allows, however it is written: without its words, with its references."""

    def inner(one: dict[str, Any]) -> dict[str, Any]:
        return shape(one, known)

    if "$ref" in node:
        return inner(known[node["$ref"].rpartition("/")[2]])
    if isinstance(node.get("type"), list):
        return inner({"anyOf": [{"type": kind} for kind in node["type"]]})
    if "type" not in node and "anyOf" in node:
        return {"anyOf": sorted(map(inner, node["anyOf"]), key=repr)}
    found: dict[str, Any] = {
        key: node[key] for key in ("type", "minimum", "minItems", "const") if key in node
    }
    if "enum" in node:
        found["enum"] = sorted(node["enum"], key=str)
    if "pattern" in node:
        found["pattern"] = node["pattern"].replace(r"\Z", "$")
    found |= {key: inner(node[key]) for key in ("items", "additionalProperties") if key in node}
    if "properties" in node:
        found["required"] = sorted(node["required"])
        found["properties"] = {key: inner(one) for key, one in node["properties"].items()}
    for key in found.get("properties", {}).keys() - set(found.get("required", ())):
        allowed = found["properties"][key].get("anyOf", ())
        if NULL in allowed:  # a member that may be absent is None where it is
            (found["properties"][key],) = [one for one in allowed if one != NULL]
    return found


def shapes(record: type, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the records take, and what the schema of the newest version does."""
    ours, file = msgspec.json.schema(record), schema(name, SCHEMA_VERSIONS[-1])
    return shape(ours, ours["$defs"]), shape(file, file["$defs"])


def test_the_records_of_a_line_are_the_schema() -> None:
    ours, file = shapes(Line, "samples.schema.json")
    assert ours["properties"].pop("schema_version") == {"enum": [1, 2, 3]}
    assert file["properties"].pop("schema_version") == {"const": 3, "type": "integer"}
    assert file["properties"].pop("crc32")["pattern"] == "^[0-9a-f]{8}$"  # held, then cut off
    # A case that was not measured may leave them out; a test below has it.
    file["required"] = sorted([*file["required"], "facts", "gates", "measurements"])
    file["required"].remove("crc32")
    assert ours == file


def test_the_records_of_the_context_are_the_schema() -> None:
    ours, file = shapes(Context, "context.schema.json")
    del file["properties"]["schema_version"]
    file["required"] = sorted(
        [*file["required"], "benchmarks", "rungs", "ladders", "bounds"]
    )  # of before.json
    file["required"].remove("schema_version")
    for name in ("device", "host"):  # whatever else they describe
        assert ours["properties"][name]["properties"].pop("facts") == {"type": "object"}
        ours["properties"][name]["required"].remove("facts")
    counters = file["properties"]["counters"]  # None in version 1
    file["properties"]["counters"] = {"anyOf": sorted([counters, NULL], key=repr)}
    assert ours == file


# What only the loader can see: it takes more than one member of the line.
BEYOND_THE_SCHEMA = {"id", "twice"}


@needs_jsonschema
@each_version
@pytest.mark.parametrize("name", WRONG_LINES)
def test_schema_refuses_the_lines_that_the_loader_refuses(name: str, version: int) -> None:
    line = changed(WRONG_LINES[name][0]) | {"schema_version": version}
    assert accepts("samples.schema.json", line, version) == (name in BEYOND_THE_SCHEMA)


@needs_jsonschema
def test_schema_takes_counts_and_refuses_times_among_them() -> None:
    sound = counts(layout_case(), [count(), predicted(), count("a.b", method="x__y.sum")])
    assert accepts("samples.schema.json", sound, 2)
    assert not accepts("samples.schema.json", sound | {"schema_version": 1}, 1)
    assert not accepts("samples.schema.json", counts(layout_case(), [measurement()]), 2)
    failed = counts(layout_case(), status="failed", reason="busy")
    assert accepts("samples.schema.json", failed, 2)
    assert not accepts("samples.schema.json", failed | {"reason": ""}, 2)


@needs_jsonschema
def test_schema_takes_times_and_counts_of_a_trace() -> None:
    sound = counts(layout_case(), [count(), measurement("phase_idle")])
    sound |= {"schema_version": 3, "kind": "trace"}
    assert accepts("samples.schema.json", sound, 3)
    assert not accepts("samples.schema.json", sound | {"crc32": None}, 3)
    assert not accepts("samples.schema.json", sound | {"schema_version": 2}, 2)
    wrong = counts(layout_case(), [measurement(provenance="reported")])
    assert not accepts("samples.schema.json", wrong | {"schema_version": 3, "kind": "trace"}, 3)


def drop(*path: str) -> Callable[[dict[str, Any]], object]:
    def change(header: dict[str, Any]) -> object:
        for key in path[:-1]:
            header = header[key]
        return header.pop(path[-1])

    return change


def members(header: dict[str, Any]) -> list[tuple[str, ...]]:
    """Every member of the context that the contract demands."""
    inner: list[tuple[str, ...]] = [("clocks", "before"), ("clocks", "after")]
    inner += [("device", key) for key in ("slug", "name", "uuid")]
    for outer in ("strata", "sweep", "host", "counters"):
        inner += [(outer, key) for key in header.get(outer, ())]
    return inner + [(key,) for key in header]


CONTEXTS: dict[int, Callable[[], dict[str, Any]]] = {
    1: context, 2: context2, 3: partial(context2, schema_version=3),
}  # fmt: skip


@needs_jsonschema
@each_version
def test_schema_takes_a_sound_context(version: int) -> None:
    assert accepts("context.schema.json", CONTEXTS[version](), version)


@needs_jsonschema
@pytest.mark.parametrize(
    ("version", "path"),
    [(version, path) for version, make in CONTEXTS.items() for path in members(make())],
    ids=lambda value: value if isinstance(value, int) else ".".join(value),
)
def test_schema_and_loader_demand_the_same_members_of_a_context(
    version: int, path: tuple[str, ...], tmp_path: Path
) -> None:
    header = CONTEXTS[version]()
    drop(*path)(header)
    assert not accepts("context.schema.json", header, version)
    run = write_run(tmp_path, [layout_case()])
    write_context(run, header)
    with pytest.raises(RunError, match=rf"found no {'.'.join(path)};"):
        load_run(run)


LINE_MEMBERS = [key for key in layout_case() if key != "kind"] + ["kind"]


@needs_jsonschema
@pytest.mark.parametrize("kind", ["case", "counts"])
@pytest.mark.parametrize("key", LINE_MEMBERS)
def test_schema_and_loader_demand_the_same_members_of_a_line(
    key: str, kind: str, tmp_path: Path
) -> None:
    run = write_run(tmp_path, [layout_case("aos")])
    line, version = {"case": (layout_case("soa"), 1), "counts": (counts(layout_case("soa")), 2)}[
        kind
    ]
    assert accepts("samples.schema.json", line, version)
    line.pop(key)
    assert not accepts("samples.schema.json", line, version)
    with (run / "samples.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    with pytest.raises(RunError, match=rf"found no {key};"):
        load_run(run)


@needs_jsonschema
@pytest.mark.parametrize("status", ["skipped", "failed"])
def test_case_that_was_not_measured_may_leave_out_what_it_lacks(
    status: str, tmp_path: Path
) -> None:
    line = layout_case() | {"status": status, "reason": "why"}
    for key in ("facts", "gates", "measurements"):
        line.pop(key)
    assert accepts("samples.schema.json", line)
    assert load_run(write_run(tmp_path, [line])).cases[0].reason == "why"
