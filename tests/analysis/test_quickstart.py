"""`make quickstart` measures first, and ends with the map and the path of its page."""

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
echo "strata $1" >>calls
case $1 in
run) shift; while [ "$1" != --out ]; do shift; done
  [ "$STATUS" -gt 1 ] || cp -r {MEASURED} "$2"
  exit "$STATUS" ;;
report) mkdir -p report/of; echo page >report/of/report.html; echo numbers ;;
summary) exec "$STRATA_PYTHON" -P -m strata "$@" ;;
esac
"""
"""A program that measures nothing, but leaves a recorded run and a page."""
SETUP = """#!/bin/sh
echo "setup $1" >>calls
if [ "$1" = run ] && [ -n "$STRATA_OFFLINE" ]; then
  printf 'pip: no network\\nstrata: no Python here\\nstrata: mend it\\n' >&2
  exit 2
fi
"""
BUILD = """#!/bin/sh
echo "build $*" >>calls
echo "built $*"
echo ./strata >build/strata
"""


def script(
    folder: Path, name: str, programs: dict[str, str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """The result of a script of tools/ among programs that do next to nothing."""
    for part in ("tools", "bin", "build"):
        (folder / part).mkdir()
    for copied in (name, "common.sh"):
        shutil.copy(ROOT / "tools" / copied, folder / "tools")
    for program, text in programs.items():
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)
    return subprocess.run(
        [folder / "tools" / name], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def quickstart(folder: Path, status: int, offline: str = "") -> subprocess.CompletedProcess[str]:
    """The result of the script if the build makes that program, whose run ends so."""
    programs = {"tools/build.sh": BUILD, "tools/setup.sh": SETUP, "strata": STRATA}
    programs["build/python"] = sys.executable
    source = os.pathsep.join([f"{ROOT / 'analysis/src'}", os.environ.get("PYTHONPATH", "")])
    return script(
        folder, "quickstart.sh", programs, STATUS=f"{status}", STRATA_OFFLINE=offline,
        PYTHONPATH=source, PYTHONIOENCODING="utf8",
    )  # fmt: skip


@pytest.mark.parametrize("status", [0, 1])
def test_it_prints_map_and_page_and_builds_the_rest_last(tmp_path: Path, status: int) -> None:
    done = quickstart(tmp_path, status)
    assert done.returncode == status
    first, *before, run, page, _, last = done.stdout.splitlines()
    assert (first, last) == ("built strata", "built strata-access")
    assert run == f"strata: the run is in    runs/{MEASURED.name}"
    assert page == f"strata: the report is in {tmp_path}/report/of/report.html"
    drawn = map_text.text([hierarchy(load_run(MEASURED))]).splitlines()
    assert before[-len(drawn) :] == drawn
    assert ("some case failed" in done.stderr) == bool(status)
    # It measures before it installs Python packages.
    assert (tmp_path / "calls").read_text().splitlines() == [
        "setup build", "build strata", "strata run", "setup run", "strata report", "strata summary",
        "build strata-access",
    ]  # fmt: skip


@pytest.mark.parametrize("status", [0, 1])
def test_without_python_packages_the_report_is_left_out(tmp_path: Path, status: int) -> None:
    done = quickstart(tmp_path, status, offline="1")
    assert done.returncode == status
    run = f"runs/{MEASURED.name}"
    pip, left_out = done.stderr.splitlines()
    assert pip == "pip: no network"
    assert left_out == (
        "strata: the report was left out: no Python here; "
        f"for it later: make setup && ./strata report {run} --out report"
    )
    assert done.stdout.splitlines()[-3] == f"strata: the run is in    {run}"
    assert not (tmp_path / "report/of").exists()


def test_it_ends_without_a_page_where_nothing_was_measured(tmp_path: Path) -> None:
    done = quickstart(tmp_path, 2)
    assert done.returncode == 2
    assert not (tmp_path / "report/of").exists()
    assert done.stdout == "built strata\n"


def build(folder: Path, architecture: str = "") -> subprocess.CompletedProcess[str]:
    """What tools/build.sh does on a machine with nvcc and without a GPU; its calls are in calls."""
    log = f'#!/bin/sh\necho "$*" >>{folder}/calls\n'
    programs = {"bin/cmake": log, "bin/nvcc": log, "bin/nvidia-smi": "#!/bin/sh\nexit 9\n"}
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return script(folder, "build.sh", programs, ARCH=architecture, PATH=path)


def test_a_login_node_gets_instructions_to_build_for_a_gpu_elsewhere(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert done.returncode == 0
    assert "nvcc is here but no GPU: " in done.stdout
    assert "make build ARCH=90" in done.stdout
    assert (tmp_path / "build/strata").read_text() == "build/cpu/bin/strata\n"


def test_a_build_for_a_named_architecture(tmp_path: Path) -> None:
    done = build(tmp_path, "80;90")
    assert done.returncode == 0
    assert (tmp_path / "calls").read_text().splitlines() == [
        "--preset gpu -DCMAKE_CUDA_ARCHITECTURES=80;90",
        "--build --preset gpu --target strata strata-access",
    ]
    assert (tmp_path / "build/strata").read_text() == "build/gpu/bin/strata\n"


def test_an_architecture_in_another_form_is_refused(tmp_path: Path) -> None:
    done = build(tmp_path, "sm_90")
    assert done.returncode == 2
    assert done.stderr == (
        "strata: ARCH=sm_90: expected a compute capability without its dot, such as 90 or '80;90'\n"
    )
    assert not (tmp_path / "calls").exists()
