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
    GONE,
    GPU_RUN,
    NAME,
    case,
    changed,
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
    sealed,
    trace,
    write_context,
    write_run,
)
from strata.run import RunError, frame, load_run, one_line, tidy
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


# --- sound runs -----------------------------------------------------------------------------------


def test_stored_runs_are_read_whole() -> None:
    run = load_run(GPU_RUN)
    assert (run.context.device.name, run.context.device.sm_count) == ("Synthetic GPU", 132)
    assert run.context.host.caches[1].bytes == 2 * 1024 * 1024
    assert (len(run.cases), len(run.rows)) == (108, 1084)
    assert run.table is run.rows
    run = load_run(COUNTED_RUN)
    assert run.context.counters
    assert run.context.counters.state == "counted"
    assert run.context.counters.quantities[0].metric == "l1tex__t_sectors_op_ld.sum"
    assert {row.provenance for row in run.rows} == {"timed", "counted", "modelled"}
    assert run.table is run.rows


def test_row_is_derived_from_the_samples(tmp_path: Path) -> None:
    gates = [("timer", "failed", "3 % apart"), ("level", "unverified", ""), ("code", "passed", "")]
    params, samples = {"layout": "soa", "fields": "all"}, [7, 1, 5, 3, 2, 6, 4]
    line = case([measurement(samples=samples)], gates=gates, params=params)
    (row,) = load(tmp_path, [line]).rows
    assert (row.value, row.ci_low, row.ci_high) == (4, 1, 7)
    assert (row.minimum, row.maximum, row.samples) == (1, 7, 7)
    assert row.taken == tuple(map(float, samples))
    assert (row.valid, row.reasons) == (False, "timer: 3 % apart; level: unverified")
    assert row.case == "micro/layout_read/cuda/fields=all/layout=soa"


def test_the_last_line_of_a_case_counts_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    failed = layout_case() | {"status": "failed", "reason": "crash", "measurements": []}
    lines = [failed, soa := layout_case("soa", 1.0), aos := layout_case("aos", 42.0)]
    run = load(tmp_path, lines, sweep__cases=[soa["case"], aos["case"]])
    found = [(case.params["layout"], case.status) for case in run.cases]
    assert found == [("soa", "measured"), ("aos", "measured")]
    assert [row.value for row in run.rows] == [1, 42]


