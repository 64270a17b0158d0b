"""The package declares and locks what it imports."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ANALYSIS = Path(__file__).parents[2] / "analysis"
LOCKS = ("requirements.lock", "requirements-dev.lock")


def imports(folder: Path) -> set[str]:
    """Top-level names of everything imported below `folder`, wherever the import is."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"strata"}


def names(path: Path) -> set[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.partition(";")[0] for line in lines if line and not line.startswith(("#", "-"))}


def test_the_package_imports_what_it_declares_and_nothing_else() -> None:
    project = tomllib.loads((ANALYSIS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = set(project["dependencies"])
    brought_along = {"markupsafe", "PIL"}  # by jinja2 and matplotlib
    assert (
        imports(ANALYSIS / "src") - brought_along == declared == names(ANALYSIS / "requirements.in")
    )


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_have_hashes_and_name_no_registry(lock: str) -> None:
    text = (ANALYSIS / lock).read_text(encoding="utf-8")
    assert "://" not in text
    pins = re.findall(r"^[a-z0-9][\w.-]*==\S+.*$", text, re.MULTILINE)
    assert len(pins) > 10
    assert all(pin.endswith("\\") for pin in pins)
    assert text.count("--hash=sha256:") >= len(pins)


def test_everything_wanted_is_locked() -> None:
    for stem in ("requirements", "requirements-dev"):
        text = (ANALYSIS / f"{stem}.lock").read_text(encoding="utf-8")
        for name in names(ANALYSIS / f"{stem}.in"):
            assert re.search(rf"^{re.escape(name)}==", text, re.MULTILINE), name


def test_the_locks_agree_with_each_other() -> None:
    run, dev = (
        set(re.findall(r"^([a-z0-9][\w.-]*==\S+)", (ANALYSIS / lock).read_text(), re.MULTILINE))
        for lock in LOCKS
    )
    assert run <= dev
