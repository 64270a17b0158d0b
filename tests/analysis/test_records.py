"""Reading run folders: what is right comes back typed, what is wrong is named in one line."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import (
    COUNTED_RUN,
    GPU_RUN,
    NAME,
    case,
    context,
    context2,
    count,
    counts,
    layout_case,
    load,
    load2,
    measurement,
    predicted,
    write_context,
    write_run,
)
from strata.run import RunError, frame, load_run, one_line


def refusal(folder: Path) -> str:
    with pytest.raises(RunError) as caught:
        _ = load_run(folder).table
    message = f"{caught.value}"
    assert len(message.splitlines()) == 1
    assert "; expected " in message
    assert "; to mend: " in message
    return message


def append(run: Path, text: str | bytes) -> None:
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
    line = case(
        [measurement(samples=[7, 1, 5, 3, 2, 6, 4])],
        gates=[
            ("timer", "failed", "3 % apart"),
            ("level", "unverified", ""),
            ("code", "passed", "ok"),
        ],
        params={"layout": "soa", "fields": "all"},
    )
    (row,) = load(tmp_path, [line]).rows
    assert (row.value, row.ci_low, row.ci_high) == (4, 1, 7)
    assert (row.minimum, row.maximum, row.samples) == (1, 7, 7)
    assert not row.valid
    assert row.reasons == "timer: 3 % apart; level: unverified"
    assert row.case == "micro/layout_read/cuda/fields=all/layout=soa"


def test_noise_makes_only_its_own_row_invalid(tmp_path: Path) -> None:
    noisy = measurement("grid_time", unit="s", noise="failed")
    rows = load(tmp_path, [case([measurement(), noisy])]).rows
    assert [row.valid for row in rows] == [True, False]
    assert rows[1].reasons == "noise: half-width 0.1 %"


def test_unverified_leaves_the_row_valid_and_says_so(tmp_path: Path) -> None:
    line = layout_case(gates=[("level", "unverified", "no counters")])
    (row,) = load(tmp_path, [line]).rows
    assert row.valid
    assert row.reasons == "level: no counters"


def test_later_line_of_a_case_supersedes_the_earlier(tmp_path: Path) -> None:
    failed = layout_case(status="failed") | {
        "status": "failed",
        "reason": "crash",
        "measurements": [],
    }
    failed["case"] = layout_case()["case"]
    failed["params"] = layout_case()["params"]
    run = load(tmp_path, [failed, layout_case("soa", 1.0), layout_case("aos", 42.0)])
    assert [(case.params["layout"], case.status) for case in run.cases] == [
        ("aos", "measured"),
        ("soa", "measured"),
    ]
    assert run.rows[0].value == 42


def test_cases_stand_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    one, two = layout_case("soa"), layout_case("aos")
    header = context()
    header["sweep"]["cases"] = [two["case"], one["case"]]
    run = load_run(write_run(tmp_path, [one, two], header=header))
    assert [case.params["layout"] for case in run.cases] == ["aos", "soa"]


@pytest.mark.parametrize("torn", ['{"schema_version": 1, "ki', '{"a": "\xe2', "[1, NaN", "}"])
def test_torn_last_line_is_ignored(run: Path, torn: str) -> None:
    append(run, torn.encode("latin-1"))
    assert len(load_run(run).cases) == 2


def test_whole_object_without_its_line_end_counts_as_torn(run: Path) -> None:
    append(run, json.dumps(layout_case("aoas")))  # the harness measures it again, so no one uses it
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


@pytest.mark.parametrize(
    "changes", [{"benchmarks": {"a": {}}}, {"benchmarks": []}, {"rungs": [{"name": "tiled"}]}]
)
def test_refuses_wrong_benchmarks_and_rungs(run: Path, changes: dict[str, Any]) -> None:
    write_context(run, context2(**changes))
    assert "context.json: found " in refusal(run)


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
    (merged,) = load2(tmp_path, [line, found]).cases
    assert [(m.quantity, m.provenance) for m in merged.measurements] == [
        ("warp_read_cycles", "timed"),
        ("sectors_per_read", "counted"),
        ("sectors_per_read", "modelled"),
    ]
    assert merged.facts == {"registers": 23, "chip": "timed", "overhead": 12}
    assert (merged.started, merged.seconds) == ("2026-01-02T03:04:05Z", 0.5)


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
    tmp_path: Path,
    timed: tuple[str, str] | None,
    counted: tuple[str, str] | None,
    merged: tuple[str, str],
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
    line = layout_case(gates=[OPEN, ("result", "passed", "equal"), ("code", "unverified", "")])
    found = counts(
        line, status=status, reason="busy", facts={"x": 1}, gates=[("result", "failed", "")]
    )
    run = load2(tmp_path, [line, found])
    why = f"level unverified: counting {status}: busy"
    assert gates(run) == [
        ("level", "unverified", why),
        ("result", "passed", "equal"),
        ("code", "unverified", ""),
    ]
    assert run.cases[0].facts == {}
    assert [(row.valid, row.reasons) for row in run.rows] == [
        (True, f"level: {why}; code: unverified")
    ]


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
    run = load2(
        tmp_path, [line, broken, counts(line, [count(value=7)], gates=[("level", "passed", "")])]
    )
    assert run.rows[1].value == 7
    assert gates(run) == [("level", "passed", "")]


def test_a_metric_of_the_chip_may_name_a_quantity_and_a_method(tmp_path: Path) -> None:
    metric = "TriageCompute.sm__inst_executed.sum.per_cycle_active"
    line = layout_case()
    run = load2(tmp_path, [line, counts(line, [count(metric, method=metric)])])
    assert run.rows[1].key == (line["case"], metric, metric)
    with pytest.raises(RunError, match=r"found 'TriageCompute.sm__.*expected text like"):
        load(tmp_path / "old", [case([measurement(metric)])])


def test_counts_without_their_case_are_ignored(tmp_path: Path) -> None:
    one, other = layout_case("aos"), layout_case("soa")
    run = load2(tmp_path, [counts(one, [count()]), counts(other, [count()]), one])
    assert [(row.case, row.provenance) for row in run.rows] == [(one["case"], "timed")]


def test_refuses_counts_that_a_case_already_has(tmp_path: Path) -> None:
    line = layout_case(extra=[predicted()])
    run = write_run(tmp_path, [line], header=context2())
    append(run, json.dumps(counts(line, [predicted()])) + "\n")
    assert "sectors_per_read by coalescing_model twice" in refusal(run)


def test_refuses_a_time_that_was_taken_under_a_profiler(tmp_path: Path) -> None:
    line = layout_case()
    run = write_run(tmp_path, [line], header=context2())
    append(run, json.dumps(counts(line, [measurement("grid_time", unit="s")])) + "\n")
    assert "found grid_time in a line of counts; expected counted or modelled" in refusal(run)


def test_refuses_counts_in_version_1(run: Path) -> None:
    append(run, json.dumps(counts(layout_case("aos")) | {"schema_version": 1}) + "\n")
    assert 'found "counts"; expected case as kind' in refusal(run)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counters": None}, "an object as counters"),
        (
            {"counters__state": "maybe"},
            'found "maybe"; expected a word of results/schema as counters.state',
        ),
        ({"counters__asked": "auto"}, 'found "auto"; expected array as counters.asked'),
        ({"counters__passes": -1}, "found -1; expected int >= 0 as counters.passes"),
        ({"counters__quantities": [{}]}, "no counters.quantities[0].name"),
        ({"counters__counting_seconds": "1"}, "expected float as counters.counting_seconds"),
    ],
)
def test_refuses_wrong_counters_in_the_context(
    run: Path, changes: dict[str, Any], words: str
) -> None:
    write_context(run, context2(**changes))
    assert words in refusal(run)


# --- what is wrong: samples.jsonl


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_refuses_what_json_has_no_word_for(run: Path, word: str) -> None:
    append(run, json.dumps(layout_case("aoas")).replace("100.0", word) + "\n")
    message = refusal(run)
    assert f"samples.jsonl:3: found {word}" in message
    assert "finite" in message


def test_refuses_a_number_beyond_the_range(run: Path) -> None:
    append(run, json.dumps(layout_case("aoas")).replace("100.0", "1e999") + "\n")
    assert "samples.jsonl:3: found 1e999; expected finite numbers only" in refusal(run)


def test_refuses_an_endless_integer(run: Path) -> None:
    append(run, json.dumps(layout_case("aoas")).replace("100.0", "9" * 400) + "\n")
    assert "samples.jsonl:3: found 999" in refusal(run)


def test_refuses_broken_json_in_the_middle(run: Path) -> None:
    append(run, '{"schema_version": 1,\n' + json.dumps(layout_case("aoas")) + "\n")
    message = refusal(run)
    assert "samples.jsonl:3: found broken JSON" in message
    assert "delete that line" in message


def test_refuses_an_empty_line(run: Path) -> None:
    append(run, "\n")
    assert "samples.jsonl:3: found broken JSON" in refusal(run)


def test_refuses_nesting_without_end(run: Path) -> None:
    append(run, "[" * 100_000 + "\n")
    assert "samples.jsonl:3: found" in refusal(run)


def test_refuses_invalid_utf8(run: Path) -> None:
    append(run, b'{"schema_version": "\xff"}\n')
    message = refusal(run)
    assert "samples.jsonl:3: found byte 0xff" in message
    assert "UTF-8" in message


def test_refuses_a_key_twice(run: Path) -> None:
    append(run, '{"schema_version": 1, "schema_version": 1}\n')
    assert "the key 'schema_version' twice" in refusal(run)


@pytest.mark.parametrize("version", [0, 3, 99])
def test_refuses_an_unknown_version_naming_it(run: Path, version: int) -> None:
    append(run, json.dumps(layout_case("aoas") | {"schema_version": version}) + "\n")
    message = refusal(run)
    assert f"found schema version {version}; expected schema version 1 or 2; " in message


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(json.dumps(layout_case("aoas")))
    change(line)
    return line


WRONG_LINES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no status": (lambda line: line.pop("status"), "found no status"),
    "status": (
        lambda line: line.update(status="done"),
        'found "done"; expected a word of results/schema as status',
    ),
    "kind": (
        lambda line: line.update(kind="note"),
        'found "note"; expected a word of results/schema as kind',
    ),
    "params": (lambda line: line.update(params={"a b": "c"}), "found 'a b'; expected text like"),
    "param type": (
        lambda line: line.update(params={"warps": 3}),
        '{"warps": 3}; expected str as params',
    ),
    "id": (lambda line: line.update(case="micro/x"), "as its parameters say"),
    "started": (lambda line: line.update(started="yesterday"), "as started"),
    "seconds": (lambda line: line.update(seconds=-1), "found -1; expected float >= 0.0 as seconds"),
    "no samples": (
        lambda line: line["measurements"][0].update(samples=[]),
        "array of length >= 1 as measurements[0].samples",
    ),
    "sample": (
        lambda line: line["measurements"][0].update(samples=[1, "2"]),
        "measurements[0].samples[1]",
    ),
    "flag for number": (
        lambda line: line["measurements"][0].update(samples=[True]),
        "measurements[0].samples[0]",
    ),
    "noise": (lambda line: line["measurements"][0].pop("noise"), "no measurements[0].noise"),
    "verdict": (
        lambda line: line.update(gates=[{"gate": "g", "verdict": "ok", "detail": ""}]),
        "as gates[0].verdict",
    ),
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
    append(run, json.dumps(changed(change)) + "\n")
    message = refusal(run)
    assert "samples.jsonl:3" in message
    assert words in message


def test_message_is_one_line_whatever_the_file_holds(run: Path) -> None:
    nasty = "two\nlines\u2028and\u0085more\x1b[31m"
    append(run, json.dumps(layout_case("aoas") | {"status": nasty}) + "\n")
    assert "\x1b" not in refusal(run)


@given(st.text())
def test_one_line_never_breaks(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert one_line(text).isprintable()


# --- what is wrong: context.json and the folder


@pytest.mark.parametrize("name", ["context.json", "samples.jsonl", "measurements.csv"])
def test_refuses_a_run_with_a_file_missing(run: Path, name: str) -> None:
    (run / name).unlink()
    message = refusal(run)
    assert f"{NAME}/{name}: found no such file" in message


def pack(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


def test_reads_packed_files_as_it_reads_plain_ones(run: Path) -> None:
    plain = load_run(run)
    pack(run / "samples.jsonl")
    pack(run / "measurements.csv")
    packed = load_run(run)
    assert packed.rows == plain.rows
    assert packed.table == plain.table
    assert packed.table is not None


def test_refuses_a_file_beside_its_packed_form(run: Path) -> None:
    text = (run / "samples.jsonl").read_bytes()
    pack(run / "samples.jsonl")
    (run / "samples.jsonl").write_bytes(text)
    assert "samples.jsonl.gz: found samples.jsonl beside it" in refusal(run)


def test_refuses_a_packed_file_that_is_cut_off(run: Path) -> None:
    packed = pack(run / "samples.jsonl")
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "expected a whole gzip file" in refusal(run)


def test_refuses_a_packed_file_that_is_none(run: Path) -> None:
    pack(run / "measurements.csv").write_bytes(b"run,device")
    assert "expected a whole gzip file" in refusal(run)


def test_refuses_a_folder_in_place_of_a_file(run: Path) -> None:
    (run / "samples.jsonl").unlink()
    (run / "samples.jsonl").mkdir()
    assert "samples.jsonl: found" in refusal(run)


def test_refuses_what_is_no_folder(run: Path, tmp_path: Path) -> None:
    assert "found nothing there" in refusal(tmp_path / "nowhere")
    assert "found a file" in refusal(run / "context.json")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema_version": 7}, "found schema version 7"),
        ({"state": "done"}, "as state"),
        ({"strata__commit": "abc"}, "as strata.commit"),
        ({"strata__dirty": "no"}, "bool as strata.dirty"),
        ({"device__slug": "Has Space"}, "as device.slug"),
        ({"host__cores": 1.5}, "as host.cores"),
        ({"host__caches": [{"level": 1}]}, "no host.caches[0].type"),
        ({"sweep__cases": [1]}, "found 1; expected str as sweep.cases[0]"),
        ({"clocks": []}, "expected object | null as clocks"),
        ({"device": None}, "found null; expected object as device"),
    ],
)
def test_refuses_a_wrong_context(run: Path, changes: dict[str, Any], words: str) -> None:
    write_context(run, context(**changes))
    message = refusal(run)
    assert "context.json" in message
    assert words in message


def test_refuses_a_context_that_is_no_object(run: Path) -> None:
    (run / "context.json").write_text("[]")
    assert "expected a JSON object" in refusal(run)


def test_names_the_line_of_broken_json_in_the_context(run: Path) -> None:
    (run / "context.json").write_text('{\n "schema_version": 1,\n oops\n}')
    assert "context.json:3: found broken JSON" in refusal(run)


def test_clocks_may_be_null(tmp_path: Path) -> None:
    assert load(tmp_path, [layout_case()], clocks=None).context.clocks_before == {}


# --- what is wrong: measurements.csv


def edit_table(run: Path, old: str, new: str) -> None:
    path = run / "measurements.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


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
        (",timed,", ",", "Expected 19 columns, got 18"),
        ("layout=soa", "layout=aos", "of micro/layout_read"),
        ("test-device,cuda", '"test-device,cuda', "found Expected 19 columns"),
    ],
)
def test_refuses_a_wrong_table(run: Path, old: str, new: str, words: str) -> None:
    edit_table(run, old, new)
    if words.startswith("of micro"):  # the second row becomes the first, but for its id
        edit_table(run, "layout=soa", "layout=aos")
        words = "again (first in line 2)"
    message = refusal(run)
    assert "measurements.csv:" in message
    assert words in message


def test_refuses_invalid_utf8_in_the_table(run: Path) -> None:
    path = run / "measurements.csv"
    raw = path.read_bytes()
    path.write_bytes(raw + raw.splitlines(keepends=True)[1].replace(b"timed", b"tim\xfe"))
    assert "measurements.csv:4: found " in refusal(run)


def test_refuses_an_empty_table(run: Path) -> None:
    (run / "measurements.csv").write_text("")
    assert "found the columns ''" in refusal(run)


def test_reads_a_copy_of_the_folder_the_same(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / NAME
    shutil.copytree(run, copy)
    assert load_run(copy).rows == load_run(run).rows


# --- what was seen before is checked again


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([], "array of length >= 1 as measurements[0].samples"),
        ([True], "found true; expected float as measurements[0].samples[0]"),
        ([1.5, "2"], 'found "2"; expected float as measurements[0].samples[1]'),
        ([1, None], "found null; expected float as measurements[0].samples[1]"),
        ({"0": 1.5}, "expected array as measurements[0].samples"),
        ([10**400], "expected finite numbers only"),
        ([[1.5]], "found [1.5]; expected float as measurements[0].samples[0]"),
    ],
)
def test_samples_of_a_known_quantity_are_checked(run: Path, samples: Any, words: str) -> None:
    line = layout_case("aoas")
    line["measurements"][0]["samples"] = samples
    append(run, json.dumps(line) + "\n")
    message = refusal(run)
    assert "samples.jsonl:3: " in message
    assert words in message


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("unit", ["cycle"], "expected str as measurements[0].unit"),
        ("quantity", "Has Space", "found 'Has Space'; expected text like"),
        ("provenance", "guessed", "as measurements[0].provenance"),
        ("noise", "passed", 'found "passed"; expected object as measurements[0].noise'),
        ("noise", {"verdict": "fine", "detail": ""}, "as measurements[0].noise.verdict"),
        ("noise", {"verdict": "passed"}, "found no measurements[0].noise.detail"),
    ],
)
def test_words_beside_known_ones_are_checked(run: Path, key: str, value: Any, words: str) -> None:
    line = layout_case("aoas")
    line["measurements"][0][key] = value
    append(run, json.dumps(line) + "\n")
    assert words in refusal(run)


@pytest.mark.parametrize("gate", ["text", 7, ["gate", "verdict", "detail"], {"gate": "g"}])
def test_gates_beside_known_ones_are_checked(tmp_path: Path, gate: Any) -> None:
    lines = [layout_case(name, gates=[("timer", "passed", "")]) for name in ("aos", "soa")]
    run = write_run(tmp_path, lines)
    line = layout_case("aoas", gates=[("timer", "passed", "")])
    append(run, json.dumps(line | {"gates": [*line["gates"], gate]}) + "\n")
    assert "gates[1]" in refusal(run)


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
    old = layout_case("soa")
    old["measurements"].append(count("sm__cycles.sum"))
    append(run, json.dumps(old) + "\n")
    assert "found 'sm__cycles.sum'; expected text like" in refusal(run)


def test_a_table_that_says_what_the_samples_give_is_theirs(run: Path) -> None:
    loaded = load_run(run)
    assert loaded.table is loaded.rows
    edit_table(run, ",100.0,", ",100.00000000000001,")
    changed = load_run(run)
    assert changed.table is not None
    assert [row.value for row in changed.table] == [100.00000000000001, 80.0]


@pytest.mark.parametrize(("old", "new"), [(",100.0,", ",1e2,"), (",100.0,", ",100,")])
def test_a_number_may_be_written_in_other_ways(run: Path, old: str, new: str) -> None:
    edit_table(run, old, new)
    loaded = load_run(run)
    assert loaded.table is loaded.rows
