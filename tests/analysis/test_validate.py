"""The contract of a run folder: schemas, loader, table, samples and sweep agree.

STRATA_RUN=FOLDER names a run folder that the harness wrote, to be held against it.
"""

import json
import os
import re
import runpy
from pathlib import Path
from typing import Any

import msgspec
import pytest

from builders import (
    COUNTED_RUN,
    DATA,
    GONE,
    GPU_RUN,
    HOST_RUN,
    NAME,
    SCHEMAS,
    changed,
    context2,
    count,
    counts,
    edit,
    layout_case,
    load,
    write_run,
)
from strata.run import COLUMNS, SCHEMA_VERSIONS, Context, Line, RunError, load_run
from strata.run.files import MOST_BYTES, MOST_OF_LINE
from strata.run.validate import findings, refuse_repeated, refuse_unusable


def edited(run: Path, old: str, new: str) -> tuple[str, ...]:
    edit(run / "measurements.csv", old, new)
    return findings(load_run(run))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A timed case of seven samples, with an interval, which was counted."""
    gates = [("level", "unverified", "not counted yet"), ("code", "unverified", "unknown")]
    line = layout_case("soa", [11, 12, 13, 14, 15, 16, 17], gates=gates)
    found = counts(line, [count(value=28)], gates=[("level", "passed", "99.9 %")])
    return write_run(tmp_path, [line, found], header=context2())


@pytest.mark.parametrize("folder", [GPU_RUN, HOST_RUN, COUNTED_RUN])
def test_synthetic_runs_are_sound(folder: Path) -> None:
    # Their table was written by other code than the package's.
    assert findings(load_run(folder)) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (",14.0,11.0,", ",14.5,11.0,", "value is 14.5, the samples give 14"),
        (",14.0,11.0,", ",14.0000000001,11.0,", "value is 14.0000000001, the samples give 14"),
        (",14.0,11.0,", ",14.0,12.0,", "ci_low is 12.0, the samples give 11"),
        (",14.0,11.0,", ",14.0,,", "ci_low is None, the samples give 11"),
        (",11.0,17.0,7,", ",11.0,18.0,7,", "maximum is 18.0"),
        (",17.0,7,", ",17.0,8,", "samples is 8"),
        (",true,", ",false,", "valid is False, the samples give True"),
        ("code: unknown", "code: fine", "reasons is 'code: fine'"),
        (",cycle,", ",s,", "unit is 's', the samples give 'cycle'"),
        (f"{NAME},", "other,", "run is 'other'"),
        ("soa;residency=l1", "soa;residency=l2", "params is"),
        (",counted,", ",timed,", "provenance is 'timed', the samples give 'counted'"),
    ],
)
def test_finds_a_row_that_the_samples_do_not_give(
    run: Path, old: str, new: str, words: str
) -> None:
    (finding,) = edited(run, old, new)
    assert finding.startswith("measurements.csv: ")
    assert " of micro/layout_read/cuda/" in finding
    assert words in finding


def test_finds_rows_too_few_and_too_many(run: Path) -> None:
    assert edited(run, ",14.0,11.0,", ",14.000000000000002,11.0,") == ()  # rounded elsewhere
    few, many = edited(run, ",clock64_slope,", ",event_slope,")
    assert "no row for warp_read_cycles by clock64_slope" in few
    assert "a row for warp_read_cycles by event_slope" in many
    path = run / "measurements.csv"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert [line.partition(" for ")[0] for line in findings(load_run(run))] == [
        "measurements.csv: no row"
    ] * 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (f"{NAME},", "other,", "a row of the run other"),
        (",test-device,", ",another,", "a row of the device another"),
        (",cuda,micro", ",host,micro", "a row of the backend host"),
    ],
)
def test_nothing_is_drawn_from_a_table_of_another_device(
    run: Path, old: str, new: str, words: str
) -> None:
    edit(run / "measurements.csv", old, new)
    with pytest.raises(RunError, match=words):
        refuse_unusable(load_run(run))


def test_a_run_is_given_once(run: Path) -> None:
    one = load_run(run)
    refuse_repeated([one])
    with pytest.raises(RunError, match=f"the run {NAME} twice"):
        refuse_repeated([one, one])


def test_finds_a_folder_with_another_name(run: Path) -> None:
    (finding,) = findings(load_run(run.rename(run.parent / "other")))
    assert finding == f"context.json: run is {NAME}, but the folder is called other"


AOS, SOA = (layout_case(layout)["case"] for layout in ("aos", "soa"))
LAYOUT = "micro/layout_read/cuda/"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sweep__cases": [SOA]}, f"samples.jsonl: {AOS} is not a case of the sweep"),
        ({"sweep__cases": [AOS, SOA]}, "found 1 of the 2 cases of a complete run"),
        ({"sweep__cases": [AOS, AOS]}, "twice"),
        ({"finished": "2026-01-01T00:00:00Z"}, "before it started"),
        ({"finished": None}, "no end time"),
        ({"backend": "host"}, "on cuda; expected cases on host only"),
        ({"sweep__plan__time_limit": -5}, "time_limit of the plan is -5; expected 0 to 86400"),
        ({"sweep__plan__max_samples": -1}, "max_samples of the plan is -1"),
        ({"sweep__plan__min_samples": "7"}, "min_samples of the plan is '7'"),
        ({"sweep__cases": [AOS, "micro/layout_read/host/layout=aos"]}, "of the sweep: not on cuda"),
        ({"sweep__cases": [AOS, f"{LAYOUT}block_size=0"]}, "block_size=0 is no value of an axis"),
        ({"sweep__cases": [AOS, f"{LAYOUT}layout=heap"]}, "layout=heap is no value of an axis"),
        ({"sweep__cases": [AOS, f"{LAYOUT}colour=red"]}, "colour=red is no value of an axis"),
    ],
)
def test_finds_contradictions_of_a_context(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    assert any(words in finding for finding in findings(load(tmp_path, [layout_case()], **changes)))
    cases = changes.get("sweep__cases", [AOS])
    stopped = load(tmp_path / "stopped", [layout_case()], state="interrupted", sweep__cases=cases)
    assert not any("complete run" in finding for finding in findings(stopped))


jsonschema = pytest.importorskip("jsonschema")


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


def test_stored_runs_are_what_their_script_writes(tmp_path: Path) -> None:
    script = runpy.run_path(f"{DATA / 'make_synthetic.py'}")
    writers = ("small_gpu", "small_host", "counted_gpu")
    for write, stored in zip(writers, (GPU_RUN, HOST_RUN, COUNTED_RUN), strict=True):
        script[write](tmp_path / stored.name)
        for path in stored.iterdir():
            if path.is_file():
                assert (tmp_path / stored.name / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.name)
def test_run_keeps_the_contract_and_meets_the_schemas(run: Path) -> None:
    assert findings(load_run(run)) == ()
    header = json.loads((run / "context.json").read_text(encoding="utf-8"))
    version = header["schema_version"]
    of_context = schema("context.schema.json", version)
    jsonschema.validate(header, of_context, jsonschema.Draft202012Validator)
    validator = jsonschema.Draft202012Validator(schema("samples.schema.json", version))
    for line in (run / "samples.jsonl").read_text(encoding="utf-8").splitlines():
        assert [error.message for error in validator.iter_errors(json.loads(line))] == []
    raw = (run / "measurements.csv").read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert raw.endswith(b"\n")


@each_version
def test_versions_and_columns_are_those_of_the_schemas(version: int) -> None:
    for name in ("context.schema.json", "samples.schema.json"):
        jsonschema.Draft202012Validator.check_schema(schema(name, version))
        assert schema(name, version)["properties"]["schema_version"]["const"] == version
    table = schema("measurements.json", version)
    assert table["schema_version"] == version
    assert tuple(column["name"] for column in table["columns"]) == COLUMNS


def test_the_bounds_are_those_of_the_harness() -> None:
    harness = (SCHEMAS.parents[1] / "harness/record/run_folder.cpp").read_text(encoding="utf-8")
    limits = dict(re.findall(r"(\w+) = \w[\w:]*\{(\d+)\} << \d0;", harness))
    line, file = f"{MOST_OF_LINE >> 20}", f"{MOST_BYTES >> 30}"
    assert limits == {"longest_line": line, "most_samples": file}
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


@pytest.mark.parametrize("status", ["skipped", "failed"])
def test_case_that_was_not_measured_may_leave_out_what_it_lacks(
    status: str, tmp_path: Path
) -> None:
    line = layout_case() | {"status": status, "reason": "why"}
    line = changed(line, dict.fromkeys(("facts", "gates", "measurements"), GONE))
    assert accepts("samples.schema.json", line)
    assert load_run(write_run(tmp_path, [line])).cases[0].reason == "why"
