"""`strata ask`: the registry, questions in words, several runs of a device, the cache."""

import csv
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_docs import tool

from builders import DATA, SOURCES, case, context, measurement, strata, write_run
from strata import answers, figures
from strata.answers import registry, tokens
from strata.model.truth import load_run
from strata.run import cache, index, load_context

ROOT = SOURCES.parents[1]


def copy_case(size: int, seconds: float, **gates: Any) -> dict[str, Any]:
    time = measurement("transfer_time", [seconds] * 7, unit="s", method="wall")
    params = {"bytes": size, "direction": "to_device", "memory": "pinned", "pieces": 1}
    return case([time], benchmark="transfers", params=params, **gates)


def instruction(operation: str, cycles: float) -> dict[str, Any]:
    params = {"operation": operation, "ilp": 1, "warps_per_sm": 1}
    found = measurement("operation_cycles", [cycles] * 7)
    return case([found], benchmark="instruction_cost", params=params)


LINES = (
    copy_case(1024, 4e-6),
    copy_case(16384, 16e-6),
    instruction("rsqrt_approx", 17),
    instruction("sqrt_approx", 18),
    instruction("dadd", 8),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path, LINES)


def answered(run: str | Path, *question: str) -> list[dict[str, Any]]:
    done = strata("ask", run, *question, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(done.stdout)["answers"]
    return found


def values(found: Sequence[dict[str, Any]]) -> list[Any]:
    return [one["value"] for one in found]


# --- the registry ---------------------------------------------------------------------------------


def test_every_entry_names_a_declared_benchmark_and_quantity() -> None:
    text = "".join(path.read_text("utf-8") for path in (ROOT / "micro").rglob("*.[ch]*"))
    for key, entry in registry().items():
        for name, quantity in entry.sources:
            assert f'.name = "{name}"' in text, key
            for one in (quantity, *entry.also.split()):
                assert f'"{one}' in text, (key, one)


def test_the_words_of_an_answer_name_its_axes() -> None:
    for key, entry in registry().items():
        placeholders = set(re.findall(r"\{(\w+)\}", entry.what))
        assert placeholders <= {*entry.axes, *entry.where, "level"}, key
        assert not entry.between or entry.between in entry.axes, key


def test_there_are_about_eighty_answers_and_the_list_has_all() -> None:
    listed = strata("ask").stdout
    names = [name for names in answers.topics().values() for name in names]
    assert len(names) >= 80
    assert all(name in listed for name in names)
    assert json.loads(strata("ask", "--json").stdout) == answers.topics()


# --- questions ------------------------------------------------------------------------------------


def test_a_question_is_words_and_sizes() -> None:
    assert tokens(["What is the", "L2 latency?"]) == ["l2", "latency"]
    assert tokens(["h2d", "64", "KiB"]) == tokens(["64KB h2d"])[::-1] == ["h2d", "65536B"]
    assert tokens(["28", "bytes,", "16-way"]) == ["28B", "16", "way"]


def test_words_for_several_values_give_each_and_more_words_the_closest(run: Path) -> None:
    assert values(answered(run, "rsqrt or sqrt")) == [17, 18]
    assert values(answered(run, "rsqrt")) == [17]
    assert values(answered(run, "fp64 addition")) == [8]
    (one,) = answered(run, "dadd")
    assert (one["name"], one["unit"], one["valid"]) == ("instruction.latency", "cycle", True)
    assert one["low"] <= one["value"] <= one["high"]
    assert one["case"] == "micro/instruction_cost/cuda/ilp=1/operation=dadd/warps_per_sm=1"


def test_a_size_between_two_of_the_sweep_is_interpolated_and_marked(run: Path) -> None:
    (exact,) = answered(run, "h2d 1 KiB")
    assert (exact["value"], exact["interpolated"]) == (4e-6, False)
    (found,) = answered(run, "h2d 4 KiB")
    assert found["value"] == pytest.approx(8e-6)
    assert found["interpolated"]
    assert found["note"] == "interpolated between 1\u00a0KiB and 16\u00a0KiB"
    assert "interpolated between" in strata("ask", run, "h2d 4 KiB").stdout
    (beyond,) = answered(run, "h2d 1 MiB")
    assert beyond["value"] is None
    assert beyond["why"] == "measured from 1\u00a0KiB to 16\u00a0KiB only"


def test_an_invalid_number_states_why(tmp_path: Path) -> None:
    failed = [copy_case(1024, 4e-6, gates=[("timer", "failed", "5 % apart")])]
    run = write_run(tmp_path, failed)
    (found,) = answered(run, "h2d 1 KiB")
    assert (found["valid"], found["why"]) == (False, "timer: 5 % apart")
    assert "not valid: timer: 5 % apart" in strata("ask", run, "h2d 1 KiB").stdout


def test_what_a_run_lacks_is_said(run: Path) -> None:
    (found,) = answered(run, "grid barrier")
    assert found["value"] is None
    assert found["why"].endswith("has no such case of barriers")
    assert values(answered(run, "fp64 division")) == [None, None]


@pytest.mark.parametrize(
    ("question", "found"),
    [("l2 latncy", "latncy; expected words such as latency"), ("h2d bank", "h2d bank; expected")],
)
def test_unknown_words_are_named(run: Path, question: str, found: str) -> None:
    done = strata("ask", run, question)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"strata: ask: found {found}" in done.stderr


def test_a_run_of_no_answer_gives_all_of_them_as_missing(tmp_path: Path) -> None:
    found = answered(write_run(tmp_path, [case([measurement("x", [1.0])], benchmark="x")]), "all")
    assert len(found) >= len(registry())
    assert all(one["value"] is None or one["note"] for one in found)


# --- several runs, and the cache ------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`chip` is two runs: the second has an instruction that the first lacks."""
    lines = instruction("ddiv", 99), instruction("dadd", 1), copy_case(1024, 5e-6)
    more = write_run(tmp_path / "b", lines, header=context(run="second"))
    noisy = copy_case(1024, 4e-6, gates=[("timer", "failed", "5 % apart")])
    folders = {"chip": [write_run(tmp_path / "a", [noisy, *LINES[1:]]), more]}
    monkeypatch.setattr(index, "recorded", lambda: folders)
    monkeypatch.chdir(tmp_path)
    return more


def test_a_later_run_of_a_device_answers_what_the_main_one_lacks(two: Path) -> None:
    assert values(answered("chip", "dadd")) == [8]
    (found,) = answered("chip", "fp64 division")
    assert (found["value"], found["run"]) == (99, "second")
    assert "from second" in strata("ask", "chip", "fp64 division").stdout
    assert values(answered("chip", "h2d")) == [5e-6, 16e-6]  # invalid in the main run: the first
    assert strata("ask", "dadd").stdout.startswith("Test Device")
    assert two.is_dir()


def test_answers_come_from_the_cache_until_the_run_changes(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATA_CACHE", f"{tmp_path / 'kept'}")
    first = answered(run, "dadd")
    monkeypatch.setattr(answers, "load_run", pytest.fail)
    assert answered(run, "dadd") == first
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"8.0", b"9.0"))
    monkeypatch.setattr(answers, "load_run", load_run)
    assert answered(run, "dadd") == first
    write_run(tmp_path, [instruction("dadd", 9)])
    assert values(answered(run, "dadd")) == [9]
    assert cache.key_of_run(run) != cache.key_of_run(run / "none")


