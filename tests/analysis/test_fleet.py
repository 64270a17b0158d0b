"""Fleets: planted faults are found, fleets without one raise no alarm, hostile ones cost a line."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_fleet
from synthetic_fleet import FAULTS, World

import builders
from strata import cli, fleet
from strata.fleet import dataset, judge, law, words
from strata.fleet.dataset import Entry, Line
from strata.fleet.judge import Settings
from strata.model import plain
from strata.model.units import MINUS
from strata.report import fleet as page
from strata.run import Run, load_run
from strata.run.private import hidden

EXCERPT = builders.DATA / "excerpt-nvidia-h200-20261121T235015Z-0683d2f"


@pytest.fixture(scope="module")
def excerpt() -> Run:
    return load_run(EXCERPT)


@pytest.fixture(scope="module")
def world(excerpt: Run) -> World:
    return synthetic_fleet.world(excerpt, most=6000)


@pytest.fixture(scope="module")
def small(excerpt: Run) -> World:
    return synthetic_fleet.world(excerpt, most=800)


def test_ten_kinds_of_faults_are_found_and_named(world: World) -> None:
    runs = synthetic_fleet.made(world, 200, 3, [*FAULTS])
    found, truth = synthetic_fleet.judged(world, Settings(), runs)
    out = {found.gpus[gpu].entry.gpu for gpu in found.out}
    assert len(truth) == len(FAULTS) == 10
    lost = sorted(truth.keys() - out)
    assert len(lost) <= 0.1 * len(truth), [truth[gpu] for gpu in lost]
    assert len(out & truth.keys()) >= 0.95 * len(out)
    texts = {truth[found.gpus[gpu].entry.gpu]: words.findings_text(found, gpu) for gpu in found.out}
    for fault, where in {
        "memory_stack": "DRAM", "l2_slice": "L2",
        "clocks_low": "clocks 11.4\u00a0% lower", "host_link": "host link",
        "memory_errors": "errors of memory corrected",
        "dram_bandwidth": "DRAM", "warm": "arithmetic 1.5\u00a0% slower",
    }.items():  # fmt: skip
        assert where in texts.get(fault, where)


def test_fleets_without_a_fault_raise_alarms_at_most_at_the_declared_rate(small: World) -> None:
    rate, fleets = 0.1, 8
    runs = (synthetic_fleet.made(small, (8, 30)[seed % 2], 100 + seed) for seed in range(fleets))
    false = sum(bool(synthetic_fleet.judged(small, Settings(rate), of)[0].out) for of in runs)
    assert false <= fleets * rate + 3 * (fleets * rate * (1 - rate)) ** 0.5


def test_a_gpu_that_moved_since_its_earlier_runs_is_named(small: World) -> None:
    runs = synthetic_fleet.made(small, 60, 5, ["clocks_low"], runs=3)
    found, truth = synthetic_fleet.judged(small, Settings(), runs)
    drifted = {found.gpus[one.gpu].entry.gpu for one in found.findings if one.kind == "drift"}
    assert drifted == truth.keys()
    drift = page._drift(found, found.out[0])
    assert drift
    assert drift["runs"] == 3
    assert drift["ends"][-1] == f"{MINUS}11.4\u00a0%"


def test_a_line_of_two_kinds_of_gpus_has_two_centres() -> None:
    rng = np.random.default_rng(1)
    line = rng.normal(0, 0.001, 100) - 0.036 * (np.arange(100) < 15)
    assert np.abs(law.centred(line)).max() < 0.005
    line[50] = 0.05  # a single GPU does not make a kind
    assert abs(law.centred(line)[50]) > 0.04


def test_the_chance_and_the_number_needed_agree() -> None:
    of = law.Law(np.random.default_rng(2).exponential(1, 200))
    for rate in (0.1, 1e-3, 1e-6):
        assert of.chance(of.needed(rate)) == pytest.approx(rate, rel=1e-6)
    assert law.Law(np.ones(3)).chance(1e9) == 1


# --- numbers that can be followed by hand ---------------------------------------------------------

GPUS, ROWS = 40, 10
LINES = tuple(
    Line("micro", "bandwidth", "dram", f"c{at}", "load_time", "event", "s", "timed")
    for at in range(ROWS)
)


def entry(gpu: int, month: int = 6, **changes: Any) -> Entry:
    name = f"test-device-2026{month:02d}01T000000Z-{gpu:07x}"
    entry: dict[str, Any] = {"facts": {}, "before": {}, "after": {}} | changes
    return Entry(
        run=name, gpu=f"GPU-{gpu:02}", node="", model="test-device", device="Test Device",
        started=f"2026-{month:02d}-01T00:00:00Z", state="complete", build="", folder="",
        sizes={}, **entry,
    )  # fmt: skip


def times() -> np.ndarray[Any, np.dtype[np.float64]]:
    """10 s of each row of each GPU, with a noise of 0.1 %."""
    return np.asarray(10 * np.exp(np.random.default_rng(1).normal(0, 0.001, (GPUS, ROWS))))


def judged(
    values: np.ndarray[Any, np.dtype[np.float64]],
    entries: Sequence[Entry] = (),
    settings: Settings | None = None,
    lines: tuple[Line, ...] = LINES,
) -> judge.Fleet:
    """The verdict about one line of `values` per run, by default one run of each GPU."""
    runs = list(entries) or [entry(gpu) for gpu in range(GPUS)]
    of = {one.run: line for one, line in zip(runs, values, strict=True)}

    def read(names: Sequence[str]) -> Iterator[dataset.Block]:
        matrix = np.array([of[name] for name in names], np.float32)
        yield dataset.Block(lines, matrix, np.zeros(len(names), np.int64))

    return judge.judged(read, runs, settings or Settings())


def test_a_change_is_relative_to_the_centre_of_the_fleet() -> None:
    values = times()
    values[4] *= 2
    values[7] /= 2
    found = {one.gpu: one for one in judged(values).findings if one.kind == "family"}
    assert found.keys() == {4, 7}
    assert found[4].change == pytest.approx(1, abs=0.01)
    assert found[7].change == pytest.approx(-0.5, abs=0.01)
    assert [found[gpu].verdict for gpu in (4, 7)] == ["slower", "faster"]
    assert [found[gpu].rows for gpu in (4, 7)] == [ROWS, ROWS]


def test_a_change_below_the_smallest_of_interest_is_no_finding() -> None:
    values = times()
    values[4] *= 1.02
    assert judged(values).out == (4,)
    assert judged(values, settings=Settings(min_change=0.03)).out == ()


def test_a_family_of_which_a_gpu_has_less_than_half_is_not_judged() -> None:
    values = times()
    values[4, :5] *= 2
    values[4, 5:] = np.nan
    found = judged(values)
    assert found.out == (4,)
    assert found.missing.tolist() == [5 * (gpu == 4) for gpu in range(GPUS)]
    values[4, 4] = np.nan
    found = judged(values)
    assert found.out == ()
    assert np.isnan(found.shifts[0]).tolist() == [gpu == 4 for gpu in range(GPUS)]


def test_a_row_that_most_gpus_lack_is_not_judged() -> None:
    values = times()
    values[21:, 3] = np.nan  # 21 of 40 have it
    values[19:, 4] = np.nan  # 19 of 40
    found = judged(values)
    assert found.expected == ROWS - 1
    assert found.missing.tolist() == [0] * 21 + [1] * 19


def test_drift_is_since_the_middle_of_the_earlier_runs() -> None:
    entries = [entry(gpu, month) for gpu in range(GPUS) for month in (1, 2, 3, 4)]
    rng = np.random.default_rng(1)
    values = 10 * np.exp(rng.normal(0, 0.001, (len(entries), ROWS)))
    values[4 * 4] *= 1.5  # the first run of GPU 4
    assert not [one for one in judged(values, entries).findings if one.kind == "drift"]
    values[4 * 4 + 3] *= 1.1  # and its last
    (found,) = [one for one in judged(values, entries).findings if one.kind == "drift"]
    assert found.gpu == 4
    assert found.change == pytest.approx(0.1, abs=0.01)


def test_a_gpu_is_judged_by_its_latest_run() -> None:
    runs = [entry(gpu, month) for gpu in range(GPUS) for month in (5, 1)]
    rng = np.random.default_rng(1)
    values = 10 * np.exp(rng.normal(0, 0.001, (len(runs), ROWS)))
    values[2 * 4 + 1] *= 1.5  # an earlier run, which is listed last
    found = judged(values, runs)
    assert {one.entry.started[5:7] for one in found.gpus} == {"05"}
    assert [(one.kind, one.verdict) for one in found.findings] == [("drift", "faster")]
    assert len(found.runs) == 2 * GPUS


def test_several_families_of_one_site_move_together() -> None:
    lines = tuple(
        one._replace(benchmark=f"b{at}", case=f"{one.case}{at}") for at in range(3) for one in LINES
    )
    values = np.hstack([times() for _ in range(3)])
    values[4] *= 1.05
    sites = [one for one in judged(values, lines=lines).findings if one.kind == "site"]
    assert [(one.gpu, one.rows) for one in sites] == [(4, 3)]
    assert sites[0].change == pytest.approx(0.05, abs=0.005)
    two = judged(values[:, : 2 * ROWS], lines=lines[: 2 * ROWS]).findings
    assert {one.kind for one in two} == {"family"}


def events(before: dict[str, Any], after: dict[str, Any], **facts: Any) -> list[str]:
    """The events of one of 40 GPUs, with the facts that only this GPU has."""
    odd = entry(0, before=before, after=after, facts={"ecc": True} | facts)
    entries = [odd, *(entry(gpu, facts={"ecc": True}) for gpu in range(1, GPUS))]
    found = judged(times(), entries)
    assert found.out == ((0,) if found.events else ())
    return [one.what for one in found.events]


def test_corrected_errors_are_those_of_the_run_and_uncorrected_ones_all() -> None:
    def errors(name: str, before: int, after: int) -> list[str]:
        fact = f"ecc_{name}_errors"
        return events({fact: before}, {fact: after})

    assert errors("corrected", 3, 3) == errors("uncorrected", 0, 0) == []
    assert errors("corrected", 0, 2) == ["2 errors of memory corrected"]
    assert errors("corrected", 3, 5) == ["5 errors of memory corrected, 3 before the run"]
    assert errors("uncorrected", 2, 2) == ["2 errors of memory not corrected, 2 before the run"]
    assert errors("uncorrected", 0, 1) == ["1 errors of memory not corrected"]


def test_a_limit_unlike_that_of_nine_in_ten_and_a_rare_throttle_are_events() -> None:
    assert events({}, {}, ecc=False) == ["ecc is False, of most GPUs True"]
    assert events({}, {"throttled": True, "throttle_reasons": "0x4"}) == ["throttled (reasons 0x4)"]
    values = times()
    few = [entry(gpu, facts={"ecc": gpu > 4}) for gpu in range(GPUS)]  # 35 of 40 agree
    assert judged(values, few).events == ()
    hot = [entry(gpu, after={"throttled": gpu < 4}) for gpu in range(GPUS)]
    assert judged(values, hot).events == ()
    assert len(judged(values, [*hot[:3], *(entry(gpu) for gpu in range(3, GPUS))]).events) == 3


def test_gpus_with_events_come_first_and_then_the_farthest() -> None:
    values = times()
    values[4] *= 1.2
    values[7] *= 1.5
    entries = [entry(gpu, after={"throttled": gpu == 9}) for gpu in range(GPUS)]
    assert judged(values, entries).out == (9, 7, 4)


def test_a_quantile_is_what_is_left_without_its_share_rounded_up() -> None:
    line = np.arange(1.0, 11)
    lines = np.array([line, np.where(line > 8, np.nan, line)])
    assert law.quantile(lines, 0.75).tolist() == [7, 6]  # without 3 of 10, and 2 of 8
    assert law.quantile(lines, 0.5).tolist() == [5, 4]
    assert law.quantile(lines, 0.99).tolist() == [9, 7]  # one at least


@pytest.mark.parametrize("faulty", [law.FAULTY, judge.RARE])
def test_the_reach_of_a_normal_line_is_its_sigma(faulty: float) -> None:
    lines = np.random.default_rng(3).normal(0, 2, (1, 100_000))
    assert law.reach(lines, faulty) == pytest.approx(2, rel=0.02)
    assert law.spread(lines) == pytest.approx(2, rel=0.02)
    lines[0, :10_000] *= 10  # more than may be at fault
    assert law.reach(lines, faulty)[0] > 5
    assert law.spread(lines) == pytest.approx(2, rel=0.2)


def test_the_worst_rows_are_relative_to_the_fleet(tmp_path: Path) -> None:
    for at in range(12):
        run_folder(tmp_path / "runs", at, value=15.0 if at == 4 else 10.0)
    with fleet.opened([tmp_path / "runs"], pytest.fail) as parts:
        found = fleet.examine(parts, pytest.fail)
        (table,) = words.worst_rows(found, parts).values()
    assert len(table.rows) == 6
    place = table.header.index("change")
    for line in table.rows:
        share = plain(line[place]).removeprefix("+").removesuffix("\u00a0%")
        assert float(share) == pytest.approx(50, abs=1)


# --- run folders and data sets --------------------------------------------------------------------


def run_folder(root: Path, number: int, *, value: float = 10.0, **changes: object) -> Path:
    """A tiny run of its own GPU and node."""
    cases = [
        builders.case(
            [builders.measurement(samples=[value * (1 + 0.001 * ((3 * at + number) % 7))] * 3)],
            params={"residency": "dram", "size": at},
        )
        for at in range(6)
    ]
    name = f"test-device-20260102T030405Z-{number:07x}"
    context = {
        "run": name,
        "device__uuid": f"GPU-{number}",
        "host__name": f"node{number}",
        **changes,
    }
    return write_run(root / name, builders.context(**context), cases)


def write_run(folder: Path, context: dict[str, Any], cases: list[dict[str, Any]]) -> Path:
    context["sweep"]["cases"] = [case["case"] for case in cases]
    folder.mkdir(parents=True)
    builders.write_context(folder, context)
    (folder / "samples.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return folder


Called = Callable[..., tuple[int, str, str]]


@pytest.fixture
def strata_fleet(capsys: pytest.CaptureFixture[str]) -> Called:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            cli.main(["fleet", *map(str, arguments)])
        printed, errors = capsys.readouterr()
        return int(left.value.code or 0), printed, errors

    return call


def test_an_outlier_and_its_node_are_named(tmp_path: Path, strata_fleet: Called) -> None:
    runs = [run_folder(tmp_path / "runs", at, value=20.0 if at == 4 else 10.0) for at in range(12)]
    code, printed, errors = strata_fleet(tmp_path / "runs", "--out", tmp_path / "out")
    assert code == 1
    assert "12 GPUs of Test Device on 12 nodes, 6 rows each: 1 is out." in printed
    assert "node4" in printed
    assert "GPU-4" in printed
    assert "strata: out: node node4, GPU-4" in errors
    text = (tmp_path / "out" / "fleet.html").read_text()
    assert f'href="compare/{runs[4].name}/compare.html"' in text
    assert (tmp_path / "out" / "compare" / runs[4].name / "compare.html").is_file()
    gpus = (tmp_path / "out" / "gpus.csv").read_text().splitlines()
    assert sum(",True," in line for line in gpus) == 1
    code, printed, errors = strata_fleet(*runs[:4], *runs[5:], "--out", tmp_path / "sound")
    assert (code, errors) == (0, "")
    assert "6 rows each: no GPU is out." in printed


def test_an_anonymous_data_set_gives_the_verdict_of_its_runs_and_identifies_nothing(
    tmp_path: Path,
    strata_fleet: Called,
) -> None:
    runs = [run_folder(tmp_path / "runs", at, value=20.0 if at == 4 else 10.0) for at in range(12)]
    data = tmp_path / "data"
    assert strata_fleet("add", data, *runs[:7], "--anonymous")[0] == 0
    assert strata_fleet("add", data, *runs[7:], "--anonymous")[:2] == (
        0,
        f"{data}: 5 runs added\n",
    )
    code, _, errors = strata_fleet(data, "--out", tmp_path / "out")
    assert code == 1
    assert f"strata: out: {hidden('GPU-4')}" in errors
    shown = tmp_path / "shown"
    assert strata_fleet(tmp_path / "runs", "--anonymous", "--out", shown)[0] == 1
    for folder in (data, tmp_path / "out", shown):
        for path in (one for one in folder.rglob("*") if one.is_file()):
            content = path.read_bytes()
            for private in (b"node4", b"GPU-4", str(tmp_path / "runs").encode()):
                assert private not in content, (path, private)


def test_hostile_fleets_cost_a_line_each_and_the_rest_goes_on(
    tmp_path: Path, strata_fleet: Called
) -> None:
    root = tmp_path / "runs"
    for at in range(12):
        run_folder(root, at)
    torn = run_folder(root, 20)
    (torn / "samples.jsonl").write_text("{}\n")
    run_folder(tmp_path / "other", 3)  # a name again
    run_folder(root, 21, device__slug="other-device", device__name="Other Device")
    run_folder(root, 22, strata__source_digest="sha256:another")
    run_folder(root, 23, started=f"{datetime.now(UTC) + timedelta(days=9):%Y-%m-%dT%H:%M:%SZ}")
    run_folder(root, 24, schema_version=99)
    code, printed, errors = strata_fleet(root, tmp_path / "other", "--out", tmp_path / "out")
    assert code == 0, printed + errors
    assert "12 GPUs" in printed
    lines = errors.splitlines()
    assert len(lines) == 6, errors
    for expected in (
        f"{torn}/samples.jsonl:1: found ", "again; expected each run once", "from the future",
        "Other Device, not Test Device", "sha256:another, not sha256:0", "schema_version",
    ):  # fmt: skip
        assert sum(expected in line for line in lines) == 1, (expected, errors)


def test_rows_that_are_missing_are_counted_and_raise_no_alarm(
    tmp_path: Path, strata_fleet: Called
) -> None:
    for at in range(11):
        run_folder(tmp_path / "runs", at)
    few = [builders.case([builders.measurement()], params={"residency": "dram", "size": 0})]
    name = "test-device-20260102T030405Z-00000ff"
    write_run(tmp_path / "runs" / name, builders.context(run=name, device__uuid="GPU-few"), few)
    code, printed, _ = strata_fleet(tmp_path / "runs", "--out", tmp_path / "out")
    assert code == 0
    assert "Missing, and no alarm: 5 rows that most GPUs have, of 1 GPUs" in printed


@pytest.mark.parametrize(("folder", "cut"), [("rows", 4000), ("rows", 5), ("runs", 5)])
def test_a_damaged_part_costs_a_line(
    tmp_path: Path, strata_fleet: Called, folder: str, cut: int
) -> None:
    data = tmp_path / "data"
    for start in (0, 6):
        strata_fleet("add", data, *(run_folder(tmp_path / "runs", start + at) for at in range(6)))
    part = min((data / folder).glob("*.parquet"))
    content = bytearray(part.read_bytes())
    content[-8 if cut == 5 else len(content) // 3] ^= 0xFF
    part.write_bytes(content)
    code, printed, errors = strata_fleet(data, "--out", tmp_path / "out")
    assert (code, "6 GPUs" in printed) == (0, True), printed + errors
    assert errors.count("cannot be read") == 1


def test_too_few_gpus_and_wrong_words_are_refused_in_one_line(
    tmp_path: Path, strata_fleet: Called
) -> None:
    few = [run_folder(tmp_path / "runs", at) for at in range(3)]
    for arguments, message in (
        (few, "found 3 GPUs; expected 4 or more"),
        ([tmp_path], "found no run; expected run folders"),
        ([*few, "--false-alarm", "2"], "found false_alarm 2.0"),
        ([*few, "--model", "h900"], "found no run of h900; expected one of test-device"),
    ):
        code, _, errors = strata_fleet(*arguments, "--out", tmp_path / "out")
        assert code == 2
        assert message in errors.splitlines()[-1]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    errors = strata_fleet("add", tmp_path / "full", *few)[2]
    assert "expected a data set of strata fleet add" in errors


def test_too_few_gpus_are_refused_before_any_rows_are_read(
    tmp_path: Path, strata_fleet: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(*_: object, **__: object) -> None:
        pytest.fail("rows were read")

    monkeypatch.setattr(fleet.dataset, "add", unread)
    runs = [run_folder(tmp_path / "runs", at) for at in range(3)]
    code, _, errors = strata_fleet(*runs, "--out", tmp_path / "out")
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "found 3 GPUs; expected 4 or more" in errors


def test_many_damaged_runs_cost_a_few_lines(tmp_path: Path, strata_fleet: Called) -> None:
    for at in range(90):
        folder = tmp_path / "runs" / f"r{at}"
        folder.mkdir(parents=True)
        (folder / "context.json").write_text("{}")
        (folder / "samples.jsonl").touch()
    code, _, errors = strata_fleet(tmp_path / "runs", "--out", tmp_path / "out")
    lines = errors.splitlines()
    assert (code, len(lines)) == (2, fleet.SHOWN + 2)
    assert lines[-2] == f"strata: warning: and {90 - fleet.SHOWN} more that cannot be used"
    assert "found 0 GPUs; expected 4 or more" in lines[-1]
    code, _, errors = strata_fleet("add", tmp_path / "data", tmp_path / "runs")
    assert len(errors.splitlines()) == fleet.SHOWN + 1


def test_every_cell_leads_somewhere(tmp_path: Path, small: World) -> None:
    runs = synthetic_fleet.made(small, 24, 7, ["host_link"])
    data = tmp_path / "data"
    truth = synthetic_fleet.write(data, small, runs)
    with fleet.opened([data], pytest.fail) as parts:
        found = fleet.examine(parts, pytest.fail)
        text = page.write(found, parts, tmp_path / "out").read_text()
    assert [found.gpus[gpu].entry.gpu for gpu in found.out] == [*truth]
    keys = {f"g{gpu}" for gpu in range(24)}
    links = set(re.findall(r'<td class="[a-z0-9]+"><a href="#(g\d+)"', text))
    assert links == keys
    assert all(f'id="{key}"' in text for key in keys)
    assert ": not measured" not in text
    assert "strata compare " in text
