"""Rows derived from the samples of a run, one per quantity of a case."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

from msgspec import Struct

from strata.run.schema import Backend, Case, Context, Gate, Line, Noise, Provenance, Verdict
from strata.run.statistics import spread_of_visits

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


DIGITS = 18  # of a size or a count; a longer word is not a number


class Row(Struct, frozen=True, gc=False):
    """One quantity of one case by one method: a row of `measurements.csv`.

    `value`, `ci_low`, `ci_high`, `minimum` and `maximum` are in `unit`; the interval is None with
    fewer than six samples. `noise` is the verdict of the noise gate; `taken` are the samples
    themselves, in the order of the record.
    """

    run: str
    device: str
    backend: Backend
    suite: str
    benchmark: str
    case: str
    params: Mapping[str, str]
    quantity: str
    unit: str
    provenance: Provenance
    method: str
    value: float
    ci_low: float | None
    ci_high: float | None
    minimum: float
    maximum: float
    samples: int
    valid: bool
    reasons: str
    noise: Verdict = "not_applicable"
    taken: tuple[float, ...] = ()

    def text(self, axis: str, default: str = "?") -> str:
        """The value of an axis; `default` if the case has no such axis."""
        return self.params.get(axis, default)

    def count(self, axis: str) -> int | None:
        """The value of an axis as an integer below 10^18; None if it is not one."""
        value = self.params.get(axis, "")
        return int(value) if value.isdecimal() and len(value) <= DIGITS else None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval; with fewer than six samples their range."""
        if self.ci_low is None or self.ci_high is None:
            return self.minimum, self.maximum
        return self.ci_low, self.ci_high

    @property
    def key(self) -> tuple[str, str, str]:
        """(case, quantity, method): what identifies a row within a run."""
        return (self.case, self.quantity, self.method)


COLUMNS = Row.__struct_fields__[:-2]
"""The columns of `measurements.csv`."""


def derive(context: Context, case: Line, again: Sequence[Line] = ()) -> tuple[Case, Sequence[Row]]:
    """A case, and its rows in the order of its measurements; `again` are its later visits."""
    head = (context.run, context.device.slug, case.backend, case.suite, case.benchmark)
    reasons = [_reason(gate) for gate in case.gates if gate.verdict in ("failed", "unverified")]
    sound = all(gate.verdict != "failed" for gate in case.gates)
    of_case, rows = "; ".join(reasons), list[Row]()
    later = [{(m.quantity, m.method): m.samples for m in line.measurements} for line in again]
    for one in case.measurements:
        valid, why, verdict, samples = sound, of_case, one.noise.verdict, one.samples
        visits, key = [samples], (one.quantity, one.method)
        if later and one.provenance == "timed":
            visits += [samples_of[key] for samples_of in later if key in samples_of]
            samples = tuple(chain.from_iterable(visits))
        if verdict in ("failed", "unverified"):
            valid = valid and verdict != "failed"
            why = "; ".join([*reasons, _reason(one.noise)])
        value, low, high, least, most = spread_of_visits(visits)
        names = (*head, case.id, case.params, one.quantity, one.unit, one.provenance, one.method)
        numbers = (value, low, high, least, most, len(samples))
        rows.append(Row(*cast("Any", (*names, *numbers, valid, why, verdict, samples))))
    return Case(*(getattr(case, name) for name in Case.__struct_fields__)), rows


def _reason(gate: Gate | Noise) -> str:
    return f"{gate.name}: {gate.detail or gate.verdict}"


def params_text(params: Mapping[str, str], separator: str = ";") -> str:
    """`k=v` of every parameter, sorted by key, joined by `separator`."""
    return separator.join([f"{key}={params[key]}" for key in sorted(params)])


def case_id(suite: str, benchmark: str, backend: str, params: Mapping[str, str]) -> str:
    """The canonical id of a case: suite/benchmark/backend/k=v/..."""
    words = params_text(params, "/")
    return f"{suite}/{benchmark}/{backend}" + (f"/{words}" if words else "")


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by a key; keys and items in the order of appearance."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


class Places:
    """The positions of rows among those of their run, from 0."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._places = {row.key: place for place, row in enumerate(rows)}

    def of(self, row: Row) -> int:
        """The position of the row with the key of `row`. Raises KeyError if there is none."""
        return self._places[row.key]
