"""Whatever a file or a command line holds: a result, or one line and exit code 2, at bounded cost.

    STRATA_FUZZ=1000000 python -m pytest -c analysis/pyproject.toml tests/analysis/test_fuzz.py

tries so many inputs of each kind instead of some dozens; a failure prints the input, made small.
"""

import copy
import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import bounded
from builders import DATA, GPU_RUN, NAME, case, context2, measurement
from ladder_run import gpu_run
from strata import cli, reference
from strata.interop import Target
from strata.interop.plain_csv import encode
from strata.reference import ReferenceTableError, read_bibliography
from strata.run import RunError, case_id, load_run

COUNT = int(os.environ.get("STRATA_FUZZ", "0"))


def some(examples: int) -> settings:
    """So many examples, or a share of them (`conftest.py`)."""
    if COUNT:
        return settings(settings.get_profile("all"), max_examples=COUNT, database=None)
    return settings(max_examples=max(1, examples * settings().max_examples // 100), database=None)


WORDS = (
    "", "0", "-1", "9" * 5000, "1" + "0" * 400, "1e999", "nan", "x", "..", "a" * 300, "1.5", "all",
    "\ud800", "$\\x$", "\x1b[31m", "\u202e", "<b>", "=1+1", "a\nb", "\x00", "[/red]", "{{7*7}}",
)  # fmt: skip
NUMBERS = (0, -1, 1e308, -1e308, 5e-324, 1e-300, 10**300, 10**400, 2**64, 1.5, float("nan"))
DEEP: Any = []
for _ in range(100):
    DEEP = [DEEP]
VALUES = st.sampled_from((*WORDS, *NUMBERS, None, True, [], {}, [[1]], {"a": 1}, DEEP))
CHANGES = st.lists(st.tuples(st.integers(0, 2**20), VALUES), max_size=4)
CUTS = st.lists(st.tuples(st.integers(0, 2**20), st.binary(max_size=6)), max_size=4)


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of a value of JSON: what holds it, and its key."""
    held = [data]
    while held:
        one = held.pop()
        keys = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        yield from ((one, key) for key in keys)
        held += [one[key] for key in keys]


def changed(data: Any, changes: list[tuple[int, Any]], *, gone: bool = False) -> Any:
    """A copy with some members replaced, or with some `gone`."""
    data = copy.deepcopy(data)
    for number, value in changes:
        if found := list(places(data)):
            holder, key = found[number % len(found)]
            if gone and isinstance(holder, dict) and number % 3 == 0:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(value)
    return data


def cut(data: bytes, cuts: list[tuple[int, bytes]]) -> bytes:
    """With some bytes overwritten, and cut off behind the last where that is one of nothing."""
    for at, new in cuts:
        place = at % (len(data) + 1)
        data = data[:place] + new + data[place + len(new) :] if new else data[:place]
    return data


MANY = ("validate", "fleet")
"""Commands that name each of several faults in a line of its own."""


def answered(*arguments: str | Path) -> int:
    """The exit code of a command: 2 with one line; nothing of its output controls a terminal."""
    out, err = io.StringIO(), io.StringIO()
    with bounded(), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        cli.main([*map(str, arguments)])
    code = int(left.value.code or 0)
    text = out.getvalue() + err.getvalue()
    assert not {c for c in text if not c.isprintable() and c not in "\n\u00a0\u202f"}
    assert "Traceback" not in text
    assert code in (0, 1, 2)
    if code == 2 and not {*MANY}.intersection(arguments[:1]):
        assert err.getvalue().count("\n") == 1, err.getvalue()
    return code


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples of a test write over."""
    return tmp_path_factory.mktemp("fuzz")


def lines_of(run: Path) -> list[Any]:
    path = run / "samples.jsonl"
    raw = path.read_bytes() if path.exists() else gzip.decompress(
        path.with_name("samples.jsonl.gz").read_bytes()
    )  # fmt: skip
    return [json.loads(line) for line in raw.splitlines()]


def put(run: Path, header: Any, lines: list[Any]) -> Path:
    run.mkdir(exist_ok=True)
    (run / "context.json").write_text(json.dumps(header))
    (run / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return run


NAMES = ("context.json", "samples.jsonl", "measurements.csv")
LINES = [
    case([measurement(samples=(1.0, 2.0))], params={"layout": "aos"}, facts={"x": [1, {"y": "z"}]}),
    case([measurement()], params={"layout": "soa"}, gates=[("result", "passed", "")]),
]
HEADER = context2(sweep__cases=[line["case"] for line in LINES])


def every_command(room: Path, header: Any, lines: list[Any], *, to: str) -> Iterator[int]:
    """The exit codes of what takes one run, whose table is its own where it has any."""
    run = put(room / NAME, header, lines)
    table = run / "measurements.csv"
    table.unlink(missing_ok=True)
    with suppress(RunError):
        table.write_bytes(encode(load_run(run), exact=True))
    yield answered("validate", run)
    yield answered("summary", run)
    yield answered("ask", run, "all")
    yield answered("export", run, room / "x", "--to", to, "--anonymous", "--force")
    yield answered("submit", run, "-o", room / "submission", "--force")


@given(head=CHANGES, lines=CHANGES, gone=st.booleans(), to=st.sampled_from(get_args(Target)))
@some(60)
def test_members_of_a_run(
    room: Path, head: list[tuple[int, Any]], lines: list[tuple[int, Any]], to: str, *, gone: bool
) -> None:
    found = changed(HEADER, head, gone=gone), changed(LINES, lines, gone=gone)
    codes = every_command(room, *found, to=to)
    assert set(codes) == {0} or head or lines


@given(name=st.sampled_from(NAMES), cuts=CUTS, packed=st.booleans())
@some(150)
def test_bytes_of_a_run(
    room: Path, name: str, cuts: list[tuple[int, bytes]], *, packed: bool
) -> None:
    run = room / "bytes"
    run.mkdir(exist_ok=True)
    for one in NAMES:
        data = (GPU_RUN / one).read_bytes()[: None if one == "context.json" else 20_000]
        data = cut(data, cuts) if one == name else data
        (run / f"{one}.gz").unlink(missing_ok=True)
        (run / one).write_bytes(data)
    if packed:
        raw = cut(gzip.compress((run / name).read_bytes(), 1), cuts[:1])
        (run / f"{name}.gz").write_bytes(raw)
        (run / name).unlink()
    answered("validate", run)


RUNS = sorted(DATA.glob("synthetic-*")) + sorted(DATA.glob("excerpt-*"))
ODD = st.sampled_from([word for word in WORDS if word.isalnum() or word in ("-1", "..", "1.5")])
PARAMS = st.lists(st.tuples(st.integers(0, 2**20), st.none() | ODD, st.booleans()), max_size=6)
SAMPLES = st.lists(
    st.tuples(st.integers(0, 2**20), st.sampled_from([0, -1, 1e308, 5e-324, 1e-300])), max_size=6
)


Known = Callable[[int], tuple[Any, list[Any]]]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """Runs that have every figure: their contexts, and the first lines of each benchmark."""
    ladder = gpu_run(tmp_path_factory.mktemp("ladder")).folder
    found = []
    for run in (*RUNS, ladder):
        few: dict[str, list[Any]] = {}
        for line in lines_of(run):
            few.setdefault(line["benchmark"], []).append(line)
        header = json.loads((run / "context.json").read_bytes()) | {"state": "interrupted"}
        found.append((header, [line for of in few.values() for line in of[:6]]))
    return lambda number: found[number]  # a failure prints it: no list of megabytes


def odd_run(
    room: Path, source: tuple[Any, list[Any]],
    params: list[tuple[int, str | None, bool]], samples: list[tuple[int, float]],
) -> Path:  # fmt: skip
    """A run whose cases have other parameters, or lack them, and samples of no use."""
    header, lines = copy.deepcopy(source)
    for number, word, everywhere in params:
        axes = lines[number % len(lines)]["params"]
        if axes:
            axis = list(axes)[number % len(axes)]
            for line in lines if everywhere else [lines[number % len(lines)]]:
                if line["params"].pop(axis, None) is not None and word is not None:
                    line["params"][axis] = word
    measured = [one for line in lines for one in line["measurements"]]
    for number, value in samples:
        one = measured[number % len(measured)]
        one["samples"] = [value] * len(one["samples"])
    kept: dict[Any, Any] = {}
    for line in lines:
        words = (line["suite"], line["benchmark"], line["backend"], line["params"])
        line["case"] = case_id(*words)
        kept.setdefault((line["case"], line["kind"], line.get("visit", 1)), line)
    header["sweep"]["cases"] = list(dict.fromkeys(line["case"] for line in kept.values()))
    return put(room / "odd", header, list(kept.values()))


def check_odd(room: Path, run: Path, number: int) -> None:
    answered("summary", run)
    answered("summary", "--map", run)
    answered("roofline", run, "-o", room / "roofline")
    answered("compare", run, GPU_RUN)
    answered("export", run, room / "x", "--to", get_args(Target)[number % 4], "--force")


def check_report(room: Path, run: Path, _: int) -> None:
    answered("report", run, "-o", room / "report")


@pytest.mark.parametrize("check", [check_odd, pytest.param(check_report, marks=pytest.mark.fuzz)])
@given(odd=st.tuples(st.integers(0, len(RUNS)), PARAMS, SAMPLES))
@some(12)
def test_odd_parameters_and_samples(
    room: Path, known: Known, check: Callable[[Path, Path, int], None],
    odd: tuple[int, list[tuple[int, str | None, bool]], list[tuple[int, float]]],
) -> None:  # fmt: skip
    number, params, samples = odd
    check(room, odd_run(room, known(number), params, samples), number)


# --- files of others ------------------------------------------------------------------------------

THEIRS = [*sorted((DATA / "interop").glob("*.json")), *sorted((DATA / "interop").glob("*.csv"))]


@given(st.integers(0, 99), CUTS)
@some(100)
def test_bytes_of_other_tools(room: Path, number: int, cuts: list[tuple[int, bytes]]) -> None:
    (room / "theirs").write_bytes(cut(THEIRS[number % len(THEIRS)].read_bytes(), cuts))
    answered("import", room / "theirs", "--to", room / "imported", "--force")


@given(number=st.integers(0, 99), changes=CHANGES, gone=st.booleans())
@some(100)
def test_members_of_other_tools(
    room: Path, number: int, changes: list[tuple[int, Any]], *, gone: bool
) -> None:
    source = THEIRS[number % len(THEIRS)]
    text = source.read_text()
    if source.suffix == ".json":
        text = json.dumps(changed(json.loads(text), changes, gone=gone))
    else:
        rows = changed([*csv.reader(text.splitlines())], changes)
        buffer = io.StringIO()
        csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows(
            [row if isinstance(row, list) else [row] for row in rows]
        )
        text = buffer.getvalue()
    (room / "theirs").write_bytes(text.encode(errors="surrogatepass"))
    answered("import", room / "theirs", "--to", room / "imported", "--force")


@given(CUTS)
@some(100)
def test_bytes_of_reference_files(room: Path, cuts: list[tuple[int, bytes]]) -> None:
    table = room / "latency.csv"
    table.write_bytes(cut((reference.folder() / "latency.csv").read_bytes(), cuts))
    with suppress(ReferenceTableError):
        reference.read(table, reference.LATENCY)
    sources = room / "sources.bib"
    sources.write_bytes(cut((reference.folder() / "sources.bib").read_bytes(), cuts))
    with suppress(ReferenceTableError):
        read_bibliography(sources)


OPTIONS = (
    "report", "roofline", "summary", "ask", "compare", "validate", "export", "import",
    "fleet", "add", "submit", "--map", "--help", "--out",
    "-o", "--to", "csv", "--force", "--same", "--only", "--false-alarm", "--min-change",
    "--wander", "nan", "-1", "1e400", "--anonymous", "--ceilings", "--", "", "/dev/null",
    "/no/such", "\x1b[31m", "\udcff",
)  # fmt: skip


@given(st.lists(st.sampled_from(OPTIONS) | st.text(max_size=5), max_size=6))
@some(100)
def test_command_lines(room: Path, words: list[str]) -> None:
    here = Path.cwd()
    os.chdir(room)
    try:
        assert answered(*words) in (0, 2)
    finally:
        os.chdir(here)
