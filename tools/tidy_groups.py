#!/usr/bin/env python3
"""Puts the sources of a compilation database into few groups, for clang-tidy.

    tools/tidy_groups.py BUILD FOLDER...

Most of the time that clang-tidy takes is spent on headers of the standard library, again for every
source. A group is one source that includes several, so each header is looked at once a group: those
of a room of harness/, or a share of micro/ or nbody/, where each benchmark has a namespace.
BUILD/groups then holds the groups and their own compilation database.

Files of a group share one namespace without a name. Where two of them use a name there for
different things, clang-tidy says so: rename one.
"""

import json
import shlex
import sys
from pathlib import Path

GROUP = 32  # sources at the most


def without_output(command: str, source: str) -> list[str]:
    """The words of a compiler's command line up to what it reads and writes."""
    words = shlex.split(command)
    kept = []
    skip = False
    for word in words:
        if skip or word in ("-c", source):
            skip = False
        elif word == "-o":
            skip = True
        else:
            kept.append(word)
    return kept


def main(build: Path, folders: list[str]) -> None:
    """Writes BUILD/groups."""
    root = Path.cwd()
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    by_room: dict[Path, list[dict[str, str]]] = {}
    once = {entry["file"]: entry for entry in entries}  # some belong to several targets
    for file, entry in sorted(once.items()):
        place = Path(file)
        if place.is_relative_to(root) and place.relative_to(root).parts[0] in folders:
            place = place.relative_to(root)
            room = place.parent if place.parts[0] == "harness" else Path(place.parts[0])
            by_room.setdefault(room, []).append(entry)
    if not by_room:
        sys.exit(f"{build}/compile_commands.json: no source of {', '.join(folders)}")

    groups = build / "groups"
    groups.mkdir(exist_ok=True)
    for old in groups.glob("*.cpp"):
        old.unlink()
    commands = []
    for room, sources in by_room.items():
        count = -(-len(sources) // GROUP)
        for index in range(count):
            first, last = (len(sources) * place // count for place in (index, index + 1))
            members = sources[first:last]
            name = f"{'_'.join(room.parts)}_{index}.cpp"
            group = (groups / name).resolve()
            group.write_text(
                "".join(
                    f'#include "{member["file"]}"  // NOLINT(bugprone-suspicious-include)\n'
                    for member in members
                ),
                encoding="utf-8",
            )
            words: dict[str, str] = {}  # of all members; a macro has the value of the first
            for member in members:
                for word in without_output(member["command"], member["file"]):
                    words.setdefault(word.partition("=")[0], word)
            commands.append(
                {
                    "directory": members[0]["directory"],
                    "file": str(group),
                    "arguments": [*words.values(), "-c", str(group)],
                }
            )
    (groups / "compile_commands.json").write_text(json.dumps(commands, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
