"""The figure of translations, of a CPU: in a CPU's words."""

from pathlib import Path

from builders import case, load, measurement
from strata.figures import tlb


def test_translations_of_a_cpu_are_named_by_their_pages(tmp_path: Path) -> None:
    lines = [
        case(
            [measurement("load_cycles", [4.0], unit="tsc_cycle", method="tsc_slope")],
            benchmark="tlb",
            backend="host",
            params={"allocation": pages, "stride": 4096, "footprint": 65536},
        )
        for pages in ("small_pages", "huge_pages")
    ]
    items = tlb.prepare(load(tmp_path, lines, backend="host").rows)
    assert [point.curve.split(",")[0] for point in items] == [
        "pages of 2\u00a0MiB",
        "pages of 4\u00a0KiB",
    ]
    assert "same lines" in tlb.caption(items)
