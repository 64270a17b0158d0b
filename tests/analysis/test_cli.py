"""The command: what it prints, where, and the exit codes."""

import ast
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from builders import (
    COUNTED_RUN,
    DATA,
    GPU_RUN,
    HOST_RUN,
    SOURCES,
    context,
    layout_case,
    strata,
    strata_process,
    write_run,
)
from strata.run import one_line


def printed(*words: str | Path, **options: Any) -> list[str]:
    """The lines of a command that succeeds."""
    done = strata(*words, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_report_ends_with_ten_numbers_and_the_path_of_the_page(tmp_path: Path) -> None:
    lines = printed("report", GPU_RUN, "-o", tmp_path / "out")
    assert lines[-1] == f"{tmp_path}/out/report.html"
    assert lines[0] == "Synthetic GPU (synthetic-gpu-20260101T000000Z-0000000)"
    assert len(lines) == 12
    assert Path(lines[-1]).is_file()
    assert "\x1b" not in "".join(lines)


def test_a_report_goes_into_the_run_and_of_several_into_the_working_folder(tmp_path: Path) -> None:
    one = write_run(tmp_path, [layout_case()])
    two = write_run(tmp_path / "b", [layout_case()], header=context(run="other"))
    printed("report", one)
    assert (one / "report" / "report.html").is_file()
    printed("validate", one)
    assert printed("report", one, two, cwd=tmp_path)[-1] == "report/report.html"
    assert (tmp_path / "report" / "report.html").is_file()


def test_summary_prints_sentences_and_gives_programs_the_same_numbers() -> None:
    lines = printed("summary", HOST_RUN)
    assert lines[0].startswith("L1: With one chain per core, ")
    assert lines[4] == "Level: 0 of 760 rows proved by counters, 760 level unverified."
    assert lines[5].startswith("Synthetic CPU (")
    assert len(lines) == 4 + 1 + 1 + 9 + 3
    words, data = "\n".join(lines), json.loads("".join(printed("summary", "--json", HOST_RUN)))
    assert len(data["numbers"]) == 9
    assert all(f"\n{name} " in words for name in data["numbers"])
    best = data["numbers"]["L1 latency, cheapest layout"]
    assert (best["value"], best["unit"]) == (46.128, "tsc_cycle")
    assert best["low"] <= best["value"] <= best["high"]
    assert "/layout=soaoas/" in best["case"]
    assert data["l2"] == {}
    assert {one["level"] for one in data["best_layouts"] if one["by"] == "latency"} >= {"l1"}
    timed = data["validity"]["timed"]
    assert f"{timed['valid']} of {timed['rows']} (" in words
    assert data["rows"] == sum(one["rows"] for one in data["validity"].values())
    assert data["valid_rows"] == sum(one["valid"] for one in data["validity"].values())
    assert f"{data['measured_cases']} of {data['cases']}" in words


def test_the_share_of_valid_rows_for_reframe_is_that_of_timed_rows() -> None:
    file = SOURCES.parents[1] / "sweeps/reframe/strata_checks.py"  # which needs ReFrame as a whole
    body = ast.parse(file.read_text(encoding="utf-8")).body
    parts: list[ast.stmt] = [
        one for one in body
        if isinstance(one, ast.FunctionDef) and one.name in ("name_of", "numbers_of")
    ]  # fmt: skip
    names: dict[str, Any] = {"re": re}
    exec(compile(ast.Module(parts, []), file, "exec"), names)  # noqa: S102
    data = json.loads(strata("summary", "--json", COUNTED_RUN).stdout)
    timed = data["validity"]["timed"]
    assert timed["valid"] / timed["rows"] != data["valid_rows"] / data["rows"]
    assert names["numbers_of"](data)["valid_share"] == (timed["valid"] / timed["rows"], "1")
    run = DATA / "excerpt-nvidia-h200-20261121T235015Z-0683d2f"
    numbers = json.loads(strata("summary", "--json", run).stdout)["numbers"]
    assert numbers["L1 latency"]["unit"] == "cycle"
    assert 1e-9 < numbers["L2 latency"]["seconds"] < 1e-6
    assert 1e-9 < numbers["L1 latency"]["seconds"] < 1e-7
    assert {"cache sizes L1", "cache sizes L2"} <= set(numbers)


def test_validate_reports_sound_for_each_run() -> None:
    counts = "timed 904 of 924, counted 449 of 463, modelled 622 of 630"
    assert printed("validate", GPU_RUN, HOST_RUN, COUNTED_RUN) == [
        f"{GPU_RUN}: sound (108 cases, 1084 rows; valid: timed 1072 of 1084)",
        "  little         1 rows of 1 cases re-judged: valid, and state what they are",
        f"{HOST_RUN}: sound (76 cases, 768 rows; valid: timed 768 of 768)",
        f"{COUNTED_RUN}: sound (223 cases, 2017 rows; valid: {counts})",
    ]


def test_validate_names_every_finding_and_exits_2(tmp_path: Path) -> None:
    run = write_run(tmp_path, [layout_case("aos", 100), layout_case("soa", 50)])
    table = run / "measurements.csv"
    table.write_text(table.read_text().replace(",100.0,,", ",1.0,,").replace(",50.0,,", ",2.0,,"))
    done = strata("validate", run)
    assert (done.returncode, done.stdout) == (2, "")
    first, _ = done.stderr.splitlines()
    assert first.startswith(f"{run}: measurements.csv: warp_read_cycles by clock64_slope of")


@pytest.mark.parametrize("command", ["report", "summary", "validate"])
def test_bad_input_is_one_line_and_exit_2(command: str, tmp_path: Path) -> None:
    run = tmp_path / GPU_RUN.name
    shutil.copytree(GPU_RUN, run)
    samples = run / "samples.jsonl"
    samples.write_text("{}\n" + samples.read_text())
    done = strata(command, run)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"strata: {samples}:1: found no schema_version; expected schema_version; "
        "to fix: delete that line and resume the run (strata run --resume) or measure again\n"
    )


