"""docs/cookbook.md: twenty questions, each with its command and its answer from recorded rows."""

import gzip
import json
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from test_docs import tool

from builders import SOURCES, strata
from strata import answers
from strata.model.truth import load_run
from strata.run import Row, index

ROOT = SOURCES.parents[1]
cookbook = tool("cookbook")
PAGE = (ROOT / "docs/cookbook.md").read_text("utf-8")
QUESTIONS = [words[1:] for words in map(shlex.split, cookbook.commands(PAGE)) if words[0] == "ask"]


@cache
def rows_of(folder: Path) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in load_run(folder).rows:
        found.setdefault(row.case, []).append(row)
    return found


def proofs(answer: dict[str, Any]) -> Iterator[Row]:
    """The rows of the case, quantity and method that an answer names."""
    for folder in index.recorded()["h200"]:
        if folder.name == answer["run"]:
            names = (answer["quantity"], answer["method"])
            here = rows_of(folder).get(answer["case"], [])
            yield from (row for row in here if (row.quantity, row.method) == names)


def test_the_page_has_twenty_questions() -> None:
    assert len(cookbook.commands(PAGE)) == PAGE.count("\n## ") == 20
    assert "compare h100 h200" in cookbook.commands(PAGE)


@pytest.mark.slow
def test_the_page_shows_what_its_commands_print() -> None:
    for block in cookbook.BLOCK.finditer(PAGE):
        assert cookbook.renewed(block) == block[0], block[1]


@pytest.mark.slow
def test_the_answers_of_the_package_are_those_of_the_recorded_runs() -> None:
    packed = Path(answers.__file__).with_name(answers.PACKED).read_bytes()
    assert gzip.decompress(packed) == gzip.decompress(answers.pack())


@pytest.mark.slow
@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_every_value_is_that_of_its_row(words: list[str]) -> None:
    done = strata("ask", *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    for answer in json.loads(done.stdout)["answers"]:
        if answer["value"] is None:
            assert "has no such case" in answer["why"]
            continue
        found = [*proofs(answer)]
        if answer["quantity"] == "warps_per_sm":  # of the shape of its case
            case = dict(part.split("=") for part in answer["case"].split("/") if "=" in part)
            assert answer["value"] == int(case["block_size"]) * int(case["blocks_per_sm"]) / 32
        elif answer["name"] == "size.tlb":  # of a chain
            assert f"footprint={answer['value']:.0f}/" in answer["case"]
        else:
            (row,) = found
            assert (answer["value"], answer["unit"]) == (row.value, row.unit)
            assert (answer["low"], answer["high"]) == row.interval
            assert answer["valid"] == row.valid
            assert answer["why"] == ("" if row.valid else row.reasons)
