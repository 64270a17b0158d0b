"""Which GPU of a fleet is an outlier, and in what?

Every row is taken as its relative distance from the fleet's centre, the median over the GPUs. Five
kinds of questions are answered for each site of the chip (`strata.fleet.sites`) and each GPU:

    family    did a family of timed rows move as a whole, such as all loads out of DRAM?
    site      did most families of the site move together, all times or all rates of DRAM?
    part      did some of its rows move, as where one of six memory stacks is slow?
    counts    did what was counted, modelled or reported move?
    drift     did a family move since the same GPU's earlier runs, further than other GPUs' did?

Each row of a family of fewer than five is judged by itself. One row of a larger family shows
nothing: near the knee of a curve single rows move by some percent from run to run.

`strata.fleet.law` answers each; together they raise even one false alarm with at most the declared
probability, of which each question has an equal share. What a driver reports as an event (errors
of memory, a throttle that hardly any other has, a limit set otherwise) is not random: it
is reported as it is.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from strata.compare import changes
from strata.compare.changes import better
from strata.compare.noise import LEAST, SMALLEST
from strata.fleet import chips, law
from strata.fleet.dataset import Block, Entry, Line
from strata.fleet.sites import CONDITIONS, SITES, site
from strata.run import grouped

Kind = Literal["site", "family", "part", "counts", "drift"]
KINDS: Mapping[Kind, str] = {
    "site": "most families",
    "family": "all",
    "part": "some",
    "counts": "what was counted",
    "drift": "since its earlier runs",
}
"""Each kind of question in words."""
FAR = 0.9
"""The share of a family's rows that lie nearer than the number by which `part` knows a GPU."""
RARE = 0.01
"""The share of GPUs in whose state a row or a count may be by chance: it is then no GPU's fault."""
SEVERAL = 3
"""Families of one site and direction that may move together."""
PARTS = 10
"""Rows of a family of which some may have moved without the others."""

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings(changes.Settings):
    """The probability of even one false alarm in the fleet, and the smallest change of interest."""

    min_change: float = 0.005


class Family(NamedTuple):
    """Rows of one benchmark, quantity, level and provenance; `line` is one of them."""

    line: Line
    site: str
    rows: int


class Finding(NamedTuple):
    """One thing in which a GPU is out.

    `change` is relative to the fleet's centre (0.01: 1 % more); `alike` is the share of a family's
    rows that moved so; `chance` that of even one such number in the fleet without a fault.
    """

    gpu: int
    kind: Kind
    site: str
    line: Line
    rows: int
    change: float
    alike: float
    chance: float
    score: float

    @property
    def verdict(self) -> str:
        """Slower, faster, or higher or lower where neither is better."""
        direction = better(self.line)
        if direction == "neither" or self.kind in ("part", "counts"):
            return "apart" if self.kind == "part" else "higher" if self.change > 0 else "lower"
        return "slower" if (self.change > 0) == (direction == "lower") else "faster"


class Event(NamedTuple):
    """What the driver reports of one GPU and of hardly any other."""

    gpu: int
    what: str


class Quantity(NamedTuple):
    """Centre and spread of one row over the GPUs: both in its unit, the spread one robust sigma."""

    line: Line
    gpus: int
    centre: float
    spread: float
    lowest: float
    highest: float


class Gpu(NamedTuple):
    """One GPU: its latest run, which is judged, and those before it."""

    entry: Entry
    earlier: tuple[Entry, ...]


@dataclass
class Question:
    """A question: its lines, a number a GPU in each in units of the line's spread, and the law.

    `places` are of the families that each line is of.
    """

    kind: Kind
    site: str
    lines: list[Line]
    places: list[list[int]]
    rows: list[int]
    changes: Matrix
    numbers: Matrix
    alike: Matrix | None = None
    how: law.Law = field(init=False)

    def __post_init__(self) -> None:
        largest = np.nan_to_num(np.abs(self.numbers)).max(axis=0, initial=0.0)
        self.how = law.Law(largest)


@dataclass(frozen=True)
class Fleet:
    """A fleet judged: `scores` are of each family and GPU, 1 where it is out; NaN if unknown."""

    settings: Settings
    gpus: tuple[Gpu, ...]
    findings: tuple[Finding, ...]
    events: tuple[Event, ...]
    families: tuple[Family, ...]
    shifts: Matrix
    scores: Matrix
    history: Matrix
    """The shift of each family in every run, the columns in the order of `runs`."""
    runs: tuple[Entry, ...]
    quantities: tuple[Quantity, ...]
    expected: int
    missing: npt.NDArray[np.int64]
    invalid: npt.NDArray[np.int64]
    questions: int
    typical: int

    @property
    def out(self) -> tuple[int, ...]:
        """The GPUs that are out, the worst first: those with events, then by their score."""
        worst: dict[int, float] = defaultdict(float)
        for one in self.findings:
            worst[one.gpu] = max(worst[one.gpu], one.score)
        for event in self.events:
            worst[event.gpu] = math.inf
        return tuple(sorted(worst, key=lambda gpu: (-worst[gpu], gpu)))