@pytest.mark.parametrize(
    # The last is whole without its line end: the harness measures it again, so it is not used.
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
    loaded = load_run(run)
    assert len(loaded.cases) == whole[:cut].count(b"\n")
    assert loaded.table is None


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    lines = [layout_case() | {"weather": "fair"}]
    run = load(tmp_path, lines, mood="good", host__name="x", clocks=None)
    assert (len(run.rows), run.context.clocks_before, run.context.counters) == (1, {}, None)


@pytest.mark.parametrize("claimed", [1, 2, 3])
def test_each_line_of_a_run_of_version_3_has_its_checksum(tmp_path: Path, claimed: int) -> None:
    run = write_run(tmp_path, [layout_case()], header=context2(schema_version=3))
    assert len(load_run(run).rows) == 1
    append(run, layout_case("soa") | {"schema_version": claimed})
    assert "samples.jsonl:2: found a line without checksum" in refusal(run)
    edit(run / "samples.jsonl", "100.0", "900.0")
    assert "samples.jsonl:1: found a line that does not match its checksum" in refusal(run)


def test_older_lines_may_have_a_checksum(tmp_path: Path) -> None:
    run = write_run(tmp_path, [layout_case("aos", 61.0)])
    line = sealed((run / "samples.jsonl").read_bytes())
    (run / "samples.jsonl").write_bytes(line)
    assert load_run(run).rows[0].value == 61
    (run / "samples.jsonl").write_bytes(line.replace(b"61.0", b"16.0"))
    assert "does not match its checksum" in refusal(run)


def test_a_run_declares_its_benchmarks_and_an_older_one_has_those_of_before(tmp_path: Path) -> None:
    axis = {"name": "layout", "meaning": "of a body", "defaults": ["aos"], "choices": ["aos"]}
    quantity = {"name": "warp_read_cycles", "meaning": "cycles of a read"}
    own = {"suite": "micro", "question": "Why?", "axes": [axis], "quantities": [quantity]}
    run = load2(tmp_path / "new", [layout_case()], benchmarks={"layout_read": own})
    (benchmark,) = run.context.benchmarks.values()
    assert (benchmark.question, benchmark.axes[0].choices) == ("Why?", ("aos",))
    assert benchmark.quantities[0].name == "warp_read_cycles"
    found = load(tmp_path / "old", [layout_case()]).context
    assert {"micro", "nbody"} == {one.suite for one in found.benchmarks.values()}
    assert {rung.name: rung for rung in found.rungs}["tiled"].before == "naive"


def test_frames_have_a_column_per_parameter(tmp_path: Path) -> None:
    cases = [layout_case("aos", 100.0), layout_case("soa", 80.0)]
    run = load(tmp_path, [*cases, case([measurement()], benchmark="x", params={"method": "a"})])
    table = frame(run)
    assert [*table["layout"].dropna()] == ["aos", "soa"]
    assert [*table["param_method"].dropna()] == ["a"]
    assert [*table["value"]] == [100.0, 80.0, 10.0]
    assert "params" not in table.columns
    table = tidy(run.of("layout_read"))
    assert [*table["warps_per_sm"]] == [1, 1]
    assert [*table["low"]] == [100.0, 80.0]
    assert [*table["_row"]] == [*run.of("layout_read")]


# --- counts and traces ----------------------------------------------------------------------------


def gates(run: Any) -> list[tuple[str, str, str]]:
    (found,) = run.cases
    return [(gate.name, gate.verdict, gate.detail) for gate in found.gates]


OPEN = ("level", "unverified", "level unverified: not counted yet")


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
    found = counts(line, [count()], gates=[("level", *counted)] if counted else [])
    run = load2(tmp_path, [line, found])
    assert gates(run) == [("level", *merged)]
    assert {row.valid for row in run.rows} == {merged[0] != "failed"}


@pytest.mark.parametrize("status", ["failed", "skipped"])
@pytest.mark.parametrize("level", [OPEN, ("level", "failed", "two warps met")])
def test_counting_without_a_result_changes_an_open_level_only(
    tmp_path: Path, status: str, level: tuple[str, str, str]
) -> None:
    others = [("result", "passed", "equal"), ("code", "unverified", "")]
    line = layout_case(gates=[level, *others])
    broken: dict[str, Any] = {"status": status, "reason": "busy", "facts": {"x": 1}}
    run = load2(tmp_path, [line, counts(line, gates=[("result", "failed", "")], **broken)])
    why = f"level unverified: counting {status}: busy" if level == OPEN else level[2]
    assert gates(run) == [(*level[:2], why), *others]
    assert run.cases[0].facts == {}
    assert run.rows[0].reasons == f"level: {why}; code: unverified"


def test_counts_belong_to_the_last_line_before_them(tmp_path: Path) -> None:
    first, again = layout_case(cycles=1.0, gates=[OPEN]), layout_case(cycles=2.0, gates=[OPEN])
    failed = first | {"status": "failed", "reason": "crash", "measurements": [], "gates": []}
    found = counts(first, [count()], gates=[("level", "passed", "")])
    broken = counts(again, status="failed", reason="busy")
    for name, lines, values, level in (
        ("dropped", [first, found, again], [2.0], [OPEN]),
        (
            "kept",
            [first, found, again, broken, counts(again, [count(value=9)])],
            [2.0, 9.0],
            [OPEN],
        ),
        ("untimed", [failed, found], [], []),
        ("orphan", [counts(layout_case("soa"), [count()]), found, first], [1.0], [OPEN]),
    ):
        run = load2(tmp_path / name, lines)
        assert [row.value for row in run.rows] == values
        assert gates(run) == level


def test_a_metric_of_the_chip_may_name_a_quantity_and_a_method(tmp_path: Path) -> None:
    metric = "TriageCompute.sm__inst_executed.sum.per_cycle_active"
    line = layout_case()
    run = load2(tmp_path, [line, counts(line, [count(metric, method=metric)])])
    assert run.rows[1].key == (line["case"], metric, metric)
    append(run.folder, layout_case("soa", extra=[count(metric)]))  # of version 1
    assert f"found '{metric}'; expected text like" in refusal(run.folder)


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


def test_a_trace_ends_when_its_case_is_timed_again_or_is_skipped(tmp_path: Path) -> None:
    line = layout_case() | {"facts": {STEP: 0.5}}
    found = trace(line, [measurement("phase_idle")])
    skipped = trace(line, status="skipped", reason="there is no CUPTI")
    reason = "phases: tracing skipped: there is no CUPTI"
    for lines, reasons in (([line, found, line], ""), ([line, skipped], reason)):
        (row,) = load2(tmp_path / f"{len(lines)}", lines).rows
        assert (row.quantity, row.valid, row.reasons) == ("warp_read_cycles", True, reasons)


# --- visits ---------------------------------------------------------------------------------------


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


# --- samples.jsonl is wrong -----------------------------------------------------------------------

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


A_WORD = "a word of results/schema"
WRONG_LINES: dict[str, tuple[dict[str, Any], str]] = {
    "no status": ({"status": GONE}, "found no status"),
    "status": ({"status": "done"}, f'"done"; expected {A_WORD} as status'),
    "params": ({"params": {"a b": "c"}}, "found 'a b'; expected text like"),
    "param type": ({"params": {"w": 3}}, "found 3; expected str as params.w"),
    "id": ({"case": "micro/x"}, "as its parameters require"),
    "started": ({"started": "yesterday"}, "as started"),
    "no samples": ({"measurements__0__samples": []}, ">= 1 as measurements[0].samples"),
    "sample": ({"measurements__0__samples": [1, "2"]}, '"2"; expected float as measurements[0].'),
    "quantity": ({"measurements__0__quantity": "Has Space"}, "'Has Space'; expected text like"),
    "noise as text": ({"measurements__0__noise": "passed"}, "object as measurements[0].noise"),
    "noise": (
        {"measurements__0__noise__verdict": "fine"},
        f'found "fine"; expected {A_WORD} as measurements[0].noise.verdict',
    ),
    "no detail": ({"measurements__0__noise__detail": GONE}, "no measurements[0].noise.detail"),
    "gate as array": ({"gates": [["g", "passed", ""]]}, "expected object as gates[0]"),
    "no verdict": ({"gates": [{"gate": "g"}]}, "found no gates[0].verdict"),
    "twice": ({"measurements": [measurement()] * 2}, "warp_read_cycles by clock64_slope twice"),
    "no reason": ({"status": "skipped", "measurements": []}, "a skipped case without a reason"),
    "measured failure": ({"status": "failed", "reason": "x"}, "measurements of a failed case"),
    "not one line": ({"status": "a\nb\u2028c\u0085d\x1b[31m"}, f"expected {A_WORD} as status"),
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_refuses_a_wrong_line_naming_its_place(run: Path, name: str) -> None:
    changes, words = WRONG_LINES[name]
    append(run, changed(layout_case("aoas"), changes))
    message = refusal(run)
    assert "samples.jsonl:3" in message
    assert words in message
    assert "\x1b" not in message


PHASE = measurement("phase_idle", provenance="reported")


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        (counts, {"measurements": [predicted()]}, "sectors_per_read by coalescing_model twice"),
        (counts, {"measurements": [measurement("grid_time")]}, "expected counted or modelled"),
        (counts, {"schema_version": 1}, 'found "counts"; expected case as kind'),
        (counts, {"visit": 2}, "visit 2 of counts"),
        (trace, {"schema_version": 2}, 'found "trace"; expected case or counts as kind'),
        (trace, {"visit": 2}, "found visit 2 of trace"),
        (trace, {"measurements": [PHASE]}, "in a line of trace; expected timed or counted"),
        (trace, {"measurements": [measurement()]}, "warp_read_cycles by clock64_slope twice"),
    ],
)
def test_refuses_wrong_counts_and_traces(
    tmp_path: Path, kind: Callable[..., dict[str, Any]], changes: dict[str, Any], words: str
) -> None:
    line = layout_case(extra=[predicted()])
    run = write_run(tmp_path, [line], header=context2())
    append(run, kind(line) | changes)
    assert words in refusal(run)


