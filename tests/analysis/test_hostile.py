"""Run folders and files from strangers: refused in a line or shown, and nothing outside changes."""

import csv
import gzip
import hashlib
import json
import os
import re
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import StringIO
from pathlib import Path
from typing import IO

import pytest

from builders import (
    COUNTED_RUN,
    DATA,
    GPU_RUN,
    SCHEMAS,
    context,
    layout_case,
    write_run,
    write_table,
)
from strata.cli import main
from strata.model.truth import load_run as load_judged
from strata.run import RunError, files, load_run, read_text, write_files
from strata.run.files import MOST_OF_LINE
from strata.run.private import anonymous, hidden
from strata.run.validate import findings

NAMES = ("context.json", "measurements.csv", "samples.jsonl")
SEVEN = (9.5, 10.25, 10.5, 10.75, 11.5, 12.0, 12.5)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sound run of three cases."""
    return write_run(tmp_path, [layout_case(name, SEVEN) for name in ("aos", "soa", "aoas")])


def command(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    return int(left.value.code or 0)


def digest(folder: Path) -> dict[str, str]:
    """What lies in a folder: of each path where it leads, or a digest of what it holds."""

    def of(path: Path) -> str:
        if path.is_symlink():
            return f"-> {path.readlink()}"
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "other"

    return {f"{path.relative_to(folder)}": of(path) for path in sorted(folder.rglob("*"))}


# --- what is read ---------------------------------------------------------------------------------


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


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
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("kind", SPECIAL)
def test_a_file_of_a_run_is_a_regular_file(
    run: Path, name: str, kind: str, packed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).unlink()
    make, words = SPECIAL[kind]
    make(run / f"{name}{packed}")
    assert command("validate", run) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_a_run_is_no_link(
    run: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    linked(run / name)
    assert command("validate", run) == 2
    assert f"{name}: found a link; expected a regular file" in capsys.readouterr().err


@pytest.mark.parametrize("kind", SPECIAL)
def test_a_file_of_another_tool_is_a_regular_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, words = SPECIAL[kind]
    make(tmp_path / "theirs")
    assert command("import", tmp_path / "theirs", "--to", tmp_path) == 2
    assert words in capsys.readouterr().err


def test_a_file_of_another_tool_may_be_a_link_and_no_device(tmp_path: Path) -> None:
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
    with pytest.raises(RunError, match=r"samples\.jsonl\.gz: found more than 1 MiB"):
        load_run(run)


def test_a_sparse_file_of_another_tool_is_not_kept(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RunError, match="found more than 128 MiB"):
        read_text(tmp_path / "sparse")


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
    told = capsys.readouterr().err
    if of_file:  # the link goes, what it leads to stays
        assert (code, told) == (0, "")
        assert not (run / link).is_symlink()
    else:
        assert code == 2
        assert f"{run / link}: found a link; expected a folder" in told
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
    """A run whose context and gates hold what nobody should learn."""
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
    ],
)
def test_an_anonymous_file_does_not_tell_who_measured_where(
    telling: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    words = [word.format(run=telling, out=out) for word in arguments]
    assert command(*words, "--anonymous") == 0
    made = [out] if out.is_file() else [one for one in out.rglob("*") if one.is_file()]
    assert made
    for file in made:
        assert b"5ecre7" not in file.read_bytes(), file
        assert b"/home" not in file.read_bytes(), file


def test_an_anonymous_run_keeps_what_describes_the_model(telling: Path) -> None:
    run = anonymous(load_run(telling))
    assert run.context.device.sm_count == 2
    assert run.context.libraries == {"driver": "580.1"}
    assert run.context.clocks_before == {"sm_clock_hz": 1e9}
    assert run.cases[0].facts == {"registers": 8}
    assert run.cases[0].gates[0].detail == "wrote …/core"
    assert findings(run) == ()


def test_a_submission_is_the_run_without_what_tells_whose_it_is(
    telling: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("submit", telling, "-o", tmp_path / "out") == 0
    before = load_run(telling)
    name = f"{before.context.device.slug}/{before.context.run}"
    assert f"copy it to results/{name} of a clone" in capsys.readouterr().out
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


def test_what_nobody_else_can_check_is_no_submission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    google = DATA / "interop" / "google_benchmark.json"
    assert command("import", google, "--to", tmp_path) == 0
    imported = capsys.readouterr().out.strip()
    stopped = write_run(tmp_path, [layout_case("aos")], header=context(state="interrupted"))
    for run, told in ((imported, "another tool measured"), (stopped, "is interrupted")):
        assert command("submit", run, "-o", tmp_path / "out") == 2
        assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_export_cuts_paths_off_without_being_asked(telling: Path, tmp_path: Path) -> None:
    assert command("export", telling, tmp_path / "x", "--to", "google-benchmark") == 0
    assert "/home" not in (tmp_path / "x").read_text()


# --- all commands ---------------------------------------------------------------------------------

EVIL = (
    "\n\\input{/etc/passwd} \x1b[31m\x07\x9b5m\u202e\u2028 [/red] $\\x$ </script><script>alert(1)"
    "</script> <img src=x onerror=alert(1)> ](javascript:alert(1)) `$(touch was_run)` | {{ 7*7 }}"
)
FORMULA = "=HYPERLINK(1)"


def hostile(folder: Path, outside: Path) -> Path:
    """A counted run with ceilings and kernels whose every free text is hostile, and with links."""
    lines = [json.loads(one) for one in (COUNTED_RUN / "samples.jsonl").read_text().splitlines()]
    lines += [json.loads(one) for one in (GPU_RUN / "samples.jsonl").read_text().splitlines()]
    known, kept = set(), []
    for line in lines:
        if (key := (line["case"], line["kind"])) not in known:
            known.add(key)
            kept.append(line)
    for number, line in enumerate(kept):
        line["facts"][EVIL] = [EVIL, {EVIL: EVIL}]
        for gate in line["gates"]:
            gate["detail"] = FORMULA if number % 2 else EVIL
        for one in line["measurements"]:
            one["noise"]["detail"] = EVIL
            if number % 7 == 0:
                one["unit"] = FORMULA if number % 2 else EVIL
            if number % 11 == 0:
                one["samples"] = [(0.0, -1.0, 1.7e308, 5e-324)[number % 4]] * 9
    header = json.loads((COUNTED_RUN / "context.json").read_text())
    header["run"] = folder.name
    header["sweep"]["cases"] = list(dict.fromkeys(line["case"] for line in kept))
    header["device"] |= {"name": FORMULA + EVIL, EVIL: EVIL, "l2_bytes": 10**300, "sm_count": -1}
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


def test_a_hostile_run_changes_nothing_outside_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "report.html").write_text("precious")
    run = hostile(tmp_path / "a" / "evil-20260202T000000Z-0000000", outside)
    other = hostile(tmp_path / "b" / "evil-20260303T000000Z-0000000", outside)
    monkeypatch.chdir(outside)
    theirs = tmp_path / "theirs.json"
    theirs.write_text(json.dumps({"context": {"device": EVIL}, "benchmarks": [
        {"name": EVIL, "real_time": 1.0, "label": EVIL, "time_unit": "ns"}]}))  # fmt: skip

    def tree() -> dict[str, str]:
        found = digest(tmp_path)
        return {name: what for name, what in found.items() if not name.startswith("out/")}

    before = tree()
    for words, codes in (
        (("validate", run, other), {0}),
        (("summary", run), {0}),
        (("summary", "--brief", run), {0}),
        (("report", run), {2}),  # its folder is a link
        (("roofline", run), {2}),
        (("report", run, "-o", out / "report"), {0}),
        (("report", run, "--anonymous", "-o", out / "anonymous"), {0}),
        (("roofline", run, "-o", out / "roofline"), {0, 1, 2}),
        (("compare", run, other, "-o", out / "same"), {0}),
        (("compare", run, GPU_RUN, "-o", out / "devices"), {0}),
        (("export", run, out / "x.json", "--to", "google-benchmark"), {0}),
        (("export", run, out / "x.csv", "--to", "csv"), {0}),
        (("export", run, out / "x.parquet", "--to", "parquet"), {0}),
        (("export", run, out / "y.json", "--to", "pyperf"), {0}),
        (("export", run, run / "export", "--to", "csv"), {2}),
        (("submit", run, "-o", out / "submission"), {0}),
        (("fleet", run, other, "-o", out / "fleet"), {2}),  # they are too few
        (("import", theirs, "--to", out / "imported"), {0}),
        (("import", run / "context.json", "--to", out / "imported"), {2}),
    ):
        assert command(*words) in codes, (words, capsys.readouterr().err)
        told = capsys.readouterr()
        assert not controls(told.out + told.err), words
        assert tree() == before, words
    files = [path for path in out.rglob("*") if path.is_file()]
    assert {".html", ".tex", ".md", ".csv", ".svg"} <= {path.suffix for path in files}
    for path in files:
        text = path.read_text() if path.suffix in (".html", ".md", ".svg", ".tex") else ""
        if path.suffix != ".tex":
            assert "<script>alert" not in text, path
            assert "<img src=x" not in text, path
        if path.suffix == ".tex":
            assert not re.search(r"^[^%\n]*\\(input|x\b)", text, re.MULTILINE), path
        if path.suffix == ".md":
            assert "](javascript" not in text, path
        if path.suffix in (".tex", ".md"):
            assert not controls(text), path
        if path.suffix == ".csv" and path.name != "measurements.csv":
            for row in csv.reader(StringIO(path.read_text(), newline="")):
                assert not any(cell.startswith(("=", "@", "\t")) for cell in row), (path, row)


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
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert len(told) < 1000 + len(f"{run}")


def test_a_context_that_is_called_by_a_folder_above_is_refused(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (run / "context.json").read_text()
    (run / "context.json").write_text(text.replace(f'"{run.name}"', '".."'))
    assert command("summary", run) == 2
    assert "expected a valid run name" in capsys.readouterr().err


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
