"""Mutants: each still fits the sources, and tools/mutate.py finds survivors."""

import importlib.util
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "tools/mutate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


mutate = tool()
MUTANTS = mutate.mutants(ROOT)


def known_tests() -> Iterator[str]:
    """Suites of GoogleTest, and the tests of ctest that CMake names."""
    for path in (ROOT / "tests").rglob("*.*"):
        if path.suffix in {".cpp", ".cu"}:
            test = r"^(?:TYPED_)?TEST(?:_\w)?\((\w+),"
            yield from re.findall(test, path.read_text(encoding="utf-8"), re.MULTILINE)
        elif path.name == "CMakeLists.txt":
            yield from re.findall(r"\bNAME ([\w.]+)", path.read_text(encoding="utf-8"))


def has_test(names: set[str], runner: str, test: str) -> bool:
    if runner != "pytest":
        patterns = [re.sub(r"[./].*", "", one) for one in test.split(":")]
        wanted = patterns if runner in mutate.GTESTS else [test]
        return all(any(fnmatch(name, pattern) for name in names) for pattern in wanted)
    file, *inner = test.split("::")
    text = (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else ""
    return bool(text) and all(re.search(rf"\b(def|class) {name}\b", text) for name in inner)


def test_each_mutant_has_a_name_of_its_own_a_place_and_its_tests() -> None:
    counted = Counter(one.name for one in MUTANTS)
    wrong = [f"{name}: {count} have this name" for name, count in counted.items() if count > 1]
    names = set(known_tests())
    for one in MUTANTS:
        try:
            assert one.mutated((ROOT / one.file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            wrong.append(f"{one.area}: {one.name}: {error}")
        wrong += [f"{one.area}: {one.name}: no {test}" for test in one.tests
                  if not has_test(names, one.runner, test)]  # fmt: skip
    assert MUTANTS
    assert not wrong, "\n".join(wrong)


def test_the_table_of_the_manual_counts_the_mutants_of_each_area() -> None:
    text = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    row = r"^\| [^|\n]+ \| ((?:`\w+`(?:, )?)*) ?\| (\d+) \| (\d+) \|$"
    *rows, (no_file, *of_all) = re.findall(
        row, text.partition("## Mutation tests")[2], re.MULTILINE
    )
    areas = [re.findall(r"\w+", files) for files, _, _ in rows]
    assert sorted(file for files in areas for file in files) == sorted(
        {one.area for one in MUTANTS}
    )
    for of_row, (_, *counts) in zip([*areas, []], [*rows, (no_file, *of_all)], strict=True):
        found = [one for one in MUTANTS if one.area in of_row or not of_row]
        assert counts == [f"{len(found)}", f"{sum(bool(one.survives) for one in found)}"], of_row


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("git"), reason="the tool lists the sources by git")
def test_the_tool_tells_killed_from_survived_and_touches_a_copy_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "analysis/pyproject.toml": "[tool.pytest.ini_options]\n",
        "least.py": "def least(a, b):\n    return min(a, b) + 0\n",
        "test_it.py": "import sys\nsys.path.insert(0, '.')\nfrom least import least\n"
        "def test_least() -> None:\n    assert least(1, 2) == 1\n",
        "tests/mutants/some.toml": 'file = "least.py"\npytest = "test_it.py"\n'
        "[greatest]\nfrom = 'min'\nto = 'max'\n"
        "[subtracts]\nfrom = '+ 0'\nto = '- 0'\n"
        "[explained]\nfrom = '+ 0'\nto = '- 0'\nsurvives = 'nothing less is nothing more'\n"
        "[gone]\nfrom = 'median'\nto = 'mean'\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run([str(shutil.which("git")), "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["mutate.py", "some"])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # quicker
    assert mutate.main() == 1
    printed = capsys.readouterr().out
    assert re.search(r"some +4 +1 +1 +1 +1\n", printed), printed
    assert re.search(r"survived +\S+ s  some: subtracts", printed)
    assert "holds `from` 0 times, not once" in printed
    assert (tmp_path / "least.py").read_text(encoding="utf-8") == files["least.py"]