@given(st.text())
def test_one_line_never_breaks(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert one_line(text).translate({0xA0: "", 0x202F: ""}).isprintable()


# --- the folder and context.json are wrong --------------------------------------------------------


@pytest.mark.parametrize("name", ["context.json", "samples.jsonl", "measurements.csv"])
def test_refuses_a_run_with_a_file_missing(run: Path, name: str) -> None:
    (run / name).unlink()
    assert f"{NAME}/{name}: found no such file" in refusal(run)


def test_refuses_what_is_no_folder_of_one_run(run: Path, tmp_path: Path) -> None:
    assert "found nothing there" in refusal(tmp_path / "nowhere")
    assert "found a file" in refusal(run / "context.json")
    assert "found a folder of 1 run; expected one run folder" in refusal(tmp_path)


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
    (copy / "samples.jsonl").touch()
    assert "samples.jsonl.gz: found samples.jsonl beside it" in refusal(copy)


@pytest.mark.parametrize("name", ["samples.jsonl", "measurements.csv"])
@pytest.mark.parametrize("keep", [slice(-20), slice(0)], ids=["cut off", "nothing"])
def test_refuses_a_packed_file_that_is_none(run: Path, name: str, keep: slice) -> None:
    packed = pack(run / name)
    packed.write_bytes(packed.read_bytes()[keep] or b"run,device")
    assert f"{name}.gz: found " in (message := refusal(run))
    assert "expected a complete gzip file" in message


BENCHMARK = {"suite": "micro", "question": "?", "axes": [], "quantities": []}
WRONG_CONTEXTS: list[tuple[Callable[..., dict[str, Any]], dict[str, Any], str]] = [
    (context, {"schema_version": 7}, "found schema version 7"),
    (context, {"run": ".."}, "expected a valid run name"),
    (context, {"strata__commit": "abc"}, "as strata.commit"),
    (context, {"device__slug": "Has Space"}, "as device.slug"),
    (context, {"host__caches": [{"level": 1}]}, "no host.caches[0].type"),
    (context, {"device": None}, "found null; expected object as device"),
    (context2, {"benchmarks": {"a": {}}}, "found no benchmarks"),
    (context2, {"benchmarks": {"a": BENCHMARK, "b": {**BENCHMARK, "axes": [{"name": 7}]}}},
     "found 7; expected str as benchmarks.b.axes[0].name"),
    (context2, {"ladders": {"nbody": [], "x": "y"}}, 'found "y"; expected array as ladders.x'),
    (context2, {"rungs": [{"name": "tiled"}]}, "found no rungs[0].backend"),
    (context2, {"counters": None}, "found null; expected an object as counters"),
    (context2, {"counters__passes": -1}, "found -1; expected int >= 0 as counters.passes"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "changes", "words"), WRONG_CONTEXTS)
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


# --- measurements.csv is wrong --------------------------------------------------------------------


def swap(old: str, new: str, count: int = 1) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, count)


