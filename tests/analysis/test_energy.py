"""The benchmark `energy`: prices, and operations per joule."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders import case, load, measurement, strata, write_run
from charts import caption_of, data_of
from plots import hollow_of, plot_named, plotted
from strata.figures.energy import operations_per_joule, roofs
from strata.model.energy import WORKS, energies, parts, predictions, prices, resting
from strata.run import Run

PRICES = plot_named("energy_prices")
ROOFS = plot_named("energy_intensity")
POWER = plot_named("energy_power")
IDLE = 120.0


def rows(quantity: str, values: list[float], unit: str, **more: Any) -> dict[str, Any]:
    more = {"method": "nvml_energy", "provenance": "reported"} | more
    return measurement(quantity, values, unit=unit, **more)


def worked(
    work: str, rate: float, joules: float, unit: str = "B", *, contents: str = "random",
    seconds: int = 8, throttled: bool = False, marginal: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A case: `joules` of a unit above the idle power, of all SMs, and of half of them."""
    watts = IDLE + rate * joules
    half = IDLE + 0.5 * rate * joules
    noise = {"noise": "failed", "detail": "throttled in 3 of 10 readings"} if throttled else {}
    found = [
        rows("power", [watts] * 8, "W", **noise),
        rows("power", [1.01 * watts], "W", method="power_integral", **noise),
        rows("rate", [rate] * 8, f"{unit}/s", method="wall", provenance="timed", **noise),
        rows("energy", [0.99 * watts / rate] + [watts / rate] * 7, f"J/{unit}", **noise),
        rows("power_50", [half] * 6, "W"),
        rows("rate_50", [rate / 2] * 6, f"{unit}/s", method="wall", provenance="timed"),
    ]
    if marginal is not None:
        found.append(
            rows("marginal_energy", [marginal], f"J/{unit}", method="slope", provenance="modelled")
        )
    axes = {"work": work, "data": contents, "seconds": seconds}
    return case(found, benchmark="energy", params=axes)


def idle(work: str = "context", watts: float = IDLE) -> dict[str, Any]:
    axes = {"work": work, "data": "random", "seconds": 8}
    return case([rows("power", [watts] * 8, "W")], benchmark="energy", params=axes)


SOME = [
    idle(),
    idle("idle", 75.0),
    worked("dram_read", 4e12, 100e-12, marginal=90e-12),
    worked("dram_read", 4e12, 60e-12, contents="zeros"),
    worked("shared_read", 3e13, 8e-12),
    worked("fp32", 6e13, 6e-12, "FLOP"),
    worked("wgmma_fp16", 8e14, 0.7e-12, "operation", throttled=True),
    worked("mix_dram_copy", 4e12, 100e-12),
]


def run_of(tmp_path: Path, *lines: dict[str, Any]) -> Run:
    return load(tmp_path, list(lines))


def test_prices_are_gross_net_of_the_idle_power_and_marginal(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME)
    dram = next(one for one in prices(run) if (one.work, one.data) == ("dram_read", "random"))
    assert dram.row.value == pytest.approx(100e-12 + IDLE / 4e12)
    assert dram.net == pytest.approx(100e-12)
    assert dram.marginal == 90e-12
    assert resting(energies(run)) == IDLE, "with a context, as all that works has"


def test_a_throttled_work_has_the_net_price_of_fewer_sms(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME)
    tensor = next(one for one in prices(run) if one.work == "wgmma_fp16")
    assert not tensor.row.valid
    assert tensor.net == pytest.approx(0.7e-12)
    assert energies(run)["wgmma_fp16", "random"].whole() == pytest.approx(
        (4e14, IDLE + 4e14 * 0.7e-12)
    )


def test_the_longer_of_two_cases_counts(tmp_path: Path) -> None:
    brief = worked("fp32", 6e13, 9e-12, "FLOP", seconds=3)
    run = run_of(tmp_path, idle(), brief, worked("fp32", 6e13, 6e-12, "FLOP"))
    assert [price.net for price in prices(run)] == [pytest.approx(6e-12)]


