"""Runs that cannot be used: the report prints why in one line, exits 2, and writes nothing.

The words of each refusal are tested in `test_records`; here the command is run, and the folder
that it was to write to is looked at afterwards.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders import GPU_RUN, HOST_RUN, context, layout_case, write_context, write_run
from strata.cli import main
from strata.run import load_run
from strata.run.validate import findings

CUT = "delete that line and resume the run (strata run --resume) or measure again"
AGAIN = "resume the run (strata run --resume): it regenerates the table from samples.jsonl"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A sound run of three cases, seven samples each."""
    samples = [9.5, 10.25, 10.5, 10.75, 11.5, 12.0, 12.5]
    return write_run(tmp_path, [layout_case(name, samples) for name in ("aos", "soa", "aoas")])


def samples(run: Path) -> Path:
    return run / "samples.jsonl"


def table(run: Path) -> Path:
    return run / "measurements.csv"


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Changes the text of a file, and refuses to change nothing."""
    before = path.read_bytes().decode()
    after = change(before)
    assert after != before
    path.write_bytes(after.encode())


def swap(old: str, new: str, count: int = -1) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, count)


def cells(change: Callable[[str], str]) -> Callable[[str], str]:
    """Changes the cells of a table, as a spreadsheet does that shows them in its own way."""
    return lambda text: "".join(
        ";".join(change(cell) for cell in line.split(",")) + "\r\n" for line in text.splitlines()
    )


def dated(text: str) -> str:
    """10.5 is the tenth of May to a spreadsheet of some languages."""
    return text.replace(",10.75,", ",10-May,", 1)


def without_column(name: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines = [line.split(",") for line in text.splitlines()]
        place = lines[0].index(name)
        return "".join(
            ",".join(word for at, word in enumerate(line) if at != place) + "\r\n" for line in lines
        )

    return change


def of_other_device(text: str) -> str:
    """The last row is of another device, as when two tables were put together."""
    *lines, last = text.splitlines()
    return "\r\n".join([*lines, last.replace("test-device,", "other-device,", 1), ""])


def lose_last_case(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-1])


def twice(text: str) -> str:
    return text + text.splitlines(keepends=True)[1]


def edit_samples(change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda run: edit(samples(run), change)


def edit_table(change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda run: edit(table(run), change)


def pack_half(path: Path) -> None:
    packed = gzip.compress(path.read_bytes())
    path.with_name(path.name + ".gz").write_bytes(packed[: len(packed) // 2])
    path.unlink()


def utf16(run: Path) -> None:
    table(run).write_bytes(table(run).read_text().encode("utf-16"))


def empty(run: Path) -> None:
    """No case was come to, and yet the run calls itself complete."""
    samples(run).write_text("")
    table(run).write_text(table(run).read_text().splitlines(keepends=True)[0])


def nothing_measured(run: Path) -> None:
    """Every case was skipped."""
    skipped = [
        json.loads(line) | {"status": "skipped", "reason": "no such level", "measurements": []}
        for line in samples(run).read_text().splitlines()
    ]
    samples(run).write_text("".join(json.dumps(line) + "\n" for line in skipped))
    table(run).write_text(table(run).read_text().splitlines(keepends=True)[0])


def other_backend(run: Path) -> None:
    """One case ran on the host, the run on a GPU."""
    write_run(run.parent, [layout_case("aos"), layout_case("soa", backend="host")])


def version(number: int) -> Callable[[Path], None]:
    return lambda run: write_context(run, context(schema_version=number))


CORRUPT: dict[str, tuple[Callable[[Path], None], str]] = {
    "samples cut off, torn": (
        edit_samples(lambda text: text[: len(text) - 40]),
        "found 2 of the 3 cases of a complete run; expected every case, including micro/layout_",
    ),
    "samples cut off, whole lines": (
        edit_samples(lose_last_case),
        "samples.jsonl: found 2 of the 3 cases of a complete run",
    ),
    "samples cut in the middle": (
        edit_samples(lambda text: text[:200] + "\n" + text[400:]),
        "samples.jsonl:1: found broken JSON",
    ),
    "samples packed and cut off": (
        lambda run: pack_half(samples(run)),
        "samples.jsonl.gz: found Compressed file ended before the end-of-stream marker",
    ),
    "table packed and cut off": (
        lambda run: pack_half(table(run)),
        "measurements.csv.gz: found Compressed file ended before the end-of-stream marker",
    ),
    "table cut off": (
        edit_table(lambda text: text[: len(text) - 60]),
        "measurements.csv:4: found ",
    ),
    "a column missing": (
        edit_table(without_column("ci_low")),
        "measurements.csv:1: found the columns 'run,device",
    ),
    "a key missing": (
        edit_samples(swap('"method": "clock64_slope", ', "", 1)),
        "samples.jsonl:1: found no measurements[0].method; expected",
    ),
    "version of the context": (version(4), "context.json: found schema version 4; expected schema"),
    "version of a line": (
        edit_samples(swap('"schema_version": 1', '"schema_version": 9', 1)),
        "samples.jsonl:1: found schema version 9",
    ),
    "NaN in the samples": (
        edit_samples(swap("10.75", "NaN", 1)),
        "samples.jsonl:1: found NaN; expected finite numbers only",
    ),
    "NaN in the table": (
        edit_table(swap("10.75", "nan", 1)),
        "measurements.csv:2: found nan as value; expected a finite number",
    ),
    "a row twice": (edit_table(twice), "again (first in line 2); expected each case, quantity and"),
    "a measurement twice": (
        edit_samples(
            lambda text: (
                json.dumps(line := json.loads(text.splitlines()[0])).replace(
                    json.dumps(line["measurements"]), json.dumps(line["measurements"] * 2)
                )
                + "\n"
            )
        ),
        "samples.jsonl:1: found warp_read_cycles by clock64_slope twice",
    ),
    "rows of another device": (
        edit_table(of_other_device),
        "measurements.csv: found a row of the device other-device; expected rows of test-device",
    ),
    "cases on another backend": (other_backend, "found the case micro/layout_read/host/"),
    "no rows": (empty, "samples.jsonl: found 0 of the 3 cases of a complete run"),
    "nothing measured": (
        nothing_measured,
        "samples.jsonl: found 0 rows in 3 cases (skipped: no such level)",
    ),
    "spreadsheet: semicolons": (
        edit_table(cells(lambda cell: cell)),
        "measurements.csv:1: found the columns 'run;device;",
    ),
    "spreadsheet: semicolons and decimal commas": (
        edit_table(cells(lambda cell: cell.replace(".", ","))),
        "measurements.csv:1: found the columns 'run;device;",
    ),
    "spreadsheet: tabs": (
        edit_table(lambda text: text.replace(",", "\t")),
        "measurements.csv:1: found the columns 'run\\tdevice",
    ),
    "spreadsheet: decimal commas": (
        edit_table(swap(",10.75,", ',"10,75",', 1)),
        "measurements.csv:2: found CSV conversion error to double: invalid value '10,75'",
    ),
    "spreadsheet: dates": (
        edit_table(dated),
        "measurements.csv:2: found CSV conversion error to double: invalid value '10-May'",
    ),
    "spreadsheet: a byte order mark": (
        edit_table(lambda text: "\ufeff" + text),
        "measurements.csv:1: found the columns '\\ufeffrun,",
    ),
    "spreadsheet: capital flags": (
        edit_table(swap(",true,", ",TRUE,", 1)),
        "measurements.csv:2: found CSV conversion error to bool: invalid value 'TRUE'",
    ),
    "spreadsheet: blank columns behind": (
        edit_table(lambda text: text.replace("\r\n", ",,\r\n")),
        "reasons,,'; expected the columns 'run,device",
    ),
    "spreadsheet: UTF-16": (utf16, "measurements.csv:1: found the columns "),
}


def files(folder: Path) -> dict[str, bytes]:
    return {
        f"{path.relative_to(folder)}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The standard error of the command: one line, with exit code 2."""
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments)])
    told = capsys.readouterr()
    assert left.value.code == 2
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert "Traceback" not in told.err
    return told.err