# --- one text everywhere --------------------------------------------------------------------------

SHOWN = {
    "summary": ("latency.l1", "latency.l2", "latency.dram", "bandwidth.l1", "bandwidth.l2",
                "bandwidth.dram", "size.l1"),
    "map": ("latency.l1", "latency.l2", "latency.dram", "latency.shared", "bandwidth.l1",
            "bandwidth.l2", "bandwidth.dram", "bandwidth.shared", "latency.l2_near",
            "latency.l2_far", "latency.beyond", "size.l1", "size.tlb", "size.one_sm"),
    "compare": ("latency.l1", "latency.l2", "latency.dram", "latency.shared", "latency.beyond"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "most_like", "least"),
    [("excerpt-nvidia-h200-*-0683d2f", "map-nvidia-h100-*", 20),
     ("map-nvidia-h100-*", "excerpt-nvidia-h200-*-0683d2f", 10)],
)  # fmt: skip
def test_a_quantity_is_the_same_text_in_every_command(
    name: str, most_like: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder,), (other,) = ([*DATA.glob(one)] for one in (name, most_like))
    monkeypatch.setattr(figures, "discover", list)
    assert strata("report", folder, "-o", tmp_path, "--formats", "svg").returncode == 0
    texts = {
        "summary": [strata("summary", folder).stdout, (tmp_path / "report.html").read_text()],
        "map": [strata("summary", "--map", folder).stdout],
        "compare": [strata("compare", folder, other).stdout],
    }
    found = {one.name: one.text for one in answers.load_answers(folder).answers if one.valid}
    pairs = [
        (command, answer, text)
        for command, shown in texts.items()
        for answer in SHOWN[command]
        for text in shown
        if answer in found
    ]
    wanted = (("bandwidth.l1", "per_sm"), ("bandwidth.dram", "share"))
    beside = [
        one.text
        for answer in answers.load_answers(folder).answers
        for one in answer.also
        if (answer.name, one.quantity) in wanted
    ]
    for text in texts["summary"]:
        assert all(one.replace("\u00a0", " ") in text.replace("\u00a0", " ") for one in beside)
    for command, answer, text in pairs:
        number = found[answer].removeprefix("≈\u00a0").removesuffix("\u00a0cycles")
        assert number.replace("\u00a0", " ") in text.replace("\u00a0", " "), (command, answer)
    assert len(pairs) >= least


