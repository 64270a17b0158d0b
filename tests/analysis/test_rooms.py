"""The rooms of the package: which of them may know which, and what only one of them may do."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import strata

PACKAGE = Path(strata.__file__).parent
BELOW = {
    "run": set[str](),
    "reference": {"run"},
    "model": {"run", "reference"},
    "roofline": {"run", "reference", "model", "ladder"},
    "ladder": {"run", "reference", "model"},
    "compare": {"run", "reference", "model", "ladder"},
    "figures": {"run", "reference", "model", "roofline", "ladder", "compare"},
    "fleet": {"run", "reference", "model", "ladder", "compare"},
    "report": {
        "run", "reference", "model", "roofline", "ladder", "compare", "figures", "fleet", "profile",
    },
    "interop": {"run", "model"},
    "answers": {"run", "model"},
    "profile": {"run", "model", "roofline", "ladder"},
}  # fmt: skip
"""What each room may import, beside itself and the modules above all rooms."""
TOUCHES_FILES = {
    "open", "read_bytes", "read_text", "write_bytes", "write_text", "mkdir", "unlink",
}  # fmt: skip
"""Not `rename`, which frames have too."""
KEEPS_FILES = {"fleet/dataset.py", "figures/_cache.py"}
"""Beside the room `run`: a data set of Parquet files grows, and the code of figures is read."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, by its full name."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_every_module_is_in_a_room() -> None:
    assert {room_of(path) for path in MODULES} == set(BELOW)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_keeps_to_its_room(path: Path) -> None:
    room, names = room_of(path), set(imported(path))
    rooms = {name.split(".")[1] for name in names if name.startswith("strata.")}
    assert rooms & BELOW.keys() <= BELOW[room] | {room}
    if room != "figures":
        assert not any(name.startswith("matplotlib") for name in names)
    if room != "run" and str(path.relative_to(PACKAGE)) not in KEEPS_FILES:
        calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        assert not {call.attr for call in calls if isinstance(call, ast.Attribute)} & TOUCHES_FILES
        assert "open" not in {call.id for call in calls if isinstance(call, ast.Name)}
