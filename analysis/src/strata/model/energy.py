"""Joules of a byte or an operation, and the power that these prices predict for other work.

The power of work is that of a device with a context on which nothing runs, and of what it does:
P = P(context) + Σ rate × amount × price, where a price is what its own work takes beyond that.
Lines of power over the number of SMs at work meet there: on an H200, SMs that wait for work take
nothing more. `energy_parts.csv` has the amounts of each price in a unit of other works: mixes by
their construction, rungs of the ladder by their counted instructions. A load that all lanes of a
warp share counts as what each of them receives.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from strata.model.cases import by_case
from strata.run import Row, Run
from strata.run.files import resource

WORKS = {
    "shared_read": "shared memory, read",
    "shared_write": "shared memory, write",
    "l1_read": "L1, read",
    "l1_read_4": "L1, read, 4 B a lane",
    "l2_near": "L2, read, near half",
    "l2_far": "L2, read, far half",
    "l2_read": "L2, read, each SM its part",
    "l2_write": "L2, write",
    "l2_sectors": "L2, a sector a lane",
    "l3_read": "L3, read",
    "dram_read": "DRAM, read",
    "dram_write": "DRAM, write",
    "dram_sectors": "DRAM, a sector a lane",
    "host_read": "copy to the device",
    "host_write": "copy to the host",
    "fp32": "multiply-add, fp32",
    "fp32_square": "multiply-add, fp32, two registers",
    "fp32_steady": "multiply-add, fp32, same operands",
    "fp64": "multiply-add, fp64",
    "fp16x2": "multiply-add, fp16x2",
    "int32": "multiply-add, int32",
    "mufu": "reciprocal square root",
    "mma_fp16": "mma, fp16",
    "mma_fp64": "mma, fp64",
    "wgmma_fp16": "wgmma, fp16",
    "wgmma_tf32": "wgmma, tf32",
    "wgmma_e4m3": "wgmma, e4m3",
    "wgmma_int8": "wgmma, int8",
    "atomic_shared": "atomic addition, shared memory",
    "atomic_global": "atomic addition, L2",
}
"""Works that have a price, in the order of lists."""


@dataclass(frozen=True, slots=True)
class Energy:
    """A case of the benchmark `energy`: its rows by quantity, without the power integral."""

    work: str
    data: str
    case: str
    rows: Mapping[str, Row]

    @property
    def unit(self) -> str:
        """Of its work: "B"."""
        return self.rows["rate"].unit.removesuffix("/s") if "rate" in self.rows else ""

    def value(self, quantity: str) -> float | None:
        """Of a valid row."""
        row = self.rows.get(quantity)
        return row.value if row is not None and row.valid else None

    def whole(self) -> tuple[float, float] | None:
        """Rate and watts with the most SMs that were not throttled; None if none is valid."""
        for share in "", "_75", "_50", "_25":
            rate, power = self.value(f"rate{share}"), self.value(f"power{share}")
            if rate and power is not None:
                return rate, power
        return None


def energies(run: Run) -> dict[tuple[str, str], Energy]:
    """By work and data, those measured for the longest time."""
    found: dict[tuple[str, str], tuple[int, Energy]] = {}
    for rows in by_case(run.of("energy")):
        first = rows.rows[0]
        seconds = first.count("seconds") or 0
        key = first.text("work"), first.text("data")
        if key in found and found[key][0] >= seconds:
            continue
        own = {row.quantity: row for row in rows.rows if row.method != "power_integral"}
        found[key] = seconds, Energy(*key, first.case, own)
    return {key: energy for key, (_, energy) in found.items()}


def resting(known: Mapping[tuple[str, str], Energy]) -> float | None:
    """Watts of a device with a context on which nothing runs; of a CPU without work."""
    for work in "context", "idle":
        rest = known.get((work, "random"))
        if rest is not None and (watts := rest.value("power")) is not None:
            return watts
    return None


@dataclass(frozen=True, slots=True)
class Price:
    """Of a work: joules of a unit; those without a row or beyond their checks are None."""

    work: str
    data: str
    unit: str
    row: Row
    net: float | None
    marginal: float | None
    rest: float | None


def prices(run: Run) -> list[Price]:
    """Of all works of a run that have a rate, in the order of `WORKS`, then others."""
    known = energies(run)
    rest = resting(known)
    found = []
    for energy in known.values():
        row = energy.rows.get("energy")
        if row is None:
            continue
        whole = energy.whole()
        net = (whole[1] - rest) / whole[0] if whole and rest is not None else None
        marginal = energy.value("marginal_energy")
        found.append(Price(energy.work, energy.data, energy.unit, row, net, marginal, rest))
    at = {work: nth for nth, work in enumerate(WORKS)}
    return sorted(found, key=lambda price: (at.get(price.work, len(at)), price.data))


@cache
def parts() -> Mapping[str, Mapping[str, float]]:
    """Amounts of prices in a unit of each mix and rung, by work and price."""
    found: dict[str, dict[str, float]] = {}
    for line in csv.DictReader(resource("strata.model", "energy_parts.csv").splitlines()):
        found.setdefault(line["work"], {})[line["price"]] = float(line["amount"])
    return found


@dataclass(frozen=True, slots=True)
class Predicted:
    """Power of a work that decided no price, in W; `shares` by price, beyond the power at rest."""

    work: str
    row: Row
    watts: float
    rest: float
    shares: Mapping[str, float]

    @property
    def error(self) -> float:
        """Relative to the measured power."""
        return self.watts / self.row.value - 1


def predictions(run: Run) -> list[Predicted]:
    """Of the mixes and rungs of a run whose prices are all known."""
    known = energies(run)
    net = {one.work: one.net for one in prices(run) if one.data == "random"}
    rest = resting(known)
    found = []
    for work, amounts in parts().items():
        energy = known.get((work, "random"))
        rate = energy.value("rate") if energy else None
        of_parts = {price: net.get(price) for price in amounts}
        joules = {price: one for price, one in of_parts.items() if one is not None}
        if energy is None or rate is None or rest is None or len(joules) < len(amounts):
            continue
        shares = {price: rate * amounts[price] * one for price, one in joules.items()}
        power = energy.rows["power"]
        found.append(Predicted(work, power, rest + sum(shares.values()), rest, shares))
    return found
