"""Reading run folders: what is right comes back typed, what is wrong is named in one line."""

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from builders import (
    COUNTED_RUN,
    GPU_RUN,
    NAME,
    case,
    context,
    context2,
    count,
    counts,
    edit,
    layout_case,
    load,
    load2,
    measurement,
    predicted,
    row,
    sealed,
    trace,
    write_context,
    write_run,
)
from strata.run import RunError, frame, load_run, one_line, write_files
from strata.run.load import STEP
from strata.run.validate import findings


def refusal(folder: Path) -> str:
    with pytest.raises(RunError) as caught:
        _ = load_run(folder).table
    message = f"{caught.value}"
    assert len(message.splitlines()) == 1
    assert message.index(": found ") < message.index("; expected ") < message.index("; to fix: ")
    return message


def append(run: Path, text: str | bytes | dict[str, Any]) -> None:
    """Adds text to the samples, or a whole line."""
    text = json.dumps(text) + "\n" if isinstance(text, dict) else text
    with (run / "samples.jsonl").open("ab") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sound run of two cases."""
    return write_run(tmp_path, [layout_case("aos", 100.0), layout_case("soa", 80.0)])


# --- what is right


def test_loads_the_synthetic_run() -> None:
    run = load_run(GPU_RUN)
    assert run.context.device.name == "Synthetic GPU"
    assert run.context.device.facts["sm_count"] == 132
    assert run.context.host.caches[1].bytes == 2 * 1024 * 1024
    assert len(run.cases) == 108
    assert run.table is not None
    assert len(run.table) == len(run.rows) == 1084


def test_row_is_derived_from_the_samples(tmp_path: Path) -> None:
    gates = [
        ("timer", "failed", "3 % apart"),
        ("level", "unverified", ""),
        ("code", "passed", "ok"),
    ]
    params, samples = {"layout": "soa", "fields": "all"}, [7, 1, 5, 3, 2, 6, 4]
    line = case([measurement(samples=samples)], gates=gates, params=params)
    (row,) = load(tmp_path, [line]).rows
    assert (row.value, row.ci_low, row.ci_high) == (4, 1, 7)
    assert (row.minimum, row.maximum, row.samples) == (1, 7, 7)
    assert not row.valid
    assert row.reasons == "timer: 3 % apart; level: unverified"
    assert row.case == "micro/layout_read/cuda/fields=all/layout=soa"


def test_noise_makes_only_its_own_row_invalid(tmp_path: Path) -> None:
    noisy = measurement("grid_time", unit="s", noise="failed")
    rows = load(tmp_path, [case([measurement(), noisy])]).rows
    assert [(row.valid, row.reasons) for row in rows] == [
        (True, ""), (False, "noise: half-width 0.1 %")
    ]  # fmt: skip


def test_unverified_leaves_the_row_valid_and_says_so(tmp_path: Path) -> None:
    (row,) = load(tmp_path, [layout_case(gates=[("level", "unverified", "no counters")])]).rows
    assert (row.valid, row.reasons) == (True, "level: no counters")


def test_later_line_of_a_case_supersedes_the_earlier(tmp_path: Path) -> None:
    failed = layout_case() | {"status": "failed", "reason": "crash", "measurements": []}
    run = load(tmp_path, [failed, layout_case("soa", 1.0), layout_case("aos", 42.0)])
    found = [(case.params["layout"], case.status) for case in run.cases]
    assert found == [("aos", "measured"), ("soa", "measured")]
    assert run.rows[0].value == 42


def test_cases_stand_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    one, two = layout_case("soa"), layout_case("aos")
    run = load(tmp_path, [one, two], sweep__cases=[two["case"], one["case"]])
    assert [case.params["layout"] for case in run.cases] == ["aos", "soa"]


@pytest.mark.parametrize(
    # The last is whole without its line end: the harness measures it again, so no one uses it.
    "torn",
    ['{"schema_version": 1, "ki', '{"a": "\xe2', "[1, NaN", "}", json.dumps(layout_case("aoas"))],
)
def test_torn_last_line_is_ignored(run: Path, torn: str) -> None:
    append(run, torn.encode("latin-1"))
    assert len(load_run(run).cases) == 2


@given(cut=st.integers(min_value=0, max_value=2000))
def test_samples_cut_off_anywhere_stay_readable(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    header = context(state="running", finished=None)
    lines = [layout_case("aos"), layout_case("soa"), layout_case("aoas")]
    run = write_run(tmp_path_factory.mktemp("cut"), lines, header=header, table=False)
    whole = (run / "samples.jsonl").read_bytes()
    (run / "samples.jsonl").write_bytes(whole[:cut])
    assert len(load_run(run).cases) == whole[:cut].count(b"\n")


def test_unfinished_run_needs_no_table(tmp_path: Path) -> None:
    header = context(state="running", finished=None)
    run = load_run(write_run(tmp_path, [layout_case()], header=header, table=False))
    assert run.table is None
    assert len(run.rows) == 1


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    run = load(tmp_path, [layout_case() | {"weather": "fair"}], mood="good", host__name="x")
    assert len(run.rows) == 1


def test_a_line_holds_what_its_checksum_says(tmp_path: Path) -> None:
    run = write_run(tmp_path, [layout_case("aos", 61.0)])
    samples = run / "samples.jsonl"
    line = sealed(samples.read_bytes())
    samples.write_bytes(line)
    assert load_run(run).rows[0].value == 61
    samples.write_bytes(line.replace(b"61.0", b"16.0"))
    assert "does not match its checksum" in refusal(run)


@pytest.mark.parametrize("claimed", [1, 2, 3])
def test_each_line_of_a_run_of_version_3_has_its_checksum(tmp_path: Path, claimed: int) -> None:
    run = write_run(tmp_path, [layout_case()], header=context2(schema_version=3))
    assert len(load_run(run).rows) == 1
    append(run, layout_case("soa") | {"schema_version": claimed})
    assert "samples.jsonl:2: found a line without checksum" in refusal(run)


DECLARED: dict[str, Any] = {
    "suite": "micro",
    "question": "Why?",
    "axes": [{"name": "layout", "meaning": "of a body", "defaults": ["aos"], "choices": ["aos"]}],
    "quantities": [{"name": "warp_read_cycles", "meaning": "cycles of a read"}],
}


def test_a_run_says_what_its_benchmarks_are(tmp_path: Path) -> None:
    run = load2(tmp_path, [layout_case()], benchmarks={"layout_read": DECLARED})
    (one,) = run.context.benchmarks.values()
    assert (one.question, one.axes[0].choices) == ("Why?", ("aos",))
    assert one.quantities[0].name == "warp_read_cycles"


def test_an_older_run_has_the_benchmarks_and_the_ladder_of_before(tmp_path: Path) -> None:
    found = load(tmp_path, [layout_case()]).context
    assert found.benchmarks["layout_read"].suite == "micro"
    rungs = {rung.name: rung for rung in found.rungs}
    assert rungs["tiled"].before == "naive"
    assert {"micro", "nbody"} == {one.suite for one in found.benchmarks.values()}


def test_frame_has_a_column_per_parameter(run: Path) -> None:
    pytest.importorskip("pandas")
    table = frame(load_run(run))
    assert list(table["layout"]) == ["aos", "soa"]
    assert list(table["value"]) == [100.0, 80.0]
    assert "params" not in table.columns


# --- what was counted


def gates(run: Any) -> list[tuple[str, str, str]]:
    (found,) = run.cases
    return [(gate.name, gate.verdict, gate.detail) for gate in found.gates]


OPEN = ("level", "unverified", "level unverified: not counted yet")


def test_loads_a_run_with_counts() -> None:
    run = load_run(COUNTED_RUN)
    assert run.context.counters is not None
    assert run.context.counters.state == "counted"
    assert run.context.counters.quantities[0].metric == "l1tex__t_sectors_op_ld.sum"
    assert {row.provenance for row in run.rows} == {"timed", "counted", "modelled"}
    assert run.table is not None
    assert len(run.table) == len(run.rows)


def test_a_run_of_version_1_has_no_counters(tmp_path: Path) -> None:
    assert load(tmp_path, [layout_case()]).context.counters is None


def test_counts_are_added_behind_what_was_timed(tmp_path: Path) -> None:
    line = layout_case() | {"facts": {"registers": 23, "chip": "timed"}}
    found = counts(line, [count(), predicted()], facts={"overhead": 12, "chip": "counted"})
    run = load2(tmp_path, [line, found])
    assert [(row.quantity, row.provenance) for row in run.rows] == [
        ("warp_read_cycles", "timed"),
        ("sectors_per_read", "counted"),
        ("sectors_per_read", "modelled"),
    ]
    (merged,) = run.cases
    assert merged.facts == {"registers": 23, "chip": "timed", "overhead": 12}
    assert (merged.started, merged.seconds) == ("2026-01-02T03:04:05Z", 0.5)


Decided = tuple[str, str] | None


@pytest.mark.parametrize(
    ("timed", "counted", "merged"),
    [
        (("unverified", "why"), ("passed", "99 %"), ("passed", "99 %")),
        (("unverified", "why"), ("failed", "31 %"), ("failed", "31 %")),
        (("unverified", "why"), ("unverified", "other"), ("unverified", "other")),
        (("not_applicable", ""), ("passed", "99 %"), ("passed", "99 %")),
        (("passed", "timed"), ("passed", "counted"), ("passed", "timed")),
        (("passed", "timed"), ("unverified", "counted"), ("passed", "timed")),
        (("passed", "timed"), ("failed", "counted"), ("failed", "counted")),
        (("failed", "timed"), ("passed", "counted"), ("failed", "timed")),
        (("failed", "timed"), ("failed", "counted"), ("failed", "timed; counted")),
        (None, ("passed", "equal"), ("passed", "equal")),
        (("passed", "timed"), None, ("passed", "timed")),
    ],
)
def test_gates_of_both_phases_become_one(
    tmp_path: Path, timed: Decided, counted: Decided, merged: tuple[str, str]
) -> None:
    line = layout_case(gates=[("level", *timed)] if timed else [])
    found = counts(line, gates=[("level", *counted)] if counted else [])
    assert gates(load2(tmp_path, [line, found])) == [("level", *merged)]


def test_gates_keep_their_order_and_new_ones_come_last(tmp_path: Path) -> None:
    line = layout_case(gates=[OPEN, ("result", "passed", "equal")])
    found = counts(line, gates=[("model", "passed", "equal"), ("level", "passed", "100 %")])
    names = [name for name, _, _ in gates(load2(tmp_path, [line, found]))]
    assert names == ["level", "result", "model"]


def test_a_gate_that_fails_while_counting_makes_the_timings_invalid(tmp_path: Path) -> None:
    line = layout_case(gates=[OPEN])
    found = counts(line, [count()], gates=[("level", "failed", "31 % from L1")])
    rows = load2(tmp_path, [line, found]).rows
    assert [(row.valid, row.reasons) for row in rows] == [(False, "level: 31 % from L1")] * 2


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_counting_that_came_to_nothing_leaves_the_timings_and_says_why(
    tmp_path: Path, status: str
) -> None:
    others = [("result", "passed", "equal"), ("code", "unverified", "")]
    line = layout_case(gates=[OPEN, *others])
    broken: dict[str, Any] = {"status": status, "reason": "busy", "facts": {"x": 1}}
    run = load2(tmp_path, [line, counts(line, gates=[("result", "failed", "")], **broken)])
    why = f"level unverified: counting {status}: busy"
    assert gates(run) == [("level", "unverified", why), *others]
    assert run.cases[0].facts == {}
    (row,) = run.rows
    assert (row.valid, row.reasons) == (True, f"level: {why}; code: unverified")


def test_counting_that_failed_does_not_touch_a_level_that_is_decided(tmp_path: Path) -> None:
    line = layout_case(gates=[("level", "failed", "two warps met")])
    found = counts(line, status="failed", reason="busy")
    assert gates(load2(tmp_path, [line, found])) == [("level", "failed", "two warps met")]


def test_counts_of_a_case_that_was_not_timed_are_ignored(tmp_path: Path) -> None:
    line = layout_case() | {"status": "failed", "reason": "crash", "measurements": []}
    run = load2(tmp_path, [line, counts(line, [count()], gates=[("level", "passed", "")])])
    assert (run.cases[0].status, run.rows, gates(run)) == ("failed", (), [])


def test_counts_belong_to_the_line_before_them(tmp_path: Path) -> None:
    first, again = layout_case(cycles=1.0, gates=[OPEN]), layout_case(cycles=2.0, gates=[OPEN])
    found = counts(first, [count()], gates=[("level", "passed", "")])
    dropped = load2(tmp_path / "a", [first, found, again])
    assert [(row.value, row.provenance) for row in dropped.rows] == [(2.0, "timed")]
    assert gates(dropped) == [OPEN]
    kept = load2(tmp_path / "b", [first, found, again, counts(again, [count(value=9)])])
    assert [row.value for row in kept.rows] == [2.0, 9.0]


def test_the_last_counts_of_a_line_win(tmp_path: Path) -> None:
    line = layout_case(gates=[OPEN])
    broken = counts(line, status="failed", reason="busy")
    last = counts(line, [count(value=7)], gates=[("level", "passed", "")])
    run = load2(tmp_path, [line, broken, last])
    assert run.rows[1].value == 7
    assert gates(run) == [("level", "passed", "")]


def test_a_metric_of_the_chip_may_name_a_quantity_and_a_method(tmp_path: Path) -> None:
    metric = "TriageCompute.sm__inst_executed.sum.per_cycle_active"
    line = layout_case()
    run = load2(tmp_path, [line, counts(line, [count(metric, method=metric)])])
    assert run.rows[1].key == (line["case"], metric, metric)
    with pytest.raises(RunError, match=r"found 'TriageCompute.sm__.*expected text like"):
        load(tmp_path / "old", [case([measurement(metric)])])


def test_a_trace_follows_the_counts_and_judges_its_own_rows_alone(tmp_path: Path) -> None:
    line = layout_case(extra=[count("own", 1.0, method="x")]) | {"facts": {STEP: 0.5}}
    phase = measurement("phase_idle", [0.25], unit="s", method="cupti_activity")
    counted, fine = counts(line, [count()]), trace(line, [phase], gates=[("phases", "passed", "1")])
    for order in ([line, counted, fine], [line, fine, counted]):
        run = load2(tmp_path / order[1]["kind"], order)
        assert [row.quantity for row in run.rows][-1] == "phase_idle"
        assert len(run.rows) == 4
        assert all(row.valid for row in run.rows)
        assert [gate.name for gate in run.cases[0].gates] == ["phases"]
        assert findings(run) == ()
    wrong = trace(line, [phase], gates=[("phases", "failed", "1.2"), ("model", "failed", "two")])
    run = load2(tmp_path / "wrong", [line, fine, wrong])
    assert [row.valid for row in run.rows] == [True, True, False]
    assert run.rows[-1].reasons == "noise: phases: 1.2; model: two"
    assert run.cases[0].gates == ()


def test_a_trace_ends_when_its_case_is_timed_again_or_says_nothing(tmp_path: Path) -> None:
    line = layout_case() | {"facts": {STEP: 0.5}}
    found = trace(line, [measurement("phase_idle")])
    skipped = trace(line, status="skipped", reason="there is no CUPTI")
    for name, lines in {"again": [line, found, line], "none": [line, skipped]}.items():
        run = load2(tmp_path / name, lines)
        assert [row.quantity for row in run.rows] == ["warp_read_cycles"]
        told = "phases: tracing skipped: there is no CUPTI" if name == "none" else ""
        assert [row.reasons for row in run.rows] == [told]
        assert run.rows[0].valid


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema_version": 2}, 'found "trace"; expected case or counts as kind'),
        ({"schema_version": 1}, 'found "trace"; expected case as kind'),
        ({"visit": 2}, "found visit 2 of trace"),
        (
            {"measurements": [measurement("phase_idle", provenance="reported")]},
            "phase_idle in a line of trace; expected timed, counted or modelled quantities",
        ),
        ({"measurements": [measurement()]}, "warp_read_cycles by clock64_slope twice"),
    ],
)
def test_refuses_what_is_no_trace(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    line = layout_case() | {"facts": {STEP: 0.5}}
    with pytest.raises(RunError, match=re.escape(words)):
        load2(tmp_path, [line, trace(line) | changes])


def test_counts_without_their_case_are_ignored(tmp_path: Path) -> None:
    one, other = layout_case("aos"), layout_case("soa")
    run = load2(tmp_path, [counts(one, [count()]), counts(other, [count()]), one])
    assert [(row.case, row.provenance) for row in run.rows] == [(one["case"], "timed")]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (counts(layout_case(), [predicted()]), "found sectors_per_read by coalescing_model twice"),
        (
            counts(layout_case(), [measurement("grid_time", unit="s")]),
            "found grid_time in a line of counts; expected counted or modelled",
        ),
        (counts(layout_case()) | {"schema_version": 1}, 'found "counts"; expected case as kind'),
    ],
)
def test_refuses_wrong_counts(tmp_path: Path, found: dict[str, Any], words: str) -> None:
    run = write_run(tmp_path, [layout_case(extra=[predicted()])], header=context2())
    append(run, found)
    assert words in refusal(run)


# --- what is wrong: samples.jsonl


AOAS = json.dumps(layout_case("aoas"))
NO_RECORDS: dict[str, tuple[str | bytes, str]] = {
    **{
        word: (AOAS.replace("100.0", word), f"found {word}; expected finite numbers only")
        for word in ("NaN", "Infinity", "-Infinity", "1e999")
    },
    "endless integer": (AOAS.replace("100.0", "9" * 400), "found 999"),
    "broken": ('{"schema_version": 1,\n' + AOAS, "found broken JSON"),
    "empty": ("", "found broken JSON"),
    "endless nesting": ("[" * 100_000, "found "),
    "no UTF-8": (b'{"schema_version": "\xff"}', "found byte 0xff; expected UTF-8 text"),
    **{
        f"key twice {gap!r}": (
            AOAS.replace('"seconds"', f'"seconds"{gap}: 0.5, "seconds"'),
            "found the key 'seconds' twice",
        )
        for gap in ("", " ", "\t", "\r")
    },
    **{
        f"version {version}": (
            AOAS.replace('"schema_version": 1', f'"schema_version": {version}'),
            f"found schema version {version}; expected schema version 1 or 2 or 3; ",
        )
        for version in (0, 4, 99)
    },
}


@pytest.mark.parametrize("name", NO_RECORDS)
def test_refuses_what_is_no_record(run: Path, name: str) -> None:
    text, words = NO_RECORDS[name]
    append(run, text)
    append(run, "\n")
    message = refusal(run)
    assert f"samples.jsonl:3: {words}" in message
    assert "delete that line" in message or name.startswith("version")


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(json.dumps(layout_case("aoas")))
    change(line)
    return line


def first(**changes: Any) -> Callable[[dict[str, Any]], object]:
    """Changes the first measurement of a line."""
    return lambda line: line["measurements"][0].update(changes)


def gates_of(*gates: Any) -> Callable[[dict[str, Any]], object]:
    return lambda line: line.update(
        gates=[{"gate": "g", "verdict": "passed", "detail": ""}, *gates]
    )


A_WORD = "a word of results/schema"
WRONG_LINES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no status": (lambda line: line.pop("status"), "found no status"),
    "status": (lambda line: line.update(status="done"), f'"done"; expected {A_WORD} as status'),
    "kind": (lambda line: line.update(kind="note"), f'"note"; expected {A_WORD} as kind'),
    "params": (lambda line: line.update(params={"a b": "c"}), "found 'a b'; expected text like"),
    "param type": (lambda line: line.update(params={"w": 3}), "found 3; expected str as params.w"),
    "id": (lambda line: line.update(case="micro/x"), "as its parameters require"),
    "started": (lambda line: line.update(started="yesterday"), "as started"),
    "seconds": (lambda line: line.update(seconds=-1), "found -1; expected float >= 0.0 as seconds"),
    "no samples": (first(samples=[]), "array of length >= 1 as measurements[0].samples"),
    "no array": (first(samples={"0": 1.5}), "expected array as measurements[0].samples"),
    "sample": (first(samples=[1.5, "2"]), '"2"; expected float as measurements[0].samples[1]'),
    "null": (first(samples=[1, None]), "null; expected float as measurements[0].samples[1]"),
    "nested": (first(samples=[[1.5]]), "[1.5]; expected float as measurements[0].samples[0]"),
    "flag for number": (first(samples=[True]), "true; expected float as measurements[0]"),
    "unit": (first(unit=["cycle"]), "expected str as measurements[0].unit"),
    "quantity": (first(quantity="Has Space"), "found 'Has Space'; expected text like"),
    "provenance": (first(provenance="guessed"), "as measurements[0].provenance"),
    "noise as text": (first(noise="passed"), "expected object as measurements[0].noise"),
    "noise": (
        first(noise={"verdict": "fine", "detail": ""}),
        f'found "fine"; expected {A_WORD} as measurements[0].noise.verdict',
    ),
    "no detail": (first(noise={"verdict": "passed"}), "found no measurements[0].noise.detail"),
    "no noise": (lambda line: line["measurements"][0].pop("noise"), "no measurements[0].noise"),
    "gate as text": (gates_of("text"), 'found "text"; expected object as gates[1]'),
    "gate as array": (gates_of(["g", "passed", ""]), "expected object as gates[1]"),
    "no verdict": (gates_of({"gate": "g"}), "found no gates[1].verdict"),
    "verdict": (gates_of({"gate": "g", "verdict": "ok", "detail": ""}), "as gates[1].verdict"),
    "twice": (
        lambda line: line.update(measurements=line["measurements"] * 2),
        "warp_read_cycles by clock64_slope twice",
    ),
    "no reason": (
        lambda line: line.update(status="skipped", measurements=[]),
        "a skipped case without a reason",
    ),
    "measured failure": (
        lambda line: line.update(status="failed", reason="crash"),
        "measurements of a failed case",
    ),
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_refuses_a_wrong_line_naming_its_place(run: Path, name: str) -> None:
    change, words = WRONG_LINES[name]
    append(run, changed(change))
    message = refusal(run)
    assert "samples.jsonl:3" in message
    assert words in message


def test_message_is_one_line_whatever_the_file_holds(run: Path) -> None:
    append(run, layout_case("aoas") | {"status": "two\nlines\u2028and\u0085more\x1b[31m"})
    assert "\x1b" not in refusal(run)


@given(st.text())
def test_one_line_never_breaks(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert one_line(text).translate({0xA0: "", 0x202F: ""}).isprintable()


# --- what is wrong: context.json and the folder


@pytest.mark.parametrize("name", ["context.json", "samples.jsonl", "measurements.csv"])
def test_refuses_a_run_with_a_file_missing(run: Path, name: str) -> None:
    (run / name).unlink()
    assert f"{NAME}/{name}: found no such file" in refusal(run)


def pack(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


def test_reads_a_packed_copy_as_the_run_itself(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy" / NAME))
    for name in ("samples.jsonl", "measurements.csv"):
        pack(copy / name)
    packed = load_run(copy)
    assert packed.rows == load_run(run).rows
    assert packed.table is packed.rows


def test_refuses_a_file_beside_its_packed_form(run: Path) -> None:
    pack(run / "samples.jsonl")
    (run / "samples.jsonl").touch()
    assert "samples.jsonl.gz: found samples.jsonl beside it" in refusal(run)


@pytest.mark.parametrize("name", ["samples.jsonl", "measurements.csv"])
@pytest.mark.parametrize("keep", [slice(-20), slice(0)], ids=["cut off", "nothing"])
def test_refuses_a_packed_file_that_is_none(run: Path, name: str, keep: slice) -> None:
    packed = pack(run / name)
    packed.write_bytes(packed.read_bytes()[keep] or b"run,device")
    assert f"{name}.gz: found " in (message := refusal(run))
    assert "expected a complete gzip file" in message


def test_refuses_a_folder_in_place_of_a_file(run: Path) -> None:
    (run / "samples.jsonl").unlink()
    (run / "samples.jsonl").mkdir()
    assert "samples.jsonl: found" in refusal(run)


def test_refuses_what_is_no_folder(run: Path, tmp_path: Path) -> None:
    assert "found nothing there" in refusal(tmp_path / "nowhere")
    assert "found a file" in refusal(run / "context.json")


@pytest.mark.parametrize(
    ("make", "changes", "words"),
    [
        (context, {"schema_version": 7}, "found schema version 7"),
        (context, {"state": "done"}, f"{A_WORD} as state"),
        (context, {"strata__commit": "abc"}, "as strata.commit"),
        (context, {"strata__dirty": "no"}, "bool as strata.dirty"),
        (context, {"device__slug": "Has Space"}, "as device.slug"),
        (context, {"host__cores": 1.5}, "as host.cores"),
        (context, {"host__caches": [{"level": 1}]}, "no host.caches[0].type"),
        (context, {"sweep__cases": [1]}, "found 1; expected str as sweep.cases[0]"),
        (context, {"clocks": []}, "expected object | null as clocks"),
        (context, {"device": None}, "found null; expected object as device"),
        (context2, {"benchmarks": {"a": {}}}, "found no benchmarks"),
        (context2, {"benchmarks": []}, "found []; expected object as benchmarks"),
        (context2, {"rungs": [{"name": "tiled"}]}, "found no rungs[0].backend"),
        (context2, {"counters": None}, "found null; expected an object as counters"),
        (context2, {"counters__state": "maybe"}, f'"maybe"; expected {A_WORD} as counters.state'),
        (context2, {"counters__asked": "auto"}, '"auto"; expected array as counters.asked'),
        (context2, {"counters__passes": -1}, "found -1; expected int >= 0 as counters.passes"),
        (context2, {"counters__quantities": [{}]}, "no counters.quantities[0].name"),
        (context2, {"counters__counting_seconds": "1"}, "float as counters.counting_seconds"),
    ],
)
def test_refuses_a_wrong_context(
    run: Path, make: Callable[..., dict[str, Any]], changes: dict[str, Any], words: str
) -> None:
    write_context(run, make(**changes))
    message = refusal(run)
    assert "context.json: " in message
    assert words in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "context.json: found []; expected a JSON object"),
        ('{\n "schema_version": 1,\n oops\n}', "context.json:3: found broken JSON"),
    ],
)
def test_refuses_a_context_that_is_no_object(run: Path, text: str, words: str) -> None:
    (run / "context.json").write_text(text)
    assert words in refusal(run)


def test_clocks_may_be_null(tmp_path: Path) -> None:
    assert load(tmp_path, [layout_case()], clocks=None).context.clocks_before == {}


# --- what is wrong: measurements.csv


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("value,", "", "found the columns 'run,device"),
        ("value,", "value,extra,", "method,value,extra,ci_low"),
        ("ci_low,ci_high", "ci_high,ci_low", "expected the columns 'run,device"),
        (",100.0,", ",nan,", "found nan as value"),
        (",100.0,", ",inf,", "found inf as value"),
        (",100.0,", ",1e999,", "found inf as value"),
        (",100.0,", ",1_0,", "invalid value '1_0'"),
        (",100.0,", ',"100,0",', "invalid value '100,0'"),
        (",true,", ",yes,", "invalid value 'yes'"),
        (",1,true", ",one,true", "invalid value 'one'"),
        (",1,true", ",1.0,true", "invalid value '1.0'"),
        (",timed,", ",", "Expected 19 columns, got 18"),
        ("layout=soa", "layout=aos", "of micro/layout_read"),
        ("test-device,cuda", '"test-device,cuda', "found Expected 19 columns"),
    ],
)
def test_refuses_a_wrong_table(run: Path, old: str, new: str, words: str) -> None:
    edit(run / "measurements.csv", old, new)
    if words.startswith("of micro"):  # the second row becomes the first, but for its id
        edit(run / "measurements.csv", "layout=soa", "layout=aos")
        words = "again (first in line 2)"
    message = refusal(run)
    assert "measurements.csv:" in message
    assert words in message


def test_refuses_a_table_that_is_none(run: Path) -> None:
    path = run / "measurements.csv"
    raw = path.read_bytes()
    path.write_bytes(raw + raw.splitlines(keepends=True)[1].replace(b"timed", b"tim\xfe"))
    assert "measurements.csv:4: found " in refusal(run)
    path.write_bytes(b"")
    assert "found the columns ''" in refusal(run)


# --- writing


def test_files_are_written_with_the_folders_that_they_need(tmp_path: Path) -> None:
    write_files(tmp_path / "out", {"page.html": b"1", "data/a.csv": b"2"})
    write_files(tmp_path / "out", {"page.html": b"3"})
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.*")}
    assert written == {"page.html": b"3", "a.csv": b"2"}


def test_whole_numbers_are_samples_like_others(tmp_path: Path) -> None:
    run = load(tmp_path, [layout_case("aos", [3, 1, 2]), layout_case("soa", [3, 1.5, 2])])
    assert [row.taken for row in run.rows] == [(3.0, 1.0, 2.0), (3.0, 1.5, 2.0)]
    assert all(type(sample) is float for row in run.rows for sample in row.taken)


def test_samples_whose_sum_is_beyond_the_range_are_finite(tmp_path: Path) -> None:
    run = load(tmp_path, [layout_case("aos"), layout_case("soa", [1.7e308] * 3)])
    assert run.rows[1].maximum == 1.7e308


def test_a_known_metric_of_version_2_is_none_of_version_1(tmp_path: Path) -> None:
    line = layout_case()
    found = counts(line, [count("sm__cycles.sum")])
    run = write_run(tmp_path, [line, found], header=context2())
    append(run, layout_case("soa", extra=[count("sm__cycles.sum")]))
    assert "found 'sm__cycles.sum'; expected text like" in refusal(run)


def test_a_table_that_says_what_the_samples_give_is_theirs(run: Path) -> None:
    loaded = load_run(run)
    assert loaded.table is loaded.rows
    edit(run / "measurements.csv", ",100.0,", ",100.00000000000001,")
    changed = load_run(run)
    assert changed.table is not None
    assert [row.value for row in changed.table] == [100.00000000000001, 80.0]


@pytest.mark.parametrize(("old", "new"), [(",100.0,", ",1e2,"), (",100.0,", ",100,")])
def test_a_number_may_be_written_in_other_ways(run: Path, old: str, new: str) -> None:
    edit(run / "measurements.csv", old, new)
    loaded = load_run(run)
    assert loaded.table is loaded.rows


@pytest.mark.parametrize(
    ("low", "high", "interval"), [(99.5, 100.5, (99.5, 100.5)), (None, None, (99, 101))]
)
def test_a_row_of_few_samples_has_their_range_for_an_interval(
    low: float | None, high: float | None, interval: tuple[float, float]
) -> None:
    one = row("layout_read", "warp_read_cycles", 100)
    assert structs.replace(one, ci_low=low, ci_high=high).interval == interval


def visit(number: int, cycles: list[float], noise: str = "passed", **changes: Any) -> Any:
    limit = measurement("limit", [9.0], method="driver", provenance="modelled")
    seen = measurement(samples=cycles, noise=noise, detail="as wide")
    gates = changes.pop("gates", ())
    return case([seen, limit], gates=gates, **changes) | {"schema_version": 2, "visit": number}


FIRST, SECOND = [1.0, 2, 3, 4, 5, 6], [11.0, 12, 13, 14, 15, 16, 17]


def test_later_visits_add_their_samples_and_what_changes_between_them(tmp_path: Path) -> None:
    second = visit(2, SECOND, seconds=2)
    run = load2(tmp_path, [visit(1, FIRST, seconds=1), second, visit(2, [0.0])])
    row, limit = run.rows
    assert (row.value, row.interval, row.samples) == ((3.5 + 14) / 2, (1, 17), 13)
    assert row.taken == (*FIRST, *SECOND)
    assert (row.minimum, row.maximum, run.cases[0].seconds) == (1, 17, 3)
    assert limit.samples == 1, "no visit changes a model"
    assert load2(tmp_path / "few", [visit(1, FIRST), visit(2, [1.0])]).rows[0].ci_low is None


def test_what_failed_on_one_visit_is_failed(tmp_path: Path) -> None:
    first = visit(1, FIRST, gates=[("timer", "passed", "a"), ("clock", "failed", "b")])
    failed = [("timer", "failed", "c"), ("clock", "passed", "d"), ("code", "failed", "e")]
    run = load2(tmp_path, [first, visit(2, SECOND, "failed", gates=failed)])
    assert gates(run) == [
        ("timer", "failed", "visit 2: c"),
        ("clock", "failed", "b"),
        ("code", "failed", "e"),
    ]
    assert run.rows[0].reasons.endswith("noise: visit 2: as wide")
    assert "noise" not in run.rows[1].reasons


def test_visits_belong_to_the_first_before_them_and_end_its_counts(tmp_path: Path) -> None:
    first, second = visit(1, FIRST), visit(2, SECOND)
    broken = second | {"status": "failed", "reason": "busy", "measurements": []}
    found = counts(case(), [count()])

    def rows(name: str, *lines: Any) -> list[tuple[str, int]]:
        return [(row.quantity, row.samples) for row in load2(tmp_path / name, lines).rows]

    both = [("warp_read_cycles", 13), ("limit", 1)]
    counted = ("sectors_per_read", 1)
    assert rows("counted", first, second, found, found) == [*both, counted]
    assert rows("after", first, found, second) == both
    assert rows("broken", first, broken, found) == [("warp_read_cycles", 6), ("limit", 1), counted]
    assert rows("anew", first, second, first) == [("warp_read_cycles", 6), ("limit", 1)]
    assert rows("orphan", second) == []


def test_counts_are_of_no_visit(run: Path) -> None:
    append(run, counts(layout_case("soa"), [count()], visit=2))
    assert "visit 2 of counts" in refusal(run)
