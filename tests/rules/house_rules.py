"""Fail when a benchmark measures by itself, a source is too long or like another, or speaks oddly.

    house_rules.py SOURCE_FOLDER

A list of exceptions may only get shorter: an entry that is no longer needed fails, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

ROOMS = ("harness", "micro", "nbody")
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}

#: Events, evictions and gates belong to the engine (harness/measure), where a hole is mended once.
OWN_MEASURING = re.compile(
    r"\bcudaEvent|\bEvent\b|\bEviction\b|\bevict\w*\(|\b\w+_gate\(|\bGate\s*[{(\w]"
    r"|\bjudge\("
)

#: Not yet described to the engine. It ends empty.
MEASURES_ITSELF: set[str] = set()

#: Of a device source. In micro it holds a whole benchmark: declaration, description and kernels.
MOST_LINES = 750
#: Device sources beyond that, and why. It ends empty.
LONG: dict[str, str] = {}

SAME_LINES = 12
#: It ends empty.
KNOWN_PAIRS: set[tuple[str, str]] = set()

#: Words that people say of people; threads, files and kernels report, query and store.
WORDS = re.compile(
    r"\b(told|tells?|says?|said|asks?|hears?|whom|everybody|nobody|somebody|his)\b", re.IGNORECASE
)

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NUMBER = re.compile(r"\b\d[\w.']*")
NAME = re.compile(r"\b[A-Za-z_]\w*")
KEYWORDS = re.compile(
    r"auto|break|case|catch|class|concept|const|constexpr|continue|default|delete|do|double|else|"
    r"enum|explicit|false|float|for|friend|if|inline|int|namespace|new|noexcept|nullptr|operator|"
    r"private|public|requires|return|static|struct|switch|template|this|throw|true|try|typename|"
    r"unsigned|using|virtual|void|volatile|while|__global__|__device__|__shared__"
)


def sources(root: Path, *rooms: str) -> Iterator[tuple[str, str]]:
    """The name and text of every product source."""
    for room in rooms:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in SUFFIXES:
                yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def without_comments(text: str) -> str:
    return COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def measuring(root: Path) -> Iterator[str]:
    """Benchmarks that time, evict or judge by themselves."""
    found = {
        name: match[0]
        for name, text in sources(root, "micro", "nbody")
        if (match := OWN_MEASURING.search(without_comments(text)))
    }
    for name in sorted(found.keys() - MEASURES_ITSELF):
        yield f"{name} has {found[name]!r}: events, evictions and gates belong to harness/measure"
    for name in sorted(MEASURES_ITSELF - found.keys()):
        yield f"{name} no longer measures by itself: delete it from MEASURES_ITSELF"


def long_sources(root: Path) -> Iterator[str]:
    """Device sources that are too long to be one question."""
    lines = {
        name: text.count("\n")
        for name, text in sources(root, "micro", "nbody")
        if name.endswith(".cu")
    }
    for name, count in lines.items():
        if count > MOST_LINES and name not in LONG:
            yield f"{name} has {count} lines, more than {MOST_LINES}"
    for name in LONG:
        if lines.get(name, 0) <= MOST_LINES:
            yield f"{name} has at most {MOST_LINES} lines: delete it from LONG"


def shape(text: str) -> list[tuple[int, str]]:
    """Each line of code, by number, with all names, strings and numbers alike."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = STRING.sub(lambda found: "S" + blank(found), without_comments(text))
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith(("#", "namespace", "using")):
            continue
        bare = NUMBER.sub("N", line)
        bare = NAME.sub(lambda found: found[0] if KEYWORDS.fullmatch(found[0]) else "I", bare)
        bare = "".join(bare.split())
        if re.search(r"\w", bare):
            lines.append((number, bare))
    return lines


def alike(root: Path) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Pairs of sources that share a run of lines of one shape, and where it begins in each."""
    seen: dict[tuple[str, ...], dict[str, int]] = {}
    for name, text in sources(root, *ROOMS):
        lines = shape(text)
        for i in range(len(lines) - SAME_LINES + 1):
            window = tuple(bare for _, bare in lines[i : i + SAME_LINES])
            # A table of values has one shape in every line, and is no repetition.
            if len(set(window)) > SAME_LINES // 2:
                seen.setdefault(window, {}).setdefault(name, lines[i][0])
    pairs: dict[tuple[str, str], tuple[int, int]] = {}
    for places in seen.values():
        for one, other in combinations(sorted(places), 2):
            pairs.setdefault((one, other), (places[one], places[other]))
    return pairs


def repetitions(root: Path) -> Iterator[str]:
    """Sources that are alike."""
    found = alike(root)
    for (one, other), (here, there) in sorted(found.items()):
        if (one, other) not in KNOWN_PAIRS:
            yield f"{one}:{here} and {other}:{there}: {SAME_LINES} lines of the same shape"
    for one, other in sorted(KNOWN_PAIRS - found.keys()):
        yield f"{one} and {other} are no longer alike: delete them from KNOWN_PAIRS"


def words(root: Path) -> Iterator[str]:
    """Lines with a word of WORDS, but for the analysis of kernels."""
    for name, text in sources(root, *ROOMS):
        if name.startswith("harness/access/"):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if found := WORDS.search(line.replace('"ask"', "")):  # the name of a command
                yield f"{name}:{number}: {found[0]!r}: write report, query, store, each, none"


def main() -> int:
    root = Path(sys.argv[1])
    found = [*measuring(root), *long_sources(root), *repetitions(root), *words(root)]
    print("\n".join(found) or "the house rules hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
