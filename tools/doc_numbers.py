#!/usr/bin/env python3
"""Checks every measured number of README and the manual against its recorded row.

    doc_numbers.py           names each number that differs from its row, and each without a row
    doc_numbers.py --write   rewrites the numbers from their rows

A number is written between `<!--row:RUN.NAME-->` and `<!--/row-->`. docs/numbers.csv defines the
names; docs/runs.csv defines the folder of each run, and whether today's rules judge its rows; or
the median, the least or the most over several runs, which includes rows that only the noise gate
rejected, so that a number does not depend on which rows passed it. The
text keeps its decimals, with or without a unit. A number with a measured unit outside a marker, or
a decimal number in a table, needs an entry in docs/given.csv that explains it.

Needs the analysis: PYTHONPATH=analysis/src. Exit status: 0 all agree, 1 some differ, 2 bad input.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import strata
from strata import reference
from strata.model import atlas
from strata.model.cases import only_noisy
from strata.model.hierarchy import hierarchy
from strata.run.validate import validity

ROOT = Path(__file__).parents[1]

SCALES = {
    "%": 0.01, "times": 1, "cycles": 1, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "B": 1,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "B/cycle": 1, "GB/s": 1e9, "TB/s": 1e12,
    "TFLOP/s": 1e12, "minutes": 60,
    "GHz": 1e9, "W": 1, "× 10⁶": 1e6, "× 10⁹": 1e9, "× 10¹⁰": 1e10, "× 10¹²": 1e12,
    "e-7": 1e-7, "": 1,
}  # fmt: skip
"""Units as a text writes them; a row has its base unit."""

BESIDE = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "analysis/README.md", "results/README.md",
    "results/schema/README.md", "results/reference/README.md", "harness/counters/ABSENCE.md",
    "harness/counters/CHIPS.md",
)  # fmt: skip
"""Pages of the site beside what they describe."""

REASONS = ("definition", "limit", "version", "published", "other tool", "test")
"""What a number may be that no row proves. `test`: a named command or test of ours prints it."""

OVER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "median": median,
    "least": min,
    "most": max,
}
"""What a line of docs/runs.csv may be that names several runs in place of a folder."""

REST = "…"
"""At the end of a text of docs/given.csv: and all that follows up to the next empty line."""

MARKED = re.compile(r"<!--row:([\w-]+)\.(\w+)-->(.*?)<!--/row-->", re.DOTALL)
ANY_MARK = re.compile(r"<!--/?row\b.*?-->")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`|\]\([^)]*\)|<!--.*?-->", re.DOTALL | re.MULTILINE)
HELD = "\x00"
"""Stands for a number with its marker, so that a list of numbers stays one list."""

NUMBER = r"(?:\d[\d.,]*(?:e-?\d+)?|\x00)"
UNITS = (
    r"B a cycle|%|×|÷|times|cycles?|[nµm]?s|seconds|minutes|[KMG]i?B|[TGM]?B/(?:s|cycle)|TFLOP/s|"
    r"[GM]Hz|W"
)
AND = r"(?:,|,? and|,? or| to| of|–|±| ±)? ?"
LOOSE = re.compile(
    rf"(?<![\w.]){NUMBER}(?:{AND}{NUMBER})*[ \u202f-]?(?:{UNITS})(?!\w)|(?<![\w.])\d[\d.]*e-\d+"
)
IN_TABLE = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")


class BadInputError(Exception):
    """What is wrong, where, and what was expected, in one line."""


@dataclass(frozen=True)
class Wrong:
    """A text that differs from its row, and its place."""

    where: str
    found: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where}: {self.found}; {self.fix}"


@dataclass(frozen=True)
class Numbers:
    """The values of the names of docs/numbers.csv in each recorded run."""

    root: Path
    names: Mapping[str, Mapping[str, str]]
    runs: Mapping[str, Mapping[str, str]]
    loaded: dict[str, strata.Run] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path) -> Numbers:
        names = {line["name"]: line for line in table(root / "docs/numbers.csv")}
        return cls(root, names, {line["run"]: line for line in table(root / "docs/runs.csv")})

    def run(self, name: str) -> strata.Run:
        """The run of that name, judged by today's plausibility rules or as it was recorded."""
        if name not in self.runs:
            known = ", ".join(self.runs)
            raise BadInputError(f"run {name!r} is not in docs/runs.csv; expected one of {known}")
        folder = self.runs[name]["folder"]
        if folder not in self.loaded:
            self.loaded[folder] = strata.load_run(self.root / "results" / folder)
        run = self.loaded[folder]
        return run.recorded if self.runs[name]["rows"] == "recorded" else run

    def value(self, run: str, name: str, *, noisy: bool = False) -> float:
        """The number in base units or as a ratio; `noisy`: also of rows that are only noisy."""
        if name not in self.names:
            raise BadInputError(f"{name!r} is not in docs/numbers.csv")
        if (several := self.runs.get(run)) and (over := OVER.get(several["rows"])):
            return over([self.value(one, name, noisy=True) for one in several["folder"].split()])
        line = self.names[name]
        value = self._row_value(run, line, noisy=noisy)
        if per := line["per"]:
            of, _, other = per.rpartition(".")
            value /= self.value(of or run, other, noisy=noisy)
        return value

    def _row_value(self, run: str, line: Mapping[str, str], *, noisy: bool) -> float:
        special = {
            "run": self._of_run, "atlas": self._of_atlas, "map": self._of_map,
            "published": _published,
        }  # fmt: skip
        of = special.get(line["of"], partial(self._rows, noisy=noisy))
        try:
            found = of(run, line)
        except (AttributeError, KeyError) as error:
            raise BadInputError(f"docs/numbers.csv: {line['name']}: there is no {error}") from None
        if not found or (not line["pick"] and len(found) > 1):
            fits = f"{line['name']} fits {len(found)} valid rows of {run}"
            raise BadInputError(f"docs/numbers.csv: {fits}; expected 1, or pick max or min")
        return {"": max, "max": max, "min": min}[line["pick"]](found)

    def _of_run(self, run: str, line: Mapping[str, str]) -> Sequence[float]:
        recorded = self.run(run)
        gates = [
            gate for case in recorded.cases for gate in case.gates if gate.name == line["params"]
        ]
        known: dict[str, float] = {
            "cases": sum(case.status == "measured" for case in recorded.cases),
            "valid": next(of.valid / of.rows for of in validity(recorded) if of.kind == "timed"),
            "passed": sum(gate.verdict == "passed" for gate in gates),
        }
        if counters := recorded.context.counters:
            known["timing"] = counters.timing_seconds
            known["counting"] = counters.counting_seconds
        return [known[line["quantity"]]]

    def _rows(self, run: str, line: Mapping[str, str], *, noisy: bool) -> Sequence[float]:
        wanted = dict(part.split("=", 1) for part in line["params"].split(";") if part)
        return [
            row.value
            for row in self.run(run).of(line["of"])
            if (row.valid or (noisy and only_noisy(row)))
            and row.quantity == line["quantity"]
            and line["method"] in ("", row.method)
            and all(row.params.get(axis) == value for axis, value in wanted.items())
        ]

    def _of_atlas(self, run: str, line: Mapping[str, str]) -> Sequence[float]:
        """The value for a level as in the report: `method` is a function of `atlas`."""
        found = getattr(atlas, line["method"])(self.run(run))
        if line["params"]:
            found = found.get(line["params"])
        if line["quantity"]:
            found = getattr(found, line["quantity"], None)
        return [] if found is None else [found.value if isinstance(found, strata.Row) else found]

    def _of_map(self, run: str, line: Mapping[str, str]) -> Sequence[float]:
        """The number of a level (`params`) as in the map: its `quantity` is a key of `WHAT`."""
        found = hierarchy(self.run(run)).numbers(line["params"])[line["quantity"]].value
        return [] if found is None else [found]

    def text(self, run: str, name: str, like: str) -> str:
        """The number in the format of `like`: its decimals, and its unit if it has one."""
        unit = self.names[name]["unit"] if name in self.names else ""
        value = self.value(run, name)
        if unit not in SCALES:
            known = ", ".join(SCALES)
            raise BadInputError(f"docs/numbers.csv: {name} has unit {unit!r}; expected of {known}")
        shown = re.match(r"-?\d*\.?(\d*)", like)
        decimals = len(shown[1]) if shown else 0
        number = f"{value / SCALES[unit]:.{decimals}f}"
        apart = "" if unit.startswith("e-") else " "
        return number + apart + unit if unit and unit in like else number


