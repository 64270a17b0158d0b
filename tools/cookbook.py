#!/usr/bin/env python3
"""Checks the answers of docs/cookbook.md, and those that the package carries.

    cookbook.py           names each command of the page that prints something else
    cookbook.py --write   rewrites what they print, and the answers of the reference runs

A last line `…` means that the command prints more. Needs the analysis: PYTHONPATH=analysis/src.
Exit status: 0 all agree, 1 some differ.
"""

from __future__ import annotations

import gzip
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from strata import answers, cli

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console\n\$ strata ([^\n]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
REST = "…\n"


def commands(page: str) -> list[str]:
    """The arguments of each command of a page."""
    return [block[1] for block in BLOCK.finditer(page)]


def printed(command: str) -> str:
    """What a command prints, without spaces at the ends of lines."""
    out, errors = StringIO(), StringIO()
    with suppress(SystemExit), redirect_stdout(out), redirect_stderr(errors):
        cli.main(shlex.split(command))
    text = out.getvalue() or errors.getvalue()
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def renewed(block: re.Match[str]) -> str:
    """The block with what its command prints today; of a shortened one as many lines."""
    text = printed(block[1])
    if block[2].endswith(REST):
        text = "".join(text.splitlines(keepends=True)[: block[2].count("\n") - 1]) + REST
    return f"```console\n$ strata {block[1]}\n{text}```"


def main() -> int:
    page, packed = ROOT / "docs/cookbook.md", Path(answers.__file__).with_name(answers.PACKED)
    text = page.read_text(encoding="utf-8")
    new = BLOCK.sub(renewed, text)
    if "--write" in sys.argv[1:]:
        page.write_text(new, encoding="utf-8")
        packed.write_bytes(answers.pack())
        return 0
    differ = [
        old[1]
        for old, now in zip(BLOCK.finditer(text), BLOCK.finditer(new), strict=True)
        if old[2] != now[2]
    ]
    if gzip.decompress(packed.read_bytes()) != gzip.decompress(answers.pack()):
        differ.append(f"ask: {packed.name} is out of date")
    for command in differ:
        print(f"strata {command}: differs; cookbook.py --write", file=sys.stderr)
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