def too_few(gpus: int) -> ValueError:
    """The error for a fleet that is too small."""
    found = f"found {gpus} GPU{'s' * (gpus != 1)}"
    return ValueError(f"{found}; expected {law.FEWEST} or more to find an outlier")


def judged(
    read: Callable[[Sequence[str]], Iterable[Block]], entries: Sequence[Entry], settings: Settings
) -> Fleet:
    """Which of the GPUs that `entries` are of is out, each by its latest run.

    `read` gives the rows of runs, in blocks of whole families. Raises ValueError with fewer than
    `law.FEWEST` GPUs, and what `read` raises.
    """
    gpus = _gpus(entries)
    if len(gpus) < law.FEWEST:
        raise too_few(len(gpus))
    runs = [gpu.entry for gpu in gpus] + [entry for gpu in gpus for entry in gpu.earlier]
    seen = _Seen(gpus, runs)
    for block in read([entry.run for entry in runs]):
        seen.take(block)
    seen.take_conditions()
    questions = [one for one in seen.questions() if one.how.gpus]
    share = settings.false_alarm / max(len(questions), 1)
    findings = sorted(
        (found for one in questions for found in _findings(one, share, settings.min_change)),
        key=lambda found: -found.score,
    )
    scores = np.full((len(seen.families), len(gpus)), np.nan)
    for one in (of for of in questions if of.kind != "drift"):
        needed = one.how.needed(share)
        for places, numbers in zip(one.places, one.numbers, strict=True):
            scores[places] = np.fmax(scores[places], np.abs(numbers) / needed)
    far = np.nan_to_num(scores).max(axis=0, initial=0.0)
    return Fleet(
        settings=settings,
        gpus=tuple(gpus),
        findings=tuple(findings),
        events=tuple(_events(gpus)),
        families=tuple(seen.families),
        shifts=np.array(seen.shifts).reshape(-1, len(runs))[:, : len(gpus)],
        scores=scores,
        history=np.array(seen.shifts).reshape(-1, len(runs)),
        runs=tuple(runs),
        quantities=tuple(seen.quantities),
        expected=seen.expected,
        missing=seen.missing,
        invalid=seen.invalid[: len(gpus)],
        questions=len(questions),
        typical=int(np.argmin(far + seen.missing / max(seen.expected, 1))),
    )


def _gpus(entries: Sequence[Entry]) -> list[Gpu]:
    of = grouped(sorted(entries, key=lambda one: (one.started, one.run)), lambda one: one.gpu)
    found = [Gpu(runs[-1], tuple(runs[:-1])) for runs in of.values()]
    return sorted(found, key=lambda gpu: (gpu.entry.node, gpu.entry.gpu))


def key(line: Line) -> tuple[str, ...]:
    """What the rows of a family have in common."""
    return line.suite, line.benchmark, line.quantity, line.level, line.provenance