def test_what_cannot_be_used_is_one_line_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    os.mkfifo(tmp_path / "pipe")
    run = write_run(tmp_path, [layout_case()])
    wrong: list[tuple[list[str | Path], str]] = [
        (["report", tmp_path / "nowhere"], "nothing there"),
        (["summary", tmp_path / "nowhere"], "nothing there"),
        (["report", run, "-o", tmp_path / "file"], "strata: cannot write "),
        (["report", run, run, "-o", tmp_path / "out"], "twice"),
        (["export", run, tmp_path / "pipe", "--to", "csv", "--force"], "found a pipe; expected an"),
        (["export", run, "x"], "Choose from: google-benchmark, pyperf"),
    ]
    for words, found in wrong:
        done = strata(*words)
        (line,) = done.stderr.splitlines()
        assert done.returncode == 2
        assert found in line
        assert "\\" not in line
    assert one_line("80.2\u00a0% of 1\u202f000\x1b[2J\n") == "80.2\u00a0% of 1\u202f000\\x1b[2J\\n"


def process(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", *words]
    environment = os.environ | {"PYTHONPATH": f"{SOURCES}"}
    options = {"stdout": subprocess.PIPE, **options}
    return subprocess.run(
        command, env=environment, stderr=subprocess.PIPE, text=True, check=False, **options
    )


def test_a_full_disk_is_one_line_that_names_a_file_and_leaves_none(tmp_path: Path) -> None:
    run, out = write_run(tmp_path, [layout_case()]), tmp_path / "out"
    limit = (20_000, 20_000)
    done = process(
        "-m", "strata", "report", run, "-o", out,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )  # fmt: skip
    assert done.returncode == 2
    assert re.fullmatch(rf"strata: cannot write {out}/\S+: File too large\n", done.stderr)
    assert not out.exists()


@pytest.mark.parametrize("command", ["summary", "validate"])
def test_output_that_is_lost_has_the_exit_code_of_every_command(command: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = process("-m", "strata", command, HOST_RUN, stdout=full)
    message = "strata: cannot write all output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize("command", ["roofline", "summary", "report", "validate", "submit"])
def test_a_folder_of_runs_is_named_as_such(command: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name in ("a", "b"):
        write_run(runs, [layout_case()], header=context(run=name)).rename(runs / name)
    done = strata(command, runs)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "found a folder of 2 runs; expected one run folder" in line
    assert f"such as {runs / 'b'}" in line
    assert "resume" not in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing command; see python -m strata --help"),
        (["report"], "Missing argument 'RUN...'; see python -m strata report --help"),
        (["frobnicate\n"], "No such command 'frobnicate\\n'; see python -m strata --help"),
        (["summary", "--loud", "x"], "No such option: --loud; see python -m strata summary --help"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str], message: str) -> None:
    done = strata(*arguments)
    assert (done.returncode, done.stderr) == (2, f"strata: {message}\n")


def test_help_needs_no_run_and_no_matplotlib() -> None:
    words = " ".join(printed("--help"))
    assert all(command in words for command in ("report", "summary", "validate"))
    code = "import sys, strata.cli; sys.exit(bool({'matplotlib', 'pandas'} & {*sys.modules}))"
    assert process("-c", code).returncode == 0


def test_nothing_in_the_working_folder_is_imported(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", [layout_case()])
    here = tmp_path / "here"
    here.mkdir()
    for name in ("strata", "jinja2", "matplotlib", "msgspec", "typer", "numpy"):
        (here / f"{name}.py").write_text("raise SystemExit('it was run')\n")
    done = strata_process("report", run, "-o", tmp_path / "out", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_program_calls_the_analysis_without_the_working_folder() -> None:
    source = Path(__file__).parents[2] / "harness/cli/analysis_command.cpp"
    assert '"-P", "-m", "strata"' in source.read_text(encoding="utf-8")