@pytest.mark.parametrize("name", CORRUPT)
def test_report_of_a_corrupt_run_is_one_line_and_writes_nothing(
    name: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, words = CORRUPT[name]
    change(run)
    before = files(run)
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("an earlier report")
    message = refused(capsys, "report", run, "-o", out)
    assert message.startswith("strata: ")
    assert words in message
    assert "; to fix: " in message
    assert files(out) == {"report.html": b"an earlier report"}
    assert files(run) == before


def test_report_of_a_corrupt_run_creates_no_folder(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(samples(run), swap("10.75", "NaN", 1))
    refused(capsys, "report", run)
    assert not (run / "report").exists()


def test_one_corrupt_run_among_sound_ones_stops_them_all(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(samples(run), lose_last_case)
    refused(capsys, "report", GPU_RUN, run, HOST_RUN, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            lambda data: data["benchmarks"]["layout_read"].update(quantities=5),
            "found 5; expected array as benchmarks.layout_read.quantities",
        ),
        (
            lambda data: data["benchmarks"]["layout_read"].update(axes=[{"name": 7}]),
            "found 7; expected str as benchmarks.layout_read.axes[0].name",
        ),
        (
            lambda data: data["ladders"].update(nbody=[], other="x"),
            'found "x"; expected array as ladders.other',
        ),
    ],
)
def test_a_wrong_member_within_a_mapping_is_named(
    run: Path,
    change: Callable[[dict[str, Any]], None],
    found: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = run / "context.json"
    axis = {"name": "layout", "meaning": "m", "defaults": []}
    benchmark = {"suite": "micro", "question": "?", "axes": [axis], "quantities": []}
    data = json.loads(file.read_text())
    data |= {"benchmarks": {"atomics": benchmark, "layout_read": dict(benchmark)}, "ladders": {}}
    change(data)
    file.write_text(json.dumps(data))
    with pytest.raises(SystemExit) as left:
        main(["summary", f"{run}"])
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert found in line


def test_a_spreadsheet_that_changed_nothing_but_line_ends_is_no_damage(run: Path) -> None:
    edit(table(run), lambda text: text.replace("\r\n", "\n"))
    found = load_run(run)
    assert findings(found) == ()
    edit(table(run), lambda text: text.replace("\n", "\r\n"))
    assert load_run(run).table == found.table


def test_a_run_that_was_cut_off_while_it_ran_is_no_corrupt_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [layout_case(name) for name in ("aos", "soa")]
    header = context(state="running", finished=None)
    header["sweep"]["cases"] = [line["case"] for line in cases]
    run = write_run(tmp_path, cases, header=header, table=False)
    edit(samples(run), lambda text: text[: len(text) - 40])
    with pytest.raises(SystemExit) as left:
        main(["report", f"{run}", "-o", f"{tmp_path / 'out'}"])
    assert left.value.code == 0
    assert "report.html" in capsys.readouterr().out


def test_a_table_that_lacks_a_row_is_found_out(run: Path) -> None:
    edit(table(run), lambda text: "".join(text.splitlines(keepends=True)[i] for i in (0, 1, 3)))
    loaded = load_run(run)
    assert loaded.table is not None
    assert [row.params["layout"] for row in loaded.table] == ["aos", "aoas"]
    (finding,) = findings(loaded)
    assert finding.startswith("measurements.csv: no row for warp_read_cycles by clock64_slope of")


SLOW = """
import time
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from strata.run import table


class Slow(BytesIO):
    def read(self, size=-1):
        time.sleep(0.3)
        return super().read(size)


@contextmanager
def opened(path):
    row = b"," * (len(table.COLUMNS) - 1) + b"\\n"
    yield Slow(table.HEADER.encode() + b"\\n" + row * 100_000)


table.opened = opened
next(table._batches(Path("table")))
"""


def test_a_command_that_ends_while_a_table_is_read_ends_in_peace() -> None:
    # Arrow reads ahead on a thread; with a Python file there, the interpreter's end aborted it.
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