class _Seen:
    """The content of the blocks of a fleet, line by line."""

    def __init__(self, gpus: Sequence[Gpu], runs: Sequence[Entry]) -> None:
        self.gpus, self.runs, self._count = gpus, runs, len(gpus)
        self.families: list[Family] = []
        self.shifts: list[Vector] = []
        self._kinds: list[float] = []
        self._far: list[Vector] = []
        self._near: list[Vector] = []
        self._alike: list[Vector] = []
        self.quantities: list[Quantity] = []
        self.expected = 0
        self.missing = np.zeros(self._count, np.int64)
        self.invalid = np.zeros(len(runs), np.int64)

    def take(self, block: Block) -> None:
        """All families of a block."""
        self.invalid += block.invalid
        for places in grouped(range(len(block.lines)), lambda at: key(block.lines[at])).values():
            self._family([block.lines[at] for at in places], block.values[:, places].T)

    def take_conditions(self) -> None:
        """Temperature, power and clocks around each run as rows."""
        for when in ("before", "after"):
            conditions = [getattr(entry, when) for entry in self.runs]
            for name, unit in _CONDITIONS.items():
                values = np.array([_number(facts.get(name)) for facts in conditions])
                if (~np.isnan(values[: self._count])).sum() >= law.FEWEST:
                    labels = ("driver", when, name, name, when, unit, "reported")
                    self._family([Line(CONDITIONS, *labels)], values[None, :])

    def _family(self, lines: Sequence[Line], values: npt.NDArray[np.floating]) -> None:
        """The rows of a family, rows × runs: the GPUs' latest runs, then the earlier ones."""
        count = self._count
        reporting = (~np.isnan(values[:, :count])).sum(axis=1)
        usual = (reporting >= law.FEWEST) & (2 * reporting >= count)
        values, reporting = values[usual], reporting[usual]
        lines = [line for line, is_usual in zip(lines, usual, strict=True) if is_usual]
        if not lines:
            return
        centre = law.median(values[:, :count], axis=1)[:, None]
        with np.errstate(invalid="ignore"):
            size = np.fmax(np.abs(values), np.abs(centre))
            moved = np.where(size > 0, (values - centre) / np.where(size > 0, size, 1), values * 0)
        now = moved[:, :count]
        self.expected += len(lines)
        self.missing += np.isnan(now).sum(axis=0)
        wide = law.spread(now)
        low, high = np.nanmin(values[:, :count], axis=1), np.nanmax(values[:, :count], axis=1)
        columns = (centre[:, 0], wide * np.abs(centre[:, 0]), low, high)
        for line, gpus, *of in zip(lines, reporting, *columns, strict=True):
            self.quantities.append(Quantity(line, int(gpus), *map(float, of)))
        where = site(lines[0])
        if len(lines) < SMALLEST:
            for line, shift, own in zip(lines, moved, wide, strict=True):
                self._line(Family(line, where, 1), np.asarray(shift, np.float64), float(own))
            return
        shift = law.median(moved, axis=0)
        shift[2 * (~np.isnan(moved)).sum(axis=0) < len(lines)] = np.nan
        apart = np.abs(now - shift[:count])
        own = np.maximum(law.spread(apart), LEAST)
        with np.errstate(invalid="ignore"):
            self._alike.append((np.sign(now) == np.sign(shift[:count])).mean(axis=0))
        self._far.append(law.quantile((apart / own[:, None]).T, FAR))
        self._near.append(law.quantile(apart.T, FAR))
        self._line(Family(lines[0], where, len(lines)), shift, float(np.median(own)))

    def _line(self, family: Family, shift: Vector, own: float) -> None:
        self.families.append(family)
        self.shifts.append(shift)
        self._kinds.append(math.hypot(own, LEAST))
        if family.rows == 1:
            self._alike.append(np.ones(self._count))
            self._far.append(np.full(self._count, np.nan))
            self._near.append(np.full(self._count, np.nan))

    def questions(self) -> Iterator[Question]:
        """Every question of every site."""
        shifts = np.array(self.shifts).reshape(-1, len(self.runs))
        now, kinds = shifts[:, : self._count], np.array(self._kinds)
        alike = np.array(self._alike).reshape(now.shape)
        timed = np.array([of.line.provenance == "timed" for of in self.families], bool)
        sizes = np.array([of.rows for of in self.families], int)
        drifts = self._drifts(shifts)
        for where in SITES:
            here = np.array([of.site == where for of in self.families], bool)
            if (rows := here & timed).any():
                numbers = law.units(now[rows], kinds[rows])
                own = alike[rows]
                yield self._question("family", where, rows, now[rows], numbers, alike=own)
                yield self._site(where, rows, now, numbers)
                if drifts is not None:
                    numbers = law.units(drifts[rows], kinds[rows])
                    yield self._question("drift", where, rows, drifts[rows], numbers)
            if (rows := here & timed & (sizes >= PARTS)).any():
                far = np.log(np.maximum(np.array(self._far)[rows], LEAST))
                numbers = np.fmax(law.units(far, 1 / np.sqrt(sizes[rows])), 0)
                yield self._question("part", where, rows, np.array(self._near)[rows], numbers)
            if (rows := here & ~timed).any():
                faulty = law.FAULTY if where == CONDITIONS else RARE
                numbers = law.units(now[rows], kinds[rows], faulty=faulty)
                yield self._question("counts", where, rows, now[rows], numbers)

    def _question(
        self, kind: Kind, where: str, rows: npt.NDArray[np.bool_], changes: Matrix,
        numbers: Matrix, *, alike: Matrix | None = None,
    ) -> Question:  # fmt: skip
        places = np.flatnonzero(rows).tolist()
        of = [self.families[at] for at in places]
        lines, sizes = [one.line for one in of], [one.rows for one in of]
        alone = [[at] for at in places]
        return Question(kind, where, lines, alone, sizes, changes, numbers, alike)

    def _site(
        self, where: str, rows: npt.NDArray[np.bool_], now: Matrix, numbers: Matrix
    ) -> Question:
        """The middle of all times and that of all rates of a site, where there are several."""
        places = np.flatnonzero(rows)
        way = [
            better(self.families[at].line) if self.families[at].rows > 1 else "" for at in places
        ]
        lines, of, changes, middles = [], [], [], []
        for direction, unit in (("lower", "s"), ("higher", "1/s")):
            here = np.array([one == direction for one in way], bool)
            if here.sum() >= SEVERAL:
                what = "times" if unit == "s" else "rates"
                lines.append(Line("site", where, "", "", what, "", unit, "timed"))
                of.append(places[here].tolist())
                changes.append(law.median(now[rows][here], axis=0))
                middles.append(law.median(numbers[here], axis=0))
        shape = (len(lines), self._count)
        middle = law.units(np.array(middles).reshape(shape), np.ones(len(lines)))
        sizes = [len(one) for one in of]
        return Question("site", where, lines, of, sizes, np.array(changes).reshape(shape), middle)

    def _drifts(self, shifts: Matrix) -> Matrix | None:
        """How far each GPU moved since the middle of its earlier runs; None if none has any."""
        found, start = np.full((len(shifts), self._count), np.nan), self._count
        for place, gpu in enumerate(self.gpus):
            if gpu.earlier:
                then = shifts[:, start : start + len(gpu.earlier)]
                found[:, place] = shifts[:, place] - law.median(then, axis=1)
                start += len(gpu.earlier)
        return found if start > self._count else None


