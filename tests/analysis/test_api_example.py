"""The blocks of analysis/README.md run in order and print what is below them."""

import io
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from builders import DATA

README = Path(__file__).parents[2] / "analysis" / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:^```\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.fixture
def beside_the_data(tmp_path: Path) -> Iterator[Path]:
    """A folder that has the stored runs where the repository has them."""
    shutil.copytree(DATA, tmp_path / "tests" / "data")
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def test_every_block_runs_and_prints_the_text_below_it(beside_the_data: Path) -> None:
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert len(blocks) >= 7
    names: dict[str, object] = {}
    for code, printed in blocks:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(code, f"{README}", "exec"), names)  # noqa: S102  (our own page)
        lines = [line.rstrip() for line in out.getvalue().splitlines()]
        assert lines == [line.rstrip() for line in printed.splitlines()], code
    assert (beside_the_data / "latency.png").read_bytes().startswith(b"\x89PNG")
    assert (beside_the_data / "report" / "report.html").is_file()


def test_every_module_that_it_names_is_there() -> None:
    import importlib

    named = set(re.findall(r"`(strata(?:\.\w+)+)`", README.read_text(encoding="utf-8")))
    assert len(named) > 8
    for name in named:
        importlib.import_module(name)
