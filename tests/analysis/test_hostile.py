"""Run folders and files from strangers: refused in a line or shown, and nothing outside changes."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import browsers
from bounds import bounded
from builders import (
    COUNTED_RUN,
    DATA,
    GPU_RUN,
    HOST_RUN,
    SCHEMAS,
    changed,
    context,
    edit,
    layout_case,
    write_run,
    write_table,
)
from strata.cli import main
from strata.model.truth import load_run as load_judged
from strata.run import RunError, files, load_run, read_text, write_files
from strata.run.files import MOST_OF_LINE, csv_bytes
from strata.run.private import hidden
from strata.run.validate import findings, validity

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("context.json", "measurements.csv", "samples.jsonl")
XEON = DATA / "excerpt-intel-xeon-processor-20261121T213752Z-0cf4ff2"
SEVEN = (9.5, 10.25, 10.5, 10.75, 11.5, 12.0, 12.5)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sound run of three cases."""
    return write_run(tmp_path, [layout_case(name, SEVEN) for name in ("aos", "soa", "aoas")])


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    return int(left.value.code or 0)


def digest(folder: Path) -> dict[str, str]:
    """The content of a folder: for each path the target of a link, or a digest."""

    def of(path: Path) -> str:
        if path.is_symlink():
            return f"-> {path.readlink()}"
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "other"

    return {f"{path.relative_to(folder)}": of(path) for path in sorted(folder.rglob("*"))}


# --- what is read ---------------------------------------------------------------------------------


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path may have 108 letters
        one.bind(path.name)
        os.chdir(here)


