"""A measurements.csv without the rest of its run: the same results, and what is unknown named."""

import gzip
import shutil
from pathlib import Path

import pytest

from builders import DATA, GPU_RUN, strata
from strata import interop
from strata.compare import Settings, compare_all
from strata.model.truth import load_run
from strata.report.sentences import sentences
from strata.roofline.verdicts import entries, points_of
from strata.run import Run, RunError

H200 = DATA / "excerpt-nvidia-h200-20261121T235015Z-0683d2f"
UNKNOWN = "device properties, clocks, build, gates, samples and skipped cases are unknown"


def alone(run: Path, folder: Path, *, packed: bool = False, factor: float = 1) -> Path:
    """The table of a run by itself, its values multiplied."""
    text = load_text(run)
    if factor != 1:
        head, *lines = text.splitlines()
        names = head.split(",")
        first = names.index("value")
        rows = [line.split(",") for line in lines if '"' not in line]
        for cells in rows:
            for at in range(first, first + 5):
                cells[at] = f"{float(cells[at]) * factor!r}" if cells[at] else ""
        text = "\n".join([head, *map(",".join, rows)]) + "\n"
    file = folder / ("rows.csv.gz" if packed else "rows.csv")
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return file


def load_text(run: Path) -> str:
    plain = run / "measurements.csv"
    return plain.read_text() if plain.exists() else gzip.decompress(
        plain.with_name("measurements.csv.gz").read_bytes()).decode()  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
def test_a_table_alone_gives_the_rows_the_sentences_and_the_roofline(
    tmp_path: Path, *, packed: bool
) -> None:
    warnings: list[str] = []
    run, whole = interop.load(alone(H200, tmp_path, packed=packed), warnings.append), load_run(H200)
    assert UNKNOWN in "".join(warnings)
    assert [row.key for row in run.rows] == [row.key for row in whole.rows]
    assert [row.value for row in run.rows] == [row.value for row in whole.rows]
    assert [case.id for case in run.cases] == list(dict.fromkeys(row.case for row in whole.rows))
    assert (run.context.run, run.context.started) == (whole.context.run, "2026-11-21T23:50:15Z")
    assert run.context.device.slug == whole.context.device.slug
    assert run.context.build.commit == "unknown"
    places = [[(one.name, one.level, one.intensity, one.value) for one in points_of(entries([of]))]
              for of in (run, whole)]  # fmt: skip
    assert places[0] == places[1] != []
    assert [*sentences(run)]


def test_each_command_takes_a_table(tmp_path: Path) -> None:
    table = alone(H200, tmp_path)
    for words in (
        ("roofline", table, "--ceilings", table, "-o", tmp_path / "roofline"),
        ("report", table, "-o", tmp_path / "report", "--formats", "svg"),
        ("compare", table, GPU_RUN),
    ):
        done = strata(*words)
        assert done.returncode == 0, done.stderr
        assert f"strata: warning: {table}: a table without its run: {UNKNOWN}" in done.stderr
    assert (tmp_path / "roofline" / "roofline.svg").is_file()
    page = (tmp_path / "report" / "report.html").read_text()
    assert "unknown" in page
    assert "1970-" not in page


@pytest.mark.parametrize(("factor", "slower"), [(1.0, False), (1.5, True)])
def test_a_change_is_found_with_the_intervals_of_tables(
    factor: float, tmp_path: Path, *, slower: bool
) -> None:
    runs: list[Run] = []
    for name, of in (("before", 1.0000001), ("after", factor * 1.0000001)):
        (tmp_path / name).mkdir()
        table = alone(H200, tmp_path / name, factor=of)
        table.write_text(table.read_text().replace(H200.name, f"{name}-20261121T235015Z-0683d2f"))
        runs.append(interop.load(table, lambda _: None))
    ((found, *_), _) = compare_all(runs, Settings())
    assert found.slower == slower


def test_a_table_of_no_or_two_runs_is_refused(tmp_path: Path) -> None:
    text = load_text(GPU_RUN)
    both, none = tmp_path / "both.csv", tmp_path / "none.csv"
    other = text.partition("\n")[2].replace(f"{GPU_RUN.name},", "other,")
    both.write_text(text + other)
    none.write_text(text.partition("\n")[0] + "\n")
    for file, found in ((both, "rows of 2 runs"), (none, "a table without rows")):
        with pytest.raises(RunError, match=f"found {found}; expected the rows of one run"):
            interop.load(file)
    shutil.copy(none, torn := tmp_path / "torn.csv")
    torn.write_text(torn.read_text() + "a,b\n")
    with pytest.raises(RunError, match=r"torn.csv:2: found 2 columns"):
        interop.load(torn)