def _published(_run: str, line: Mapping[str, str]) -> Sequence[float]:
    """Published values: `method` is a table of `strata.reference`."""
    wanted = dict(part.split("=", 1) for part in line["params"].split(";") if part)
    return [
        getattr(one, line["quantity"])
        for one in getattr(reference, line["method"])()
        if all(str(getattr(one, column)) == value for column, value in wanted.items())
    ]


def table(path: Path) -> list[dict[str, str]]:
    """The lines of a file of comma-separated values; a missing cell is empty."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [{k: v or "" for k, v in line.items()} for line in csv.DictReader(file)]
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}; expected a table of the manual") from None


def pages(root: Path) -> list[Path]:
    """README, the manual, and what else is a page of its site."""
    beside = [page for name in BESIDE if (page := root / name).exists()]
    made = {"seeds.md"}  # tools/seeds_page.py checks it
    return beside + [page for page in sorted((root / "docs").glob("*.md")) if page.name not in made]


def rewritten(text: str, numbers: Numbers) -> str:
    """The text with each marked number as its row has it."""
    return MARKED.sub(
        lambda m: f"<!--row:{m[1]}.{m[2]}-->{numbers.text(m[1], m[2], m[3])}<!--/row-->", text
    )


def differing(name: str, text: str, numbers: Numbers) -> Iterator[Wrong]:
    """The marked numbers that differ from their rows, and invalid markers."""
    for match in MARKED.finditer(text):
        row = numbers.text(match[1], match[2], match[3])
        if row != match[3]:
            where = f"{name}:{line_of(text, match.start())}"
            fix = "to fix: tools/doc_numbers.py --write"
            yield Wrong(where, f"{match[3]!r} is {row!r} by {match[1]}.{match[2]}", fix)
    for match in re.finditer(r"^ *<!--row", text, re.MULTILINE):
        problem = "a marker begins a line, and with it a block of HTML"
        yield Wrong(f"{name}:{line_of(text, match.start())}", problem, "put a word before it")
    for match in ANY_MARK.finditer(MARKED.sub(lambda m: "\n" * m[0].count("\n"), text)):
        yield Wrong(name, f"{match[0]} marks nothing", "expected <!--row:RUN.NAME-->…<!--/row-->")


def loose(name: str, text: str, given: Sequence[Mapping[str, str]]) -> Iterator[Wrong]:
    """Numbers with a measured unit and neither a row nor an entry in docs/given.csv."""
    bare = MARKED.sub(lambda m: HELD + m[3].lstrip("-0123456789.e") + _lines(m[3]), text)
    for entry in given:
        if entry["file"] == name:
            bare = _given(entry["text"]).sub(lambda m: _lines(m[0]), bare)
    bare = CODE.sub(lambda m: _lines(m[0]), bare)
    for number, line in enumerate(bare.splitlines(), start=1):
        found = [m[0] for m in LOOSE.finditer(line) if re.search(r"\d", m[0])]
        if line.startswith("|"):
            found += IN_TABLE.findall(LOOSE.sub("", line))
        for text_found in found:
            fix = "expected a marker, or a line of docs/given.csv that explains it"
            yield Wrong(f"{name}:{number}", f"{text_found.replace(HELD, '…')!r} has no row", fix)


def _lines(text: str) -> str:
    return "\n" * text.count("\n")


def _given(text: str) -> re.Pattern[str]:
    """The texts that an entry of docs/given.csv covers."""
    whole = re.escape(text.removesuffix(REST)).replace("\\ ", r"\s")
    return re.compile(whole + (r".*?(?=\n\n|\Z)" if text.endswith(REST) else ""), re.DOTALL)


def needless(root: Path, given: Sequence[Mapping[str, str]]) -> Iterator[Wrong]:
    """Entries of docs/given.csv that match no text, or lack an explanation."""
    for line in given:
        where = f"docs/given.csv: {line['file']}"
        text = (root / line["file"]).read_text(encoding="utf-8")
        if not _given(line["text"]).search(MARKED.sub(HELD, text)):
            yield Wrong(where, f"{line['text']!r} is not in it", "to fix: delete the line")
        if line["why"] not in REASONS:
            yield Wrong(where, f"{line['why']!r} is no reason", f"expected {', '.join(REASONS)}")


def check(numbers: Numbers) -> list[Wrong]:
    """Everything that does not agree."""
    root = numbers.root
    given = table(root / "docs/given.csv")
    found = [*needless(root, given)]
    used: set[str] = set()
    for page in pages(root):
        name, text = str(page.relative_to(root)), page.read_text(encoding="utf-8")
        found += [*differing(name, text, numbers), *loose(name, text, given)]
        used |= {match[2] for match in MARKED.finditer(text)}
    used |= {line["per"].rpartition(".")[2] for line in numbers.names.values()}
    for spare in sorted(numbers.names.keys() - used):
        found.append(Wrong("docs/numbers.csv", f"no text has {spare}", "to fix: delete the line"))
    return found


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def write(root: Path) -> None:
    """Rewrite the pages whose numbers differ from their rows."""
    numbers = Numbers.of(root)
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        if (new := rewritten(text, numbers)) != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(root)}: rewritten")


def main() -> int:
    if sys.argv[1:] not in ([], ["--write"]):
        print(f"{sys.argv[0]}: expected --write or nothing", file=sys.stderr)
        return 2
    try:
        if sys.argv[1:]:
            write(ROOT)
        found = check(Numbers.of(ROOT))
    except (BadInputError, strata.RunError) as error:
        print(f"{sys.argv[0]}: {error}", file=sys.stderr)
        return 2
    print("\n".join(map(str, found)) or "every number is its row's")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