HEAD = "measurements.csv:1: found the columns "
WRONG_TABLES: dict[str, tuple[Callable[[str], str], str]] = {
    "a column fewer": (swap("value,", ""), HEAD + "'run,device"),
    "columns swapped": (swap("ci_low,ci_high", "ci_high,ci_low"), "expected the columns 'run,dev"),
    "blank columns": (swap("\r\n", ",,\r\n", -1), "reasons,,'; expected the columns 'run,"),
    "nothing": (lambda _: "", HEAD + "''"),
    **{
        word: (
            swap(",100.0,", f",{word},"),
            f"measurements.csv:2: found {word} as value; expected a finite number",
        )
        for word in ("nan", "inf", "1e999", "1_0", "10-May", "0x1p3", " 1")
    },
    "one sample": (swap(",1,true", ",one,true"), "found one,true"),
    "a cell fewer": (swap(",timed,", ","), "18 columns; expected 19"),
    "an open quote": (swap("test-device", '"test-device'), "found "),
    "cut off": (lambda text: text[:-60], "measurements.csv:3: found "),
    "a row twice": (
        lambda text: text + text.splitlines(keepends=True)[1],
        "again (first in line 2); expected each case, quantity and method once",
    ),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_refuses_a_wrong_table(run: Path, name: str) -> None:
    change, words = WRONG_TABLES[name]
    path = run / "measurements.csv"
    path.write_bytes(change(path.read_bytes().decode()).encode())
    message = refusal(run)
    assert "measurements.csv:" in message
    assert words in message


@pytest.mark.parametrize(
    ("old", "new"), [(",100.0,", ",1e2,"), (",100.0,", ",100,"), ("\r\n", "\n")]
)
def test_a_table_may_be_written_in_other_ways(run: Path, old: str, new: str) -> None:
    edit(run / "measurements.csv", old, new)
    loaded = load_run(run)
    assert loaded.table is loaded.rows


def test_a_table_that_differs_from_the_samples_is_kept(run: Path) -> None:
    edit(run / "measurements.csv", ",100.0,", ",100.00000000000001,")
    loaded = load_run(run)
    assert loaded.table
    assert [row.value for row in loaded.table] == [100.00000000000001, 80.0]


# --- writing --------------------------------------------------------------------------------------