def test_without_an_idle_power_there_is_no_net_price(tmp_path: Path) -> None:
    run = run_of(tmp_path, worked("fp32", 6e13, 6e-12, "FLOP"))
    assert [price.net for price in prices(run)] == [None]
    assert data_of(PRICES, run)[0]["net"] == ""


def test_the_list_has_bytes_and_operations_and_no_mix(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME)
    data = data_of(PRICES, run)
    assert [(line["work"], line["data"], line["work_unit"]) for line in data] == [
        ("shared_read", "random", "B"), ("dram_read", "random", "B"), ("dram_read", "zeros", "B"),
        ("fp32", "random", "FLOP"), ("wgmma_fp16", "random", "operation"),
    ]  # fmt: skip
    with plotted(PRICES, run) as figure:
        of_bytes, of_operations = figure.axes
        names = [label.get_text() for label in of_bytes.get_yticklabels()]
        assert names == [WORKS["shared_read"], WORKS["dram_read"], f"{WORKS['dram_read']}, zeros"]
        assert hollow_of(of_operations), "the throttled one"
    caption = caption_of(PRICES, run)
    assert "Zeros switch fewer wires" in caption
    assert "throttled" in caption


def test_operations_per_joule_pay_for_bytes_operations_and_rest(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME)
    lines = roofs(run).set_index("level")
    dram = lines.loc["dram_read"]
    # At four operations a byte, bytes take longer: 1 / 4 of a byte's time at rest.
    (found,) = operations_per_joule(dram, np.array([4.0]))
    assert 1 / found == pytest.approx(6e-12 + 100e-12 / 4 + IDLE / (4 * 4e12))
    (found,) = operations_per_joule(dram, np.array([1e6]))
    assert 1 / found == pytest.approx(6e-12 + 100e-12 / 1e6 + IDLE / 6e13)
    assert [*lines.index] == ["shared_read", "dram_read"]
    with plotted(ROOFS, run) as figure:
        assert figure.axes[0].get_xscale() == "log"


def test_a_run_without_operations_has_no_roofs(tmp_path: Path) -> None:
    run = run_of(tmp_path, idle(), worked("dram_read", 4e12, 100e-12))
    assert roofs(run).empty


def test_power_of_a_mix_is_that_of_the_rest_and_of_its_parts(tmp_path: Path) -> None:
    run = run_of(tmp_path, *SOME, worked("dram_write", 3e12, 120e-12))
    (copy,) = predictions(run)
    assert copy.work == "mix_dram_copy"
    assert copy.watts == pytest.approx(IDLE + 4e12 * (0.5 * 100e-12 + 0.5 * 120e-12))
    assert copy.error == pytest.approx(copy.watts / (IDLE + 400) - 1)
    with plotted(POWER, run) as figure:
        assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["copy, DRAM"]
    assert "Error:" in caption_of(POWER, run)


def test_without_one_of_its_prices_a_power_is_not_predicted(tmp_path: Path) -> None:
    assert predictions(run_of(tmp_path, *SOME)) == []
    assert predictions(run_of(tmp_path, *SOME[1:], worked("dram_write", 3e12, 120e-12))) != []


def test_parts_are_of_works_that_have_a_price() -> None:
    assert {price for amounts in parts().values() for price in amounts} <= {*WORKS}
    assert len([work for work in parts() if work.startswith("mix_")]) == 10


def test_ask_gives_the_price_of_a_byte_with_its_case(tmp_path: Path) -> None:
    done = strata("ask", write_run(tmp_path, SOME), "energy", "dram", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)["answers"]
    assert [(one["axes"]["work"], one["axes"]["data"], one["text"]) for one in found] == [
        ("dram_read", "random", "130\u00a0pJ/B"), ("dram_read", "zeros", "90.0\u00a0pJ/B"),
    ]  # fmt: skip
    assert {one["quantity"] for one in found[0]["also"]} == {"marginal_energy", "power", "rate"}
