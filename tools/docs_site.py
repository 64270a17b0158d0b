#!/usr/bin/env python3
"""Prepares the manual for MkDocs, and checks its links.

    docs_site.py --check          names each broken relative link of the manual
    docs_site.py PROGRAM FOLDER   writes the pages into FOLDER, with one page for each
                                  benchmark that PROGRAM, a built strata, declares

Links to other pages stay links, images are copied, and files or folders that are not pages are only
named, so the site opens offline from a disk. Exit status: 0, 1 a link is broken, 2 bad input.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "analysis/README.md": "python.md",
    "harness/counters/ABSENCE.md": "absence.md",
    "harness/counters/CHIPS.md": "chips.md",
    "results/README.md": "runs.md",
    "results/reference/README.md": "published.md",
    "results/schema/README.md": "run_format.md",
}
"""Pages beside what they describe, and their names in the site."""

FENCED = re.compile(r"(^```.*?^```[ ]*$)", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]*)\]\((?P<to>[^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?)\s*$", re.MULTILINE)

SHORT = ("before", "change", "source", "expected")
"""What a rung declares in one line each."""

STYLE = """\
.container { max-width: 75rem; }
table { display: block; width: max-content; max-width: 100%; overflow-x: auto; margin: 0 0 1rem; }
td, th { padding: 0.3rem 0.6rem; border: 1px solid var(--bs-border-color); vertical-align: top; }
.col-md-9 img { background: white; }
pre code { font-size: 0.85rem; }
"""


@dataclass(frozen=True)
class Broken:
    """A broken link, and what was expected."""

    page: str
    line: int
    to: str
    expected: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.to} leads nowhere; expected {self.expected}"


@dataclass(frozen=True)
class Declared:
    """A rung as a program prints it: a name and its fields."""

    head: str
    fields: tuple[tuple[str, str], ...]


def pages(root: Path) -> dict[str, str]:
    """Every page of the manual by its path, with its name in the site."""
    own = {f"docs/{path.name}": path.name for path in sorted((root / "docs").glob("*.md"))}
    return {name: page for name, page in ELSEWHERE.items() if (root / name).exists()} | own


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page."""
    found: dict[str, int] = {}
    for match in HEADING.finditer(FENCED.sub("", text)):
        bare = LINK.sub(lambda link: link["text"], match[1]).replace("`", "").lower()
        slug = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", bare))
        found[slug] = found.get(slug, -1) + 1
    return {f"{slug}-{n}" if n else slug for slug, last in found.items() for n in range(last + 1)}


def on_links(text: str, change: Callable[[re.Match[str], int], str]) -> str:
    """The text with each link outside code changed; `change` also gets the line."""
    parts = FENCED.split(text)  # Every second part is code.
    for i in range(0, len(parts), 2):
        part, first = parts[i], 1 + sum(before.count("\n") for before in parts[:i])
        new, at = "", 0
        for match in LINK.finditer(part):
            new += part[at : match.start()] + change(
                match, first + part.count("\n", 0, match.start())
            )
            at = match.end()
        parts[i] = new + part[at:]
    return "".join(parts)


def is_away(to: str) -> bool:
    return re.match(r"[a-z]+:", to) is not None


def why_broken(root: Path, page: str, to: str) -> str:
    """What was expected of a broken link; nothing for a valid one."""
    path, _, anchor = to.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    if target.startswith("..") or not (root / target).exists():
        return "a file or folder of the repository"
    if not anchor:
        return ""
    known = (
        anchors((root / target).read_text(encoding="utf-8")) if target.endswith(".md") else set()
    )
    return "" if anchor in known else f"a heading of {target}: {', '.join(sorted(known))}"


def broken(root: Path) -> Iterator[Broken]:
    """The broken links of the manual. Does not use the network."""
    found: list[Broken] = []
    for page in pages(root):

        def look(match: re.Match[str], line: int, page: str = page) -> str:
            if not is_away(match["to"]) and (why := why_broken(root, page, match["to"])):
                found.append(Broken(page, line, match["to"], why))
            return match[0]

        on_links((root / page).read_text(encoding="utf-8"), look)
    yield from found


def declared(listing: str) -> list[Declared]:
    """The blocks printed by `strata ladder`; indented lines continue a field."""
    found: list[Declared] = []
    for block in re.split(r"\n\s*\n", listing.strip()):
        head, *rest = block.splitlines()
        fields: list[tuple[str, str]] = []
        for line in rest:
            if match := re.match(r"  (\w+) +(.*)", line):
                fields.append((match[1], match[2]))
            elif fields:
                name, text = fields[-1]
                fields[-1] = (name, f"{text}\n{line.strip()}")
        found.append(Declared(head, tuple(fields)))
    return found


