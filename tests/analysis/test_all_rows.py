"""All rows of a run in one text: nothing lost, nothing twice, small."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from builders import COUNTED_RUN, layout_case, load, measurement
from strata.report import all_rows
from strata.run import load_run
from strata.run.rows import Places


def opened(text: str) -> dict[str, Any]:
    columns: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return columns


def test_every_row_comes_back() -> None:
    rows = load_run(COUNTED_RUN).rows
    found = opened(all_rows.pack(rows))
    cases = [case for case in found["cases"] for _ in range(case[2])]
    several = [place for place, row in enumerate(rows) if row.samples > 1]
    assert len(cases) == len(rows)
    for place, row in enumerate(rows):
        quantity, unit, provenance, method = found["heads"][found["head"][place]]
        valid, reasons = found["notes"][found["note"][place]]
        assert (quantity, unit, method) == (row.quantity, row.unit, row.method)
        assert (provenance, valid, reasons) == (row.provenance, row.valid, row.reasons)
        assert cases[place][0] == row.benchmark
        assert found["value"][place] == pytest.approx(row.value, rel=1e-6)
        assert found["n"][place] == row.samples
    for at, place in enumerate(several):
        row = rows[place]
        ends = [found[name][at] for name in ("low", "high", "least", "most")]
        wanted = [row.ci_low, row.ci_high, row.minimum, row.maximum]
        assert ends == pytest.approx(wanted, rel=1e-6)


def test_counts_keep_their_digits_and_reasons_are_shown_as_on_the_page(tmp_path: Path) -> None:
    gate = [("timer", "failed", "see /home/a/b")]
    run = load(tmp_path, [layout_case("aos", 123_456_789_012, gates=gate)])
    found = opened(all_rows.pack(run.rows, lambda text: text.replace("/home/a/", "…/")))
    assert found["value"] == [123_456_789_012]
    assert found["notes"] == [[False, "timer: see …/b"]]
    assert opened(all_rows.pack([]))["value"] == []


def test_a_place_is_that_of_the_key(tmp_path: Path) -> None:
    extra = [measurement("grid_time", unit="s")]
    run = load(tmp_path, [layout_case("aos", extra=extra), layout_case("soa", extra=extra)])
    places = Places(run.rows)
    assert [places.of(row) for row in run.rows] == [0, 1, 2, 3]
    assert places.of(replace(run.rows[3], value=7.0)) == 3
    with pytest.raises(KeyError):
        places.of(replace(run.rows[1], quantity="other"))
    with pytest.raises(KeyError):
        places.of(replace(run.rows[1], case="micro/elsewhere/cuda"))


@given(st.sets(st.integers(0, 60)))
def test_spans_name_each_place_once(places: set[int]) -> None:
    text = all_rows.spans(places)
    found: list[int] = []
    for part in text.split(",") if text else []:
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    assert found == sorted(place + 1 for place in places)
