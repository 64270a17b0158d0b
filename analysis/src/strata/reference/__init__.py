"""Figures that others published, each with its source, to be drawn beside a run's own.

A row without a source does not stand here; blank means that the source does not say.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class PublishedRate:
    """Somebody's interactions per second of an all-pairs n-body code, N² for each step.

    `label` is short enough for a figure; `bodies` are those of one system, None where not told.
    """

    gpu: str
    problem: str
    implementation: str
    label: str
    bodies: int | None
    rate: float
    source: str
    locator: str


@cache
def nbody() -> tuple[PublishedRate, ...]:
    """Every published rate of n-body, in the order of its file."""
    text = files(__name__).joinpath("nbody.csv").read_text(encoding="utf-8")
    return tuple(
        PublishedRate(
            gpu=line["gpu"],
            problem=line["problem"],
            implementation=line["implementation"],
            label=line["label"],
            bodies=int(line["bodies"]) if line["bodies"] else None,
            rate=float(line["interactions_per_second"]),
            source=line["source"],
            locator=line["locator"],
        )
        for line in csv.DictReader(text.splitlines())
    )


def is_of(published: PublishedRate, device: str) -> bool:
    """Whether it is of the chip with the slug `device`: `H200` is, `H200 NVL` is not."""
    slug = re.sub(r"[^a-z0-9]+", "-", published.gpu.lower()).strip("-")
    return device == slug or device.endswith(f"-{slug}")