def cell(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")


def values_of(axis: dict[str, Any]) -> str:
    if "choices" in axis:
        return ", ".join(axis["choices"])
    return f"an integer from {axis['minimum']} to {axis['maximum']}"


def benchmark_page(
    name: str, benchmark: dict[str, Any], story: Declared | None, images: Mapping[str, str]
) -> str:
    """A page of one benchmark: its declaration, and the figure that has its name."""
    lines = [f"# {name}", "", cell(benchmark["question"]), ""]
    lines += [f"    strata run default --filter /{name}/", ""]
    short = {
        "suite": benchmark["suite"],
        "backends": ", ".join(benchmark["backends"]) or "none in this build",
        "cost": f"about {benchmark['seconds_per_case']:g} s a case",
    } | {field: text for field, text in (story.fields if story else ()) if field in SHORT}
    lines += ["| | |", "| --- | --- |"]
    lines += [f"| {field} | {cell(text)} |" for field, text in short.items()]
    lines += ["", "## Axes", "", "| axis | meaning | values | default |", "|---|---|---|---|"]
    for axis in benchmark["axes"]:
        default = ", ".join(axis["defaults"])
        cells = (axis["meaning"], values_of(axis), default)
        lines.append(f"| `{axis['name']}` | {' | '.join(map(cell, cells))} |")
    lines += ["", "## Quantities", "", "| quantity | meaning |", "| --- | --- |"]
    for quantity in benchmark["quantities"]:
        lines.append(f"| `{quantity['name']}` | {cell(quantity['meaning'])} |")
    for image, device in images.items():
        lines += ["", f"## {device}", "", f"![{name} on {device}](../{image})"]
    return "\n".join(lines) + "\n"


def index_of(benchmarks: dict[str, Any]) -> str:
    """The table of all benchmarks, by suite."""
    lines = ["", "| benchmark | question |", "| --- | --- |"]
    by_suite = sorted((one["suite"], name, one["question"]) for name, one in benchmarks.items())
    for suite, name, question in by_suite:
        lines.append(f"| [{suite}/{name}](benchmarks/{name}.md) | {cell(question)} |")
    return "\n".join(lines) + "\n"


class Layout:
    """The pages of a site, and the images that they show."""

    def __init__(self, root: Path, into: Path) -> None:
        self._root, self._into, self._pages = root, into, pages(root)

    def image(self, path: str) -> str:
        """Copies an image, once, and returns its place in the site."""
        name = f"images/{posixpath.basename(posixpath.dirname(path))}-{posixpath.basename(path)}"
        (self._into / "images").mkdir(exist_ok=True)
        shutil.copyfile(self._root / path, self._into / name)
        return name

    def lay(self, page: str) -> str:
        """The text of a page with its links as the site needs them."""

        def change(match: re.Match[str], _line: int) -> str:
            path, _, anchor = match["to"].partition("#")
            if is_away(match["to"]) or not path:
                return match[0]
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
            if match["image"]:
                return f"![{match['text']}]({self.image(target)})"
            if target in self._pages:
                return f"[{match['text']}]({self._pages[target]}{anchor and '#' + anchor})"
            same = match["text"].strip("`") in (target, posixpath.basename(target))
            return f"`{target}`" if same else f"{match['text']} (`{target}`)"

        parts = FENCED.split((self._root / page).read_text(encoding="utf-8"))
        parts[::2] = [COMMENT.sub("", part) for part in parts[::2]]
        return on_links("".join(parts), change)

    def figures(self, name: str) -> dict[str, str]:
        """The figures of recorded runs with the name of a benchmark, and their devices."""
        found = sorted((self._root / "results/report").glob(f"*/{name}.png"))
        return {self.image(str(path.relative_to(self._root))): path.parent.name for path in found}

    def write(self, benchmarks: dict[str, Any], ladders: str) -> None:
        """Writes all pages: `benchmarks` as `strata list --json` has them."""
        stories = {story.head.partition(" ")[0]: story for story in declared(ladders)}
        (self._into / "benchmarks").mkdir(parents=True)
        (self._into / "site.css").write_text(STYLE, encoding="utf-8")
        for page, name in self._pages.items():
            more = index_of(benchmarks) if name == "benchmarks.md" else ""
            (self._into / name).write_text(self.lay(page) + more, encoding="utf-8")
        for name, one in benchmarks.items():
            text = benchmark_page(name, one, stories.get(name), self.figures(name))
            (self._into / f"benchmarks/{name}.md").write_text(text, encoding="utf-8")


def output_of(program: str, *words: str) -> str:
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def main() -> int:
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 2 and sys.argv[1] != "--check"):
        print("docs_site.py: expected --check, or PROGRAM FOLDER", file=sys.stderr)
        return 2
    if found := list(broken(ROOT)):
        print("\n".join(map(str, found)))
        return 1
    if len(sys.argv) == 2:
        print("every link leads somewhere")
        return 0
    program, into = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    ladders = "\n\n".join(
        output_of(program, "ladder", suite) for suite in ("nbody", "neighbours", "fstat")
    )
    benchmarks = json.loads(output_of(program, "list", "--json"))
    Layout(ROOT, into).write(benchmarks, ladders)
    print(f"{len(benchmarks)} benchmarks have a page")
    return 0


if __name__ == "__main__":
    sys.exit(main())
