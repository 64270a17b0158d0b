"""What a level gives at most: one number, whoever prints it, and not chosen by the noise gate."""

from pathlib import Path
from typing import Any

import pytest
from test_headlines import CHIP, L2, ceiling, stream, texts, words

from builders import case, count, counts, layout_case, load, load2, measurement
from strata.compare import devices
from strata.model import atlas
from strata.model.hierarchy import hierarchy
from strata.report import headlines
from strata.roofline.ceilings import ceilings
from strata.roofline.forms import FLOP
from strata.run.validate import validity

RATE = {"unit": "B/s", "method": "event_slope"}
NOISY = {"noise": "failed", "detail": "half-width 1.2 % of the median (bound 1.00 %)"}


def peak(level: str, rate: float, operation: str = "read") -> dict[str, Any]:
    """A case of peak_bandwidth: the best shape is a fact, not a parameter."""
    found = [
        measurement("bandwidth", [rate], **RATE),
        measurement("share_of_limit", [0.97], unit="1", method="event_slope"),
    ]
    axes = {"level": level, "operation": operation, "width": 16, "shape": "best"}
    return case(found, benchmark="peak_bandwidth", params=axes)


def layout(rate: float, *shares: tuple[str, float]) -> list[dict[str, Any]]:
    """A layout from L2 under load, with counted shares."""
    line = layout_case("soa", 50, residency="l2", bandwidth=rate, cores="all", warps_per_sm=32)
    return [line, counts(line, [count(name, value, unit="1") for name, value in shares])]


def copies(rate: float, **changes: Any) -> dict[str, Any]:
    axes = {"residency": "l2", "method": "bulk", "cluster": 1, "measure": "bandwidth"} | changes
    return case([measurement("bandwidth", [rate], **RATE)], benchmark="async_copy", params=axes)


FROM_L2 = ("l1_hit_share", 0.0), ("l2_hit_share", 1.0)


@pytest.mark.parametrize(
    ("others", "rate", "source"),
    [
        ([], 9e12, ""),
        (layout(9.5e12, *FROM_L2), 9.5e12, "layout_read"),
        (layout(8.5e12, *FROM_L2), 9e12, ""),
        (layout(9.5e12), 9e12, ""),
        (layout(9.5e12, ("l1_hit_share", 0.5), FROM_L2[1]), 9e12, ""),
        (layout(9.5e12, FROM_L2[0], ("l2_hit_share", 0.5)), 9e12, ""),
        ([copies(9.5e12)], 9.5e12, "async_copy"),
        ([copies(9.5e12, method="cp_async_8")], 9e12, ""),
        ([copies(9.5e12, cluster=2)], 9e12, ""),
        ([peak("l2", 9.2e12), copies(9.5e12)], 9.2e12, ""),
    ],
)
def test_a_level_gives_at_most_what_is_proven(
    tmp_path: Path, others: list[dict[str, Any]], rate: float, source: str
) -> None:
    lines = [stream("l2", 16, 9e12), stream("l2", 4, 7e12), stream("dram", 16, 4e12), *others]
    run = load2(tmp_path, [*lines, ceiling("fp32", "steady", 6e13, 0.9)])
    found = atlas.bandwidths(run)["l2"]
    assert (found.row.value, found.source, found.operation) == (rate, source, "read")
    # The map, the headlines, compare and the roofline have that number.
    assert hierarchy(run).numbers("l2")["bandwidth"].value == rate
    (headline,) = (one for one in headlines.headlines(run) if one.what.startswith("L2 bandwidth"))
    assert headlines.as_data(run)["numbers"][headline.what]["value"] == rate
    side = devices.side_by_side([run, run]).numbers
    of_all = side[(side.panel == "bandwidth_all") & (side.label == "L2")]
    assert of_all.value.tolist() == pytest.approx([rate / 1e9] * 2)
    (roof,) = (one for one in ceilings(run, FLOP) if one.level == "l2" and one.roof)
    assert (roof.name, roof.value) == ("L2, read", rate)
    text = "".join(words(run))
    named = [name for name in ("layout_read", "async_copy") if f"by {name}" in text]
    assert named == [source] * bool(source)


def test_a_ceiling_names_its_operation(tmp_path: Path) -> None:
    lines = [*CHIP, stream("dram", 16, 4.9e12, operation="copy"), peak("l2", 9.9e12, "triad")]
    run = load(tmp_path, lines, device__l2_bytes=L2)
    roofs = {one.level: one for one in ceilings(run, FLOP) if one.roof and one.sloped}
    assert (roofs["dram"].name, roofs["l2"].name) == ("DRAM, copy", "L2, triad")
    assert atlas.bandwidths(run)["dram"].row.value == 4.7e12
    assert atlas.bandwidths(run, "copy")["dram"].row.value == 4.9e12
    assert atlas.bandwidths(run, "triad")["l2"].row.value == 9.9e12


