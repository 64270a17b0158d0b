"""The contract from the reader's side: schemas, loader and real run folders say the same.

STRATA_RUN=FOLDER names a run folder that the harness wrote, to be held against both.
"""

import csv
import json
import os
import runpy
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from builders import DATA, GPU_RUN, HOST_RUN, SCHEMA, context, layout_case, write_context, write_run
from strata import records
from strata.records import COLUMNS, RunError, load_run
from strata.validate import findings
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
    return [Path(named)] if named else [GPU_RUN, HOST_RUN]


def schema(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((SCHEMA / name).read_text(encoding="utf-8"))
    return result


def accepts(name: str, instance: object) -> bool:
    return not list(jsonschema.Draft202012Validator(schema(name)).iter_errors(instance))


@needs_jsonschema
@pytest.mark.parametrize("name", ["context.schema.json", "samples.schema.json"])
def test_schemas_are_sound(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_stored_runs_are_what_their_script_writes(tmp_path: Path) -> None:
    script = runpy.run_path(f"{DATA / 'make_synthetic.py'}")
    for write, stored in ((script["small_gpu"], GPU_RUN), (script["small_host"], HOST_RUN)):
        write(tmp_path / stored.name)
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
    jsonschema.validate(header, schema("context.schema.json"), jsonschema.Draft202012Validator)
    validator = jsonschema.Draft202012Validator(schema("samples.schema.json"))
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


def test_columns_are_those_of_the_schema() -> None:
    columns = schema("measurements.json")["columns"]
    assert tuple(column["name"] for column in columns) == COLUMNS


def test_words_and_patterns_are_those_of_the_schemas() -> None:
    header, line = schema("context.schema.json"), schema("samples.schema.json")
    inner = line["properties"]["measurements"]["items"]["properties"]
    assert header["properties"]["state"]["enum"] == list(records.STATES)
    assert header["properties"]["backend"]["enum"] == list(records.BACKENDS)
    assert line["properties"]["status"]["enum"] == list(records.STATUSES)
    assert line["$defs"]["verdict"]["enum"] == list(records.VERDICTS)
    assert inner["provenance"]["enum"] == list(records.PROVENANCES)
    assert line["$defs"]["name"]["pattern"] == f"^{records.NAME.pattern}$"
    params = line["properties"]["params"]["additionalProperties"]
    assert params["pattern"] == f"^{records.WORD.pattern}$"
    number = schema("measurements.json")["dialect"]["number"]
    assert number == records.NUMBER.pattern
    for version in (header["properties"]["schema_version"], line["properties"]["schema_version"]):
        assert version["const"] == records.SCHEMA_VERSION
    assert schema("measurements.json")["schema_version"] == records.SCHEMA_VERSION


# What only the loader can see: it takes more than one member of the line.
BEYOND_THE_SCHEMA = {"id", "twice"}


@needs_jsonschema
@pytest.mark.parametrize("name", WRONG_LINES)
def test_schema_refuses_the_lines_that_the_loader_refuses(name: str) -> None:
    line = changed(WRONG_LINES[name][0])
    assert accepts("samples.schema.json", line) == (name in BEYOND_THE_SCHEMA)


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
    for outer in ("strata", "sweep", "host"):
        inner += [(outer, key) for key in header[outer]]
    return inner + [(key,) for key in header]


@needs_jsonschema
@pytest.mark.parametrize("path", members(context()), ids=".".join)
def test_schema_and_loader_demand_the_same_members_of_a_context(
    path: tuple[str, ...], tmp_path: Path
) -> None:
    header = context()
    drop(*path)(header)
    assert not accepts("context.schema.json", header)
    run = write_run(tmp_path, [layout_case()])
    write_context(run, header)
    with pytest.raises(RunError, match=rf"found no {'.'.join(path)};"):
        load_run(run)


LINE_MEMBERS = [key for key in layout_case() if key != "kind"] + ["kind"]


@needs_jsonschema
@pytest.mark.parametrize("key", LINE_MEMBERS)
def test_schema_and_loader_demand_the_same_members_of_a_line(key: str, tmp_path: Path) -> None:
    run = write_run(tmp_path, [layout_case("aos")])
    line = layout_case("soa")
    line.pop(key)
    assert not accepts("samples.schema.json", line)
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