def _findings(one: Question, share: float, least: float) -> Iterator[Finding]:
    needed = one.how.needed(share)
    out = np.abs(np.nan_to_num(one.numbers)) >= needed
    for line, gpu in zip(*np.nonzero(out & (np.abs(one.changes) >= least)), strict=True):
        number = abs(float(one.numbers[line, gpu]))
        yield Finding(
            gpu=int(gpu),
            kind=one.kind,
            site=one.site,
            line=one.lines[line],
            rows=one.rows[line],
            change=_relative(float(one.changes[line, gpu])),
            alike=float(one.alike[line, gpu]) if one.alike is not None else math.nan,
            chance=one.how.chance(number),
            score=number / needed,
        )


def _relative(distance: float) -> float:
    """A distance as a share of the larger of value and centre, as one of the centre."""
    return distance / (1 - distance) if 0 < distance < 1 else distance


# --- what the driver reports ----------------------------------------------------------------------

_CONDITIONS = {
    "temperature_celsius": "°C",
    "power_watts": "W",
    "sm_clock_measured_hz": "Hz",
    "memory_clock_hz": "Hz",
}
_LIMITS = (
    "ecc", "mig", "power_limit_watts", "memory_bytes", "sm_count", "core_clock_peak_hz",
    "memory_clock_peak_hz", "memory_bus_bits", "l2_bytes",
)  # fmt: skip
"""Facts in which the GPUs of one model are alike, unless one is set or built otherwise."""
MOST = 0.9
"""The share of GPUs that must agree on a fact for another value to be odd."""


def _number(fact: Any) -> float:
    return float(fact) if isinstance(fact, int | float) and not isinstance(fact, bool) else math.nan


def _events(gpus: Sequence[Gpu]) -> Iterator[Event]:
    runs = ((gpu.entry, *gpu.earlier) for gpu in gpus)
    maps = [[found for one in of if (found := chips.map_of(one))] for of in runs]
    yield from (Event(*one) for one in chips.exchanged(maps))
    usual = {}
    for name in _LIMITS:
        values = Counter(repr(gpu.entry.facts.get(name)) for gpu in gpus)
        value, count = values.most_common(1)[0]
        if count >= MOST * len(gpus):
            usual[name] = value
    throttled = [bool(gpu.entry.after.get("throttled")) for gpu in gpus]
    hot = 0 < sum(throttled) <= law.FAULTY * len(gpus) + 1
    for place, (gpu, slow) in enumerate(zip(gpus, throttled, strict=True)):
        before, after = gpu.entry.before, gpu.entry.after
        for name, what in (("uncorrected", "not corrected"), ("corrected", "corrected")):
            then, now = (_number(facts.get(f"ecc_{name}_errors")) for facts in (before, after))
            if now > (then if name == "corrected" else 0):
                rose = f"{now:.0f} errors of memory {what}"
                yield Event(place, f"{rose}, {then:.0f} before the run" if then > 0 else rose)
        if slow and hot:
            yield Event(place, f"throttled (reasons {after.get('throttle_reasons')})")
        for name, value in usual.items():
            if (own := repr(gpu.entry.facts.get(name))) != value:
                yield Event(place, f"{name.replace('_', ' ')} is {own}, of most GPUs {value}")
