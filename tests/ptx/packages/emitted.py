"""Where the kernels of a package go: NAME.ptx, and NAME.yaml where a launch evaluates it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

TARGET = 90
"""Compute capability: the packages compile for a GPU that need not be there."""


def buffer(size: int, fill: str | None = None) -> str:
    """An argument that points to `size` bytes; `fill` as in "iota", "random 1, below: 100"."""
    return f"{{bytes: {size}{f', fill: {fill}' if fill else ''}}}"


def fields(**at: str) -> str:
    """A struct: `fields(_0=buffer(4), _8="u32 3")`."""
    return "{fields: {" + ", ".join(f"{key[1:]}: {value}" for key, value in at.items()) + "}}"


def without_folders(ptx: str) -> str:
    """PTX that says nothing of the machine that made it: of paths only names are left."""
    return re.sub(r'"[^"\n]*/([^"/\n]+)"', r'"\1"', ptx.replace("\0", ""))


class Emitted:
    """Takes what one package made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def keep(
        self,
        name: str,
        ptx: str,
        *,
        kernel: str = ".*",
        grid: Sequence[int] = (),
        block: Sequence[int] = (),
        arguments: Sequence[str | int] = (),
        symbols: dict[str, str] | None = None,
        shared: int = 0,
    ) -> None:
        """Write a kernel; a launch too where a grid is given."""
        if ".entry" not in ptx:
            raise ValueError(f"{self.folder.name}, {name}: no PTX of a kernel")
        (self.folder / f"{name}.ptx").write_text(without_folders(ptx), encoding="utf-8")
        self.count += 1
        if not grid:
            return
        lines = [
            "schema: 1",
            f"kernel: '{kernel}'",
            f"grid: [{', '.join(map(str, grid))}]",
            f"block: [{', '.join(map(str, block))}]",
        ]
        if shared:
            lines.append(f"dynamic_shared: {shared}")
        if arguments:
            lines += ["arguments:", *(f"  - {one}" for one in arguments)]
        if symbols:
            lines += ["symbols:", *(f"  {key}: {value}" for key, value in symbols.items())]
        (self.folder / f"{name}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