def noisy_stream(rate: float) -> dict[str, Any]:
    axes = {"level": "dram", "operation": "read", "width": 8}
    found = [measurement("bandwidth", [rate], **RATE, **NOISY)]
    return case(found, benchmark="bandwidth", params=axes)


def test_the_noise_gate_does_not_choose_a_headline(tmp_path: Path) -> None:
    """A higher row that it alone rejected is the upper end, and is never the best itself."""
    run = load(tmp_path / "higher", [stream("dram", 16, 4e12), noisy_stream(4.5e12)])
    best = atlas.bandwidths(run)["dram"]
    assert best.row.value == 4e12
    assert best.noisy
    assert best.noisy.value == 4.5e12
    (found,) = (one for one in texts(headlines.headlines(run)) if one[0].startswith("DRAM"))
    assert found[1:] == ("4.00 TB/s", "4.00 B/cycle per SM, up to 4.50 TB/s in a noisy row")
    lower = load(tmp_path / "lower", [stream("dram", 16, 4e12), noisy_stream(3.5e12)])
    assert atlas.bandwidths(lower)["dram"].noisy is None
    gate = [("level", "failed", "from L2")]
    elsewhere = noisy_stream(4.5e12) | {"gates": case([], gates=gate)["gates"]}
    wrong = load(tmp_path / "wrong", [stream("dram", 16, 4e12), elsewhere])
    assert atlas.bandwidths(wrong)["dram"].noisy is None  # another gate failed, too


def test_the_best_layout_has_an_upper_end_too(tmp_path: Path) -> None:
    noisy = layout_case("soa", 50, bandwidth=3e12, residency="dram", warps_per_sm=16)
    for one in noisy["measurements"]:
        one["noise"] = {"verdict": "failed", "detail": "half-width 1.2 %"}
    lines = [layout_case("soa", 50, bandwidth=2e12, residency="dram"), noisy]
    ((_, value, remark),) = texts(headlines.best_layout(load(tmp_path, lines)))
    assert (value, remark.partition(";")[0]) == (
        "soa", "2.00 TB/s of useful data, up to 3.00 TB/s in a noisy row"
    )  # fmt: skip


def test_validity_is_that_of_timed_rows(tmp_path: Path) -> None:
    line = layout_case("aos", 50)
    noisy = layout_case("soa", 50, warps_per_sm=2)
    noisy["measurements"][0]["noise"] = {"verdict": "failed", "detail": "half-width 9 %"}
    run = load2(tmp_path, [line, noisy, counts(line, [count(), count("l1_hit_share", 1.0)])])
    kinds = {one.kind: (one.valid, one.rows) for one in validity(run) if one.rows}
    timed = sum(len(one["measurements"]) for one in (line, noisy))
    assert kinds == {"timed": (timed - 1, timed), "counted": (2, 2)}
    (one,) = headlines.valid_rows(run)
    assert one.what == "valid timed rows"
    assert one.value[0] == f"{timed - 1} of {timed} ({100 * (timed - 1) / timed:.1f} %)"
    assert one.remark[0] == "1 flagged by a gate; counted 2 of 2"


def test_one_address_of_the_whole_device_is_no_rate_of_an_sm(tmp_path: Path) -> None:
    def atomics(space: str, target: str, rate: float) -> dict[str, Any]:
        found = [
            measurement("atomic_rate", [rate], unit="1/s", method="event_slope"),
            measurement("core_clock", [2e9], unit="Hz", method="clock64_over_globaltimer"),
        ]
        axes = {"operation": "add_int", "returns": "no", "space": space, "target": target}
        return case(found, benchmark="atomics", params=axes)

    lines = [atomics("global", "same", 1.4e9), atomics("global", "disjoint", 600e9)]
    run = load(tmp_path, [*lines, atomics("shared", "same", 260e9)])
    side = devices.side_by_side([run, run]).numbers
    first = side[side["at"] == 0].set_index(["panel", "label"]).value
    assert first.atomics_serial.to_dict() == pytest.approx({"global, one address": 0.7})
    each = {"global, disjoint": 150, "shared, one address": 65}
    assert first.atomics.to_dict() == pytest.approx(each)