@pytest.mark.slow
def test_readme_has_the_values_of_the_answers() -> None:
    readme = {"lat_shared": "latency.shared", "lat_l1": "latency.l1", "lat_l2": "latency.l2",
              "lat_dram": "latency.dram", "bw_shared": "bandwidth.shared", "bw_l1": "bandwidth.l1",
              "bw_l2": "bandwidth.l2", "bw_dram": "bandwidth.dram", "near": "latency.l2_near",
              "far": "latency.l2_far", "l1_8": "size.l1", "l2_size": "size.l2"}  # fmt: skip
    text = (ROOT / "README.md").read_text("utf-8")
    numbers = tool("doc_numbers").Numbers.of(ROOT)
    for run, name in (("h200_rows", "h200"), ("h100", "h100")):
        (main, *_) = answers.answers_of(name)
        found = {one.name: one.value for one in main.answers}
        for number, answer in readme.items():
            if f"<!--row:{run}.{number}-->" in text:
                assert numbers.value(run, number) == found[answer], (run, number)


# --- recorded runs --------------------------------------------------------------------------------


def test_the_index_of_recorded_runs_agrees_with_their_contexts() -> None:
    with (ROOT / "results/index.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        found = load_context(ROOT / "results" / line["device"] / line["run"])
        names = (found.device.slug, found.sweep.name, found.run)
        assert names == (line["device"], line["sweep"], line["run"]), line["name"]
    assert len({(line["name"], line["run"]) for line in lines}) == len(lines)
    assert {"h100", "h200", "xeon"} <= index.recorded().keys()
    assert all(len({folder.parent for folder in found}) == 1 for found in index.recorded().values())
    with (ROOT / "docs/runs.csv").open(encoding="utf-8", newline="") as file:
        documented = [line for line in csv.DictReader(file) if line["run"] in index.recorded()]
    for line in documented:
        folders = [f"{one.parent.name}/{one.name}" for one in index.recorded()[line["run"]]]
        assert line["folder"] in folders, line["run"]
    assert documented


def test_without_the_recorded_runs_their_answers_are_in_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_runs = strata("ask", "h100", "l1", "latency").stdout
    monkeypatch.setattr(index, "recorded", dict)
    assert strata("ask", "h100", "l1", "latency").stdout == with_runs
    assert strata("ask", "l1", "latency").stdout.startswith("NVIDIA H200")
    assert (Path(answers.__file__).parent / answers.PACKED).stat().st_size < 3_000_000
    assert "nothing there" in strata("summary", "h100").stderr


def test_a_short_name_is_a_run_in_every_command(two: Path) -> None:
    assert strata("validate", "chip").stdout.startswith(f"{index.recorded()['chip'][0]}: sound")
    assert strata("summary", "chip").stdout == strata("summary", index.folder("chip")).stdout
    assert "Test Device" in strata("compare", two, "chip").stdout
    assert "or the recorded run chip" in strata("summary", "ship").stderr
    shutil.copytree(two, "chip")  # a folder comes first
    assert "Test Device (second)" in strata("summary", "chip").stdout