SPECIAL: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (os.mkfifo, "found a pipe; expected a regular file"),
    "folder": (Path.mkdir, "found a folder; expected a regular file"),
    "socket": (bound, "found a socket; expected a regular file"),
    "link": (lambda path: path.symlink_to("elsewhere"), "found a link; expected a regular file"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("kind", SPECIAL)
def test_a_file_of_a_run_is_a_regular_file(
    run: Path, name: str, kind: str, packed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).rename(run / "elsewhere")
    make, words = SPECIAL[kind]
    make(run / f"{name}{packed}")
    assert command("validate", run) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_file_of_another_tool_is_a_regular_file_or_a_link_to_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("pipe", "folder", "socket"):
        make, words = SPECIAL[kind]
        make(tmp_path / kind)
        assert command("import", tmp_path / kind, "--to", tmp_path) == 2
        assert words in capsys.readouterr().err
    (tmp_path / "text").write_text("text")
    (tmp_path / "link").symlink_to("text")
    assert read_text(tmp_path / "link") == "text"
    (tmp_path / "zero").symlink_to("/dev/zero")
    with pytest.raises(RunError, match="found a device; expected a regular file"):
        read_text(tmp_path / "zero")


@pytest.mark.parametrize("name", NAMES)
def test_a_line_that_unpacks_to_very_much_is_not_kept(
    run: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).unlink()
    with gzip.open(run / f"{name}.gz", "wb", compresslevel=1) as file:
        for _ in range((MOST_OF_LINE >> 20) + 1):
            file.write(b" " * (1 << 20))
    assert command("validate", run) == 2
    assert "found more than 32 MiB; expected at most that in one" in capsys.readouterr().err


def test_a_file_of_very_many_lines_is_not_read_to_its_end(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    samples = run / "samples.jsonl"
    line = samples.read_bytes().splitlines(keepends=True)[0]
    packed = gzip.compress(line * (1 + (1 << 20) // len(line)))
    samples.unlink()
    (run / "samples.jsonl.gz").write_bytes(packed)
    with pytest.raises(RunError, match=r"samples\.jsonl: found more than 1 MiB"):
        load_run(run)


def test_a_sparse_file_of_another_tool_is_not_kept(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RunError, match="found more than 128 MiB"):
        read_text(tmp_path / "sparse")


def lose_last_line(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def on_the_host(path: Path) -> None:
    write_run(path.parents[1], [layout_case("aos"), layout_case("soa", backend="host")])


def skip_all(path: Path) -> None:
    skipped = {"status": "skipped", "reason": "no such level", "measurements": []}
    lines = [json.dumps(json.loads(line) | skipped) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{line}\n" for line in lines))


UNUSABLE: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "torn": ("samples.jsonl", lambda path: os.truncate(path, 300), "found 0 of the 3 cases of"),
    "a line fewer": ("samples.jsonl", lose_last_line, "2 of the 3 cases of a complete run"),
    "NaN": ("samples.jsonl", lambda path: edit(path, "10.75", "NaN"), "jsonl:1: found NaN"),
    "another backend": ("samples.jsonl", on_the_host, "found the case micro/layout_read/host/"),
    "nothing measured": ("samples.jsonl", skip_all, "0 rows in 3 cases (skipped: no such level)"),
    "NaN in the table": ("measurements.csv", lambda path: edit(path, ",10.75,", ",nan,"), "csv:2"),
    "another device": (
        "measurements.csv",
        lambda path: edit(path, "test-device,", "other-device,"),
        "found a row of the device other-device; expected rows of test-device",
    ),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_report_of_an_unusable_run_is_one_line_and_writes_nothing(
    run: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, change, words = UNUSABLE[kind]
    change(run / name)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/report.html").write_text("an earlier report")
    before = digest(tmp_path)
    assert command("report", GPU_RUN, run, HOST_RUN, "-o", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert words in error
    assert "; to fix: " in error
    assert error.count("\n") == 1
    assert digest(tmp_path) == before
    assert command("report", run) == 2
    assert not (run / "report").exists()


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link", ["report", "report/figures", "report/report.html", "report/tables/headlines.md"]
)
def test_a_report_follows_no_link_below_a_run(
    run: Path, tmp_path: Path, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    before = digest(outside)
    of_file = "." in link
    (run / link).parent.mkdir(parents=True, exist_ok=True)
    (run / link).symlink_to(outside / "precious" if of_file else outside)
    code = command("report", run)
    assert digest(outside) == before
    printed = capsys.readouterr().err
    if of_file:  # the link goes, what it leads to stays
        assert (code, printed) == (0, "")
        assert not (run / link).is_symlink()
    else:
        assert code == 2
        assert f"{run / link}: found a link; expected a folder" in printed
        assert digest(run).keys() == {*NAMES, *parents(link)}


def parents(link: str) -> list[str]:
    return [link, *(f"{one}" for one in Path(link).parents if one != Path())]


def test_out_may_be_a_link_but_nothing_below_it(run: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert command("report", run, "-o", tmp_path / "out") == 0
    assert (tmp_path / "real/report.html").is_file()
    (tmp_path / "real/deep").symlink_to(run)
    with pytest.raises(RunError, match="found a link"):
        write_files(tmp_path / "out", {"deep/x": b""})
    (run / "here").symlink_to(tmp_path / "real")
    with pytest.raises(RunError, match="found a link"):
        write_files(run / "here", {"x": b""})
    with pytest.raises(RunError, match="found a link"):
        write_files(run / "here" / "deeper", {"x": b""})
    with pytest.raises(RunError, match="found a folder"):
        write_files(tmp_path / "out", {"figures/../../x": b""})


def test_what_cannot_all_be_written_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_files(out, {"page.html": b"before"})
    before = digest(tmp_path)
    create, made = files._created, list[Path]()

    def full(path: Path) -> AbstractContextManager[IO[bytes]]:
        made.append(path)
        if len(made) == 3:
            raise OSError(28, "No space left on device", f"{path}")
        return create(path)

    monkeypatch.setattr(files, "_created", full)
    with pytest.raises(OSError, match="No space left"):
        write_files(out, {"page.html": b"after", "a/b.csv": b"1", "a/c/d.csv": b"2", "e": b"3"})
    assert len(made) == 3
    assert digest(tmp_path) == before


def test_a_link_laid_where_a_new_file_is_made_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / f".x.{os.getpid()}").symlink_to("precious")
    before = digest(tmp_path)
    with pytest.raises(OSError, match="File exists"):
        write_files(tmp_path, {"x": b"mine"})
    assert digest(tmp_path) == before


# --- what is given to others ----------------------------------------------------------------------

TELLING = {
    "device__uuid": "GPU-5ecre7",
    "command": ["/home/ada5ecre7/bin/strata", "run", "--set", "token=5ecre7"],
    "sweep__file": "/home/ada5ecre7/5ecre7.yaml",
    "sweep__text": "# 5ecre7",
    "sweep__plan": {"min_samples": 7, "owner": "5ecre7"},
    "device__serial": "5ecre7",
    "device__pci_bus_id": "5ecre7",
    "host__host_name": "5ecre7",
    "libraries": {"driver": "580.1", "path": "5ecre7"},
    "timer": {"of": "5ecre7"},
    "strata__flags": "-O3 -I/home/ada5ecre7/include",
    "clocks": {"before": {"user": "5ecre7", "sm_clock_hz": 1e9}, "after": {"user": "5ecre7"}},
}


@pytest.fixture
def telling(tmp_path: Path) -> Path:
    """A run whose context and gates hold private data."""
    gates = [("result", "unverified", "wrote /home/ada5ecre7/core")]
    line = layout_case("aos", SEVEN, gates=gates) | {"facts": {"host": "5ecre7", "registers": 8}}
    skipped = layout_case("soa") | {"status": "skipped", "measurements": []}
    skipped["reason"] = "no /home/ada5ecre7/file"
    return write_run(tmp_path, [line, skipped], header=context(**TELLING))


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "{run}", "-o", "{out}"),
        ("export", "{run}", "{out}", "--to", "google-benchmark"),
        ("export", "{run}", "{out}", "--to", "csv"),
        ("export", "{run}", "{out}", "--to", "parquet"),
        ("export", "{run}", "{out}", "--to", "pyperf"),
        ("roofline", "{roofs}", "-o", "{out}"),
    ],
)
def test_an_anonymous_file_does_not_tell_who_measured_where(
    telling: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    out, roofs = tmp_path / "out", private(tmp_path, XEON, "roofs")
    words = [word.format(run=telling, roofs=roofs, out=out) for word in arguments]
    flag = [] if "roofline" in words else ["--anonymous"]
    assert command(*words, *flag) == 0
    made = [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]
    assert made
    for file in made:
        assert b"5ecre7" not in file.read_bytes(), file
        assert b"/home" not in file.read_bytes(), file


def test_a_submission_is_the_run_without_what_tells_whose_it_is(
    telling: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("submit", telling, "-o", tmp_path / "out") == 0
    before = load_run(telling)
    name = f"{before.context.device.slug}/{before.context.run}"
    printed = capsys.readouterr().out
    assert f"copy it to results/{name} of a clone" in printed
    timed = validity(load_run(telling))[0]
    assert f"{timed.valid} of {timed.rows} (100.0 %) of the timed ones valid" in printed
    made = tmp_path / "out" / name
    for file in made.iterdir():
        content = file.read_bytes()
        text = gzip.decompress(content) if file.suffix == ".gz" else content
        assert b"5ecre7" not in text, file
        assert b"/home" not in text, file
    run = load_run(made)
    assert findings(run) == ()
    assert [row.value for row in run.rows] == [row.value for row in before.rows]
    assert run.context.device.uuid == hidden(before.context.device.uuid or "")
    assert run.cases[0].facts == {"registers": 8}
    jsonschema = pytest.importorskip("jsonschema")
    samples = gzip.decompress((made / "samples.jsonl.gz").read_bytes()).splitlines()
    for schema, texts in (
        ("context", [(made / "context.json").read_bytes()]),
        ("samples", samples),
    ):
        rules = json.loads((SCHEMAS / "v1" / f"{schema}.schema.json").read_text())
        for text in texts:
            jsonschema.validate(json.loads(text), rules)


def test_a_submission_follows_no_link(
    telling: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    device = tmp_path / "out" / load_run(telling).context.device.slug
    device.symlink_to(tmp_path / "elsewhere")
    assert command("submit", telling, "-o", tmp_path / "out") == 2
    assert "found a link" in capsys.readouterr().err
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_what_nobody_else_can_check_is_no_submission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    google = DATA / "interop" / "google_benchmark.json"
    assert command("import", google, "--to", tmp_path) == 0
    imported = capsys.readouterr().out.strip()
    stopped = write_run(tmp_path, [layout_case("aos")], header=context(state="interrupted"))
    for run, message in ((imported, "another tool measured"), (stopped, "is interrupted")):
        assert command("submit", run, "-o", tmp_path / "out") == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def private(folder: Path, source: Path, name: str, **changes: object) -> Path:
    """A recorded run with an owner in its context; all private words contain `5ecre7`."""
    run = Path(shutil.copytree(source, folder / name))
    header = json.loads((run / "context.json").read_text())
    header = changed(header, {"run": name, **TELLING, **changes})
    (run / "context.json").write_text(json.dumps(header))
    lines = lines_of(run)
    for line in lines:
        line["facts"]["host"] = "5ecre7"
        line["gates"] = [one | {"detail": "wrote /home/ada5ecre7/core"} for one in line["gates"]]
    for one in run.glob("samples.jsonl*"):
        one.unlink()
    (run / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for one in run.glob("measurements.csv*"):
        one.unlink()
    write_table(run, load_run(run))
    return run


def output_of(out: Path, printed: str) -> str:
    """All that a command wrote and printed, without the places that it wrote to."""
    texts = [path.read_bytes().decode("latin-1") for path in out.rglob("*") if path.is_file()]
    assert texts
    return "".join([*texts, printed.replace(f"{out.parent}", "")])


def test_an_anonymous_comparison_does_not_name_its_devices_or_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uuids = ("GPU-5ecre7-1", "GPU-5ecre7-2")
    runs = [
        private(tmp_path, GPU_RUN, f"gpu-{number}", device__uuid=uuid, strata__flags=f"-O{number}")
        for number, uuid in enumerate(uuids)
    ]
    outputs: dict[tuple[str, ...], str] = {}
    for words in ((), ("--anonymous",)):
        for others in (runs, [*runs, HOST_RUN]):
            out = tmp_path / f"out{len(words)}{len(others)}"
            assert command("compare", *others, "-o", out, *words) == 0
            captured = capsys.readouterr()
            outputs[words] = outputs.get(words, "") + output_of(out, captured.out + captured.err)
    assert "5ecre7" in outputs[()]  # or the next lines prove nothing
    assert "5ecre7" not in outputs["--anonymous",]
    assert "/home" not in outputs["--anonymous",]
    assert "two devices of one model" in outputs["--anonymous",]
    assert all(hidden(uuid) in outputs["--anonymous",] for uuid in uuids)


# --- all commands ---------------------------------------------------------------------------------

EVIL = (
    "\n\\input{/etc/passwd} \x1b[31m\x07\x9b5m\u202e\u2028 [/red] $\\x$ </script><script>hit=1"
    "</script> <img src=x onerror=hit=1> ](javascript:hit=1) `$(touch was_run)` | {{ 7*7 }}"
)
FORMULAS = ("=HYPERLINK(1)", "+1+cmd|' /C x'!A0", "-1+cmd", "@SUM(1)", "\t=1", "\r=1")
FORMULA = FORMULAS[0]
EXCERPT = DATA / "excerpt-nvidia-h200-20261121T235015Z-0683d2f"
"""It has ceilings and kernels below them."""


def lines_of(run: Path) -> list[Any]:
    with files.opened(run / "samples.jsonl") as file:
        return [*map(json.loads, file)]


def hostile(
    folder: Path, outside: Path, number: int = 0, *, every: int = 1, scale: float = 1.0,
    of: Sequence[Path] = (COUNTED_RUN, GPU_RUN),
) -> Path:  # fmt: skip
    """The cases of runs in one whose every free text is hostile, and with links.

    Of the GPU `number`, with every so manieth case; its times are `scale` times as long.
    """
    lines = [line for run in of for line in lines_of(run)]
    known, kept = set(), []
    for line in lines:
        if (key := (line["case"], line["kind"])) not in known:
            known.add(key)
            kept.append(line)
    chosen = {*list(dict.fromkeys(line["case"] for line in kept))[::every]}
    kept = [line for line in kept if line["case"] in chosen]
    for place, line in enumerate(kept):
        line["facts"][EVIL] = [EVIL, {EVIL: EVIL}]
        for gate in line["gates"]:
            gate["detail"] = FORMULA if place % 2 else EVIL
        for one in line["measurements"]:
            one["noise"]["detail"] = EVIL
            if one["unit"] == "s":
                one["samples"] = [scale * sample for sample in one["samples"]]
            if place % 7 == 0:
                one["unit"] = FORMULAS[place % len(FORMULAS)] if place % 2 else EVIL
            if place % 11 == 0:
                one["samples"] = [(0.0, -1.0, 1.7e308, 5e-324)[place % 4]] * 9
    header = json.loads((of[0] / "context.json").read_text())
    header["run"] = folder.name
    header["sweep"]["cases"] = list(dict.fromkeys(line["case"] for line in kept))
    header["device"] |= {"name": FORMULA + EVIL, EVIL: EVIL, "l2_bytes": 10**300, "sm_count": -1}
    header["device"]["uuid"], header["host"]["name"] = f"{EVIL}{number}", f"{FORMULA}{number}"
    header["host"] |= {"cpu": EVIL, "os": EVIL, "kernel": EVIL, EVIL: [[[EVIL]]]}
    header["strata"] |= {"flags": EVIL, "compiler": EVIL, "build_type": EVIL, "version": EVIL}
    header["sweep"] |= {"name": EVIL, "file": EVIL, "plan": {EVIL: EVIL}}
    header |= {"command": [EVIL, "x"], "libraries": {EVIL: EVIL}, "timer": {EVIL: EVIL}}
    header["clocks"] = {"before": {EVIL: EVIL}, "after": {EVIL: EVIL}}
    header["counters"] |= {"reason": EVIL, "mend": EVIL, "chip": EVIL, "absent": [EVIL]}
    folder.mkdir(parents=True)
    (folder / "context.json").write_text(json.dumps(header))
    text = "".join(f"{json.dumps(line)}\n" for line in kept)
    (folder / "samples.jsonl").write_text(text)
    write_table(folder, load_run(folder))
    for name in ("report", "roofline", "export", ".report"):
        (folder / name).symlink_to(outside)
    return folder


def controls(text: str) -> set[str]:
    return {c for c in text if not c.isprintable() and c not in "\n\u00a0\u202f"}


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every command writes of hostile runs; nothing else changes, nothing odd is printed."""
    root = tmp_path_factory.mktemp("hostile")
    outside, out = root / "outside", root / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "report.html").write_text("precious")
    run = hostile(root / "a" / "evil-20260202T000000Z-0000000", outside)
    other = hostile(root / "b" / "evil-20260303T000000Z-0000000", outside)
    roofs = hostile(root / "d" / "evil-20260505T000000Z-0000000", outside, of=(EXCERPT,))
    named = "evil-20260404T000000Z-{:07x}".format
    fleet = [
        hostile(root / "c" / named(n), outside, n, every=6, scale=3.0 if n == 5 else 1 + 1e-4 * n)
        for n in range(6)
    ]
    theirs = outside / "theirs.json"
    theirs.write_text(json.dumps({"context": {"device": EVIL}, "benchmarks": [
        {"name": EVIL, "real_time": 1.0, "label": EVIL, "time_unit": "ns"}]}))  # fmt: skip

    def tree() -> list[dict[str, str]]:
        return [digest(one) for one in sorted(root.iterdir()) if one != out]

    data = out / "data"
    before = tree()
    for words, codes in (
        (("validate", run, other), {0}),
        (("summary", run), {0}),
        (("summary", "--map", run, other), {0}),
        (("ask", run, "all"), {0}),
        (("report", run), {2}),  # its folder is a link
        (("roofline", run), {2}),
        (("report", run, "-o", out / "report"), {0}),
        (("report", run, "--anonymous", "-o", out / "anonymous"), {0}),
        (("roofline", roofs, "-o", out / "roofline"), {0, 1}),
        (("compare", run, other), {0}),
        (("compare", run, other, "-o", out / "same"), {0}),
        (("compare", run, GPU_RUN, "--anonymous", "-o", out / "devices"), {0}),
        (("export", run, out / "x.json", "--to", "google-benchmark"), {0}),
        (("export", run, out / "x.csv", "--to", "csv"), {0}),
        (("export", run, out / "x.parquet", "--to", "parquet"), {0}),
        (("export", run, out / "y.json", "--to", "pyperf"), {0}),
        (("export", run, run / "export", "--to", "csv"), {2}),
        (("submit", run, "-o", out / "submission"), {2}),  # its units are formulas
        (("fleet", run, other, "-o", out / "few"), {2}),  # they are too few
        (("fleet", *fleet, "-o", out / "fleet"), {1}),
        (("fleet", "add", data, *fleet), {0}),
        (("fleet", data, run, "-o", out / "set"), {1}),
        (("fleet", "add", run, *fleet), {2}),  # not a data set
        (("import", theirs, "--to", out / "imported"), {0}),
        (("import", run / "context.json", "--to", out / "imported"), {2}),
    ):
        printed, here = StringIO(), Path.cwd()
        os.chdir(outside)
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                assert command(*words) in codes, (words, printed.getvalue())
        finally:
            os.chdir(here)
        assert not controls(printed.getvalue()), words
        assert tree() == before, words
    return out


def test_nothing_that_is_written_of_hostile_runs_is_executed(visited: Path) -> None:
    files = [path for path in visited.rglob("*") if path.is_file()]
    assert {".html", ".tex", ".md", ".csv", ".svg"} <= {path.suffix for path in files}
    for path in files:
        text = path.read_text() if path.suffix in (".html", ".md", ".svg", ".tex") else ""
        if path.suffix != ".tex":
            assert "<script>hit" not in text, path
            assert "<img src=x" not in text, path
        if path.suffix == ".tex":
            assert not re.search(r"^[^%\n]*\\(input|x\b)", text, re.MULTILINE), path
        if path.suffix == ".md":
            assert "](javascript" not in text, path
        if path.suffix in (".tex", ".md"):
            assert not controls(text), path
        if path.suffix == ".csv" and path.name != "measurements.csv":
            for row in csv.reader(StringIO(path.read_bytes().decode(), newline="")):
                assert not [*filter(formula, row)], (path, row)


@pytest.mark.browser
def test_no_page_of_hostile_runs_runs_fetches_or_complains(browser: Browser, visited: Path) -> None:
    pages = [path for path in visited.rglob("*.html") if path.parent.name != "anonymous"]
    assert {path.name for path in pages} == {"report.html", "compare.html", "fleet.html"}
    for path in pages:
        with browsers.opened(browser, path) as page:
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.evaluate("document.body.innerText.includes('<script>hit=1')"), path
            assert page.evaluate("typeof hit") == "undefined", path
            scripts = "[...document.links].filter(one => one.protocol == 'javascript:').length"
            assert page.evaluate(scripts) == 0


# --- spreadsheets ---------------------------------------------------------------------------------


def formula(cell: str) -> bool:
    """Whether a spreadsheet would run a cell; a number it would not."""
    return cell.startswith(tuple("=+-@\t\r")) and not re.fullmatch(NUMBER, cell)


NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf"


@pytest.mark.parametrize("word", [*FORMULAS, "-", "+", "-1.5.2", "-1.5 %", "--1", "+inf(", "-0x1"])
def test_a_word_that_a_spreadsheet_would_run_has_an_apostrophe_in_front(word: str) -> None:
    (_, cells) = csv.reader(StringIO(csv_bytes(["a"], [[word]]).decode(), newline=""))
    assert cells == [f"'{word}"]


@pytest.mark.parametrize("number", [-1.5, "-1.5", "+1.5", "-1e-09", "-inf", -3, "-.5"])
def test_a_number_is_no_formula(number: object) -> None:
    assert csv_bytes(["a"], [[number]]) == f"a\r\n{number}\r\n".encode()


@pytest.mark.parametrize("unit", FORMULAS)
def test_a_table_with_a_formula_is_no_submission(
    tmp_path: Path, unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = layout_case("aos", SEVEN)
    line["measurements"][0]["unit"] = unit
    run = write_run(tmp_path, [line])
    assert command("submit", run, "-o", tmp_path / "out") == 2
    assert "expected no word that a spreadsheet would run" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_samples_beyond_a_submission_are_refused_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path, [layout_case("aos", SEVEN)])
    line = (run / "samples.jsonl").read_bytes()
    monkeypatch.setattr("strata.interop.submission.MOST_TO_SUBMIT", 2 << 20)
    monkeypatch.setattr("strata.cli.load_run", lambda _: pytest.fail("the run was read"))
    (run / "samples.jsonl").write_bytes(line * ((2 << 20) // len(line) + 1))
    assert command("submit", run, "-o", tmp_path / "out") == 2
    (printed,) = capsys.readouterr().err.splitlines()
    assert "found more than 2 MiB of samples" in printed


def test_no_cell_of_a_submitted_table_is_a_formula(tmp_path: Path) -> None:
    run = hostile(tmp_path / "evil-20260202T000000Z-0000000", tmp_path / "outside", every=6)
    lines = lines_of(run)
    for one in (one for line in lines for one in line["measurements"]):
        one["unit"] = "s"
    (run / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    write_table(run, load_run(run))
    assert command("submit", run, "-o", tmp_path / "out") == 0
    (table,) = (tmp_path / "out").rglob("measurements.csv.gz")
    rows = [*csv.reader(StringIO(gzip.decompress(table.read_bytes()).decode(), newline=""))]
    assert any("HYPERLINK" in cell for row in rows for cell in row)
    assert not [cell for row in rows for cell in row if formula(cell)]


# --- data sets of fleets --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven sound runs, each of a GPU of its own, and a data set: a part of six and one of one."""
    root = tmp_path_factory.mktemp("members")
    runs = [root / f"test-device-20260102T030405Z-{number:07x}" for number in range(7)]
    for number, run in enumerate(runs):
        lines = [layout_case(layout, SEVEN) for layout in ("aos", "soa", "aoas")]
        header = context(run=run.name, device__uuid=f"GPU-{number}")
        write_run(root, lines, header=header).rename(run)
    for of in (runs[:6], runs[6:]):
        assert command("fleet", "add", root / "data", *of) == 0
    return root


@pytest.fixture
def data_set(members: Path, tmp_path: Path) -> Path:
    """The data set, to be altered."""
    return Path(shutil.copytree(members / "data", tmp_path / "data"))


def part(data_set: Path, folder: str) -> Path:
    (path,) = (data_set / folder).glob("*-0000006-*.parquet")
    return path


def altered(path: Path, **changes: object) -> None:
    """Changes the entry in a file of runs."""
    table = pq.read_table(path)
    entry = json.loads(table["entry"][0].as_py()) | changes
    column = pa.array([json.dumps(entry)])
    pq.write_table(table.set_column(table.schema.names.index("entry"), "entry", column), path)


def of_many_rows(path: Path) -> None:
    """Rows of 200 KB that are 10 GB of words."""
    count, word = 6_500_000, pa.array(["x" * 120])
    table = pq.read_table(path)
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), word)
        if pa.types.is_dictionary(column.type)
        else pa.array(np.zeros(count, column.type.to_pandas_dtype()))
        for column in table.schema
    ]
    rows = pa.table(columns, schema=table.schema)
    pq.write_table(rows, path, compression="zstd", row_group_size=count, write_statistics=False)
    assert path.stat().st_size < 300_000


def of_many_runs(path: Path, count: int = 1 << 20) -> None:
    """The entry of a part, padded to 1 MB, `count` times; the file has less than 200 KB."""
    table = pq.read_table(path)
    entry = pa.array([table["entry"][0].as_py() + " " * (1 << 20)])
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), entry)
    pq.write_table(pa.table({"entry": column}, metadata=table.schema.metadata), path)
    assert path.stat().st_size < 200_000


def entry_with(**changes: object) -> Callable[[Path], None]:
    return lambda path: altered(path, **changes)


PARTS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    **{
        f"{kind} as {folder}": (folder, *special)
        for kind, special in SPECIAL.items()
        for folder in ("rows", "runs")
    },
    "many rows": ("rows", of_many_rows, "expected at most 512 MiB in a row group"),
    "many runs": ("runs", of_many_runs, "a part has at most 5000"),
    "other sizes": ("runs", entry_with(sizes={"layout_read": 10**12}), "found 3 rows of"),
    "less than none": ("runs", entry_with(sizes={"layout_read": 5, "x": -2}), "`int` >= 0"),
    "a run elsewhere": ("runs", entry_with(run="../../outside"), "matching regex"),
    "a run above": ("runs", entry_with(run=".."), "matching regex"),
}


@pytest.mark.parametrize("kind", PARTS)
def test_a_hostile_part_of_a_data_set_costs_a_line(
    data_set: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, make, words = PARTS[kind]
    path = part(data_set, folder)
    if kind.startswith(tuple(SPECIAL)):
        path.rename(path.with_name("elsewhere"))
    make(path)
    with bounded():
        assert command("fleet", data_set, "-o", data_set / "out") == 0
    printed = capsys.readouterr()
    assert "6 GPUs" in printed.out
    assert printed.err.count("\n") == 1
    assert words in printed.err


def test_a_run_that_is_named_very_often_is_one(
    data_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_many_runs(part(data_set, "runs"), 5000)
    with bounded():
        assert command("fleet", data_set, "-o", data_set / "out") == 0
    assert "7 GPUs" in capsys.readouterr().out


@pytest.mark.parametrize("folder", ["rows", "runs"])
def test_a_data_set_is_not_written_through_a_link(
    data_set: Path, members: Path, tmp_path: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = members / "test-device-20260102T030405Z-0000006"
    for name in ("rows", "runs"):
        part(data_set, name).unlink()
    (data_set / folder).rename(tmp_path / "outside")
    (data_set / folder).symlink_to(tmp_path / "outside")
    before = digest(tmp_path)
    assert command("fleet", "add", data_set, run) == 2
    assert "found a link" in capsys.readouterr().err
    assert digest(tmp_path) == before


# --- what no number, no text and no parameter may be ----------------------------------------------


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ("[" * 65 + "]" * 65, "found more than 64 nested objects or lists; expected fewer"),
        ("[" * 80_000 + "]" * 80_000, "found more than 64 nested objects or lists"),
        ('"\\ud800"', "found half of a surrogate pair; expected Unicode text"),
        ("1" + "0" * 400, "expected finite numbers only"),
        ("9" * 5000, "expected finite numbers only"),
    ],
)
@pytest.mark.parametrize("name", ["context.json", "samples.jsonl"])
def test_json_that_nothing_writes_is_refused_in_a_line(
    run: Path, name: str, fact: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (run / name).read_text()
    (run / name).write_text(text.replace("{", f'{{"odd": {fact}, ', 1))
    assert command("summary", run) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1
    assert len(printed) < 1000 + len(f"{run}")


def test_a_parameter_of_many_digits_is_no_number(tmp_path: Path) -> None:
    lines = [layout_case("aos", SEVEN, size=word) for word in ("9" * 18, "9" * 19, "9" * 5000)]
    rows = load_run(write_run(tmp_path, lines, table=False)).rows
    assert [row.count("size") for row in rows] == [10**18 - 1, None, None]


def test_a_number_of_no_size_that_a_device_has_is_not_valid(tmp_path: Path) -> None:
    odd = (1.7e308, 1e31, 1e30, 0.0, 1e-30, 1e-31, 5e-324)
    lines = [layout_case(f"l{place}", value) for place, value in enumerate(odd)]
    rows = load_judged(write_run(tmp_path, lines)).rows
    assert [row.valid for row in rows] == [False, False, True, True, True, False, False]
    assert "magnitude: re-judged: numbers beyond 1e-30 or 1e+30" in rows[0].reasons
