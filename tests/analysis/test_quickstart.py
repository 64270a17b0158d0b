"""`make quickstart` ends with the map of what it measured and the path of its page."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from builders import DATA
from strata.model.hierarchy import hierarchy
from strata.report import map_text
from strata.run import load_run

ROOT = Path(__file__).parents[2]
(MEASURED,) = DATA.glob("map-nvidia-h100-*")
STRATA = f"""#!/bin/sh
case $1 in
run) shift; while [ "$1" != --out ]; do shift; done
  [ "$STATUS" -gt 1 ] || cp -r {MEASURED} "$2"
  exit "$STATUS" ;;
report) mkdir -p report/of; echo page >report/of/report.html; echo numbers ;;
summary) exec "$STRATA_PYTHON" -P -m strata "$@" ;;
esac
"""
"""A program that measures nothing, but leaves a recorded run and a page."""


def quickstart(folder: Path, status: int) -> subprocess.CompletedProcess[str]:
    """What the script does where building leaves that program, whose run ends so."""
    (folder / "tools").mkdir()
    (folder / "build").mkdir()
    for name in ("quickstart.sh", "common.sh"):
        shutil.copy(ROOT / "tools" / name, folder / "tools")
    scripts = {"tools/build.sh": "#!/bin/sh\necho built\necho ./strata >build/strata\n"}
    for name, text in (scripts | {"strata": STRATA}).items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "build/python").write_text(sys.executable)
    source = os.pathsep.join([f"{ROOT / 'analysis/src'}", os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [folder / "tools/quickstart.sh"], capture_output=True, text=True, check=False,
        env={**os.environ, "STATUS": f"{status}", "PYTHONPATH": source, "PYTHONIOENCODING": "utf8"},
    )  # fmt: skip


@pytest.mark.parametrize("status", [0, 1])
def test_it_ends_with_the_map_and_the_path_of_the_page(tmp_path: Path, status: int) -> None:
    done = quickstart(tmp_path, status)
    assert done.returncode == status
    *before, run, page = done.stdout.splitlines()
    assert run == f"strata: the run is in    runs/{MEASURED.name}"
    assert page == f"strata: the report is in {tmp_path}/report/of/report.html"
    drawn = map_text.text([hierarchy(load_run(MEASURED))]).splitlines()
    assert before[-len(drawn) :] == drawn
    assert ("some case failed" in done.stderr) == bool(status)


def test_it_ends_without_a_page_where_nothing_was_measured(tmp_path: Path) -> None:
    done = quickstart(tmp_path, 2)
    assert done.returncode == 2
    assert not (tmp_path / "report/of").exists()
    assert done.stdout == "built\n"
