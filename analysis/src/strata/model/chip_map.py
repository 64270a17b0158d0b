"""Which SMs and lines of L2 are near each other: groups, address bits and identity of a chip.

`chip_map` measures the latency of each SM to each line. Here SMs and lines are grouped by average
linkage of these latencies, and XOR functions of address bits are fitted to the groups of lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, pdist, squareform

from strata.run import Row, Run

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

LINE, PAGE = 128, 2 << 20
"""Bytes."""
CLAIMED = 0.99
"""The least share of unseen lines that an XOR function predicts right, and of items that repeat."""
APART = 0.85
"""The least share of variance that two groups explain; uniformly spread numbers give 0.75."""
RESAMPLED = 20
SAMPLE = 1024
"""Lines whose linkage is computed; the others join the nearest group."""
MOST_LINE_GROUPS = 128


@dataclass(frozen=True)
class Cells:
    """The latencies of one operation of a run: a row per SM, a column per line."""

    run: str
    operation: str
    cycles: Floats
    offsets: Labels
    rows: dict[str, Row]

    def known(self, quantity: str) -> Labels | None:
        """`tpc` or `gpc`: the lowest SM that clusters link an SM with."""
        row = self.rows.get(quantity)
        return np.array(row.taken[: len(self.cycles)], dtype=np.int64) if row else None


def cells(run: Run, operation: str) -> Cells | None:
    """The cells of the first visit, if they are valid."""
    rows = {row.quantity: row for row in run.valid("chip_map", operation=operation)}
    if not {"line_cycles", "line_offset"} <= rows.keys():
        return None
    offsets = np.array(rows["line_offset"].taken, dtype=np.int64)
    taken = np.array(rows["line_cycles"].taken)
    sms = run.context.device.sm_count or 0
    if not sms or len(taken) < sms * len(offsets):
        return None
    return Cells(
        run.context.run, operation, taken[: sms * len(offsets)].reshape(sms, -1), offsets, rows
    )


# --- Groups ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """A group number for each item. `gap`: distance between groups over that within them.

    `repeated`: mean share of items that groups of random halves of the evidence place alike;
    `same_count`: the share of these halves that give as many groups.
    """

    labels: Labels
    gap: float
    repeated: float = 1.0
    same_count: float = 1.0

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.labels.max()) + 1

    @property
    def is_clear(self) -> bool:
        """Whether other evidence gives as many groups, and places nearly all items alike."""
        return self.same_count >= CLAIMED and self.repeated >= CLAIMED

    @property
    def sizes(self) -> list[int]:
        """Items of each group, ascending."""
        return sorted(np.bincount(self.labels).tolist())


def alike(one: Labels, other: Labels) -> float:
    """The share of items that two groupings place alike, groups matched for the largest share."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(one))


def grouped(items: Floats, fewest: int, most: int) -> Groups:
    """Items (rows) by average linkage; of the counts allowed, the one with the widest gap."""
    tree = linkage(pdist(items) / np.sqrt(items.shape[1]), "average")
    heights = np.maximum(tree[:, 2], 1e-9)
    counts = np.arange(max(2, fewest), min(most, len(items) - 1) + 1)
    gaps = heights[len(items) - counts] / heights[len(items) - counts - 1]
    best = int(gaps.argmax())
    labels = fcluster(tree, int(counts[best]), "maxclust").astype(np.int64)
    return Groups(by_first(labels), float(gaps[best]))


def by_first(labels: Labels) -> Labels:
    """Groups numbered from 0 in the order of their first items."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    ranks: Labels = np.argsort(np.argsort(first)).astype(np.int64)
    return ranks[places]


def _centred(cycles: Floats) -> Floats:
    """Without what a whole row has in common: distances of items, not their means."""
    centred: Floats = cycles - cycles.mean(axis=1, keepdims=True)
    return centred


def sm_groups(of: Cells, fewest: int, most: int) -> Groups:
    """SMs whose latencies to the lines have one pattern; resamples are of lines."""
    rows = _centred(of.cycles)
    whole = grouped(rows, fewest, most)
    generator = np.random.default_rng(1)
    again = [
        grouped(rows[:, generator.permutation(rows.shape[1])[: rows.shape[1] // 2]], fewest, most)
        for _ in range(RESAMPLED)
    ]
    return _confirmed(whole, again)


def nested(inner: Labels, outer: Labels) -> float:
    """The share of items in the outer group that most items of their inner group are in."""
    table = np.zeros((inner.max() + 1, outer.max() + 1))
    np.add.at(table, (inner, outer), 1)
    return float(table.max(axis=1).sum() / len(inner))


def nearest_share(of: Cells, labels: Labels) -> float:
    """Of the SMs that are not alone in their group: the share whose most similar SM is in it.

    Means of SMs count: the SMs of a TPC have one, and TPCs of a GPC differ by some cycles.
    """
    apart = squareform(pdist(of.cycles))
    np.fill_diagonal(apart, np.inf)
    several = np.bincount(labels)[labels] > 1
    return float((labels[apart.argmin(axis=1)] == labels)[several].mean())


def line_groups(of: Cells) -> Groups:
    """Lines with one pattern of latencies over the SMs: finer groups than `sides`.

    Resamples are other lines.
    """
    lines = _centred(of.cycles.T)
    order = np.random.default_rng(1).permutation(len(lines))

    def of_sample(start: int) -> Groups:
        sample = lines[order[start : start + SAMPLE]]
        found = grouped(sample, 3, MOST_LINE_GROUPS)
        middles = np.array(
            [sample[found.labels == group].mean(axis=0) for group in range(found.count)]
        )
        return Groups(by_first(cdist(lines, middles).argmin(axis=1)), found.gap)

    first, *others = [of_sample(start) for start in range(0, min(len(lines), 4 * SAMPLE), SAMPLE)]
    return _confirmed(first, others)


def _confirmed(whole: Groups, again: Sequence[Groups]) -> Groups:
    repeated = float(np.mean([alike(whole.labels, one.labels) for one in again])) if again else 1.0
    same = float(np.mean([one.count == whole.count for one in again])) if again else 1.0
    return Groups(whole.labels, whole.gap, repeated, same)


@dataclass(frozen=True)
class Sides:
    """The side of each SM and line, by the strongest pattern without the means of both."""

    sms: Labels
    lines: Labels
    crossing: float
    """Cycles by which the far side is slower, median over SMs."""
    apart: float
    """The smaller share of variance that two groups explain, of SMs' and of lines' weights."""

    @property
    def are_two(self) -> bool:
        """Whether SMs and lines both fall into two groups."""
        return self.apart >= APART

    @property
    def far_share(self) -> float:
        """Of all pairs of an SM and a line."""
        return float((self.sms[:, None] != self.lines[None, :]).mean())


def sides(of: Cells) -> Sides:
    """The two sides of L2, as l2_partition finds them (harness: micro/latency/l2_split.hpp)."""
    pattern = _centred(_centred(of.cycles).T).T
    left = np.linalg.eigh(pattern @ pattern.T)[1][:, -1]  # of few SMs: faster than an SVD
    right = left @ pattern
    sms, lines = (left > 0).astype(np.int64), (right <= 0).astype(np.int64)
    far = sms[:, None] != lines[None, :]
    beyond, beside = (
        np.nanmedian(np.where(what, of.cycles, np.nan), axis=1) for what in (far, ~far)
    )
    return Sides(sms, lines, float(np.median(beyond - beside)), min(map(_apart, (left, right))))


def _apart(weights: Floats) -> float:
    """The share of the variance that the best two groups explain."""
    values = np.sort(weights)
    count = np.arange(1, len(values))
    below = np.cumsum(values)[:-1]
    distance = below / count - (values.sum() - below) / (len(values) - count)
    share = count * (len(values) - count) / len(values) * distance**2
    return float(share.max() / np.sum((values - values.mean()) ** 2))


# --- Address bits ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parity:
    """An XOR of address bits that is the same for all lines of a group."""

    mask: int
    """Bits of the byte address."""
    of_group: Labels
    unseen: float
    """The share of unseen lines of the page for which it is right."""
    other_pages: float
    """The same in other pages, with a constant for each page from half of its lines."""

    @property
    def bits(self) -> list[int]:
        """Numbers of the bits of the byte address."""
        return [bit for bit in range(self.mask.bit_length()) if self.mask >> bit & 1]


def parity(values: Labels, mask: int) -> Labels:
    """The XOR of the bits of `values` that are in `mask`."""
    odd: Labels = (np.bitwise_count(values & mask) & 1).astype(np.int64)
    return odd


def _walsh(counts: Floats) -> Floats:
    """Walsh-Hadamard transform: for each mask, the sum with the sign of the parity of the place."""
    step = 1
    while step < counts.shape[-1]:
        pairs = counts.reshape(*counts.shape[:-1], -1, 2, step)
        low, high = pairs[..., 0, :], pairs[..., 1, :]
        counts = np.stack([low + high, low - high], axis=-2).reshape(counts.shape)
        step *= 2
    return counts


def parities(labels: Labels, offsets: Labels) -> list[Parity]:
    """Independent XOR functions of address bits that decide, or narrow down, the group of a line.

    Fitted on half of the lines of the first page, kept where at least `CLAIMED` of the other half
    agrees.
    """
    generator = np.random.default_rng(1)
    first = np.flatnonzero(offsets < PAGE)
    train, test = np.array_split(generator.permutation(first), 2)
    places = np.zeros((labels.max() + 1, PAGE // LINE))
    places[labels[train], offsets[train] // LINE] = 1
    sums = _walsh(places)
    right = (np.abs(sums).sum(axis=0) + len(train)) / (2 * len(train))
    found: list[Parity] = []
    reduced: list[int] = []
    # Few bits first: sums of two functions are functions, too.
    masks = np.flatnonzero(right >= CLAIMED)
    for mask in sorted(masks.tolist(), key=lambda one: (one.bit_count(), one)):
        rest = _reduced(mask, reduced)
        of_group = (sums[:, mask] < 0).astype(np.int64)
        if not rest or len(set(of_group.tolist())) < 2:
            continue
        bits = mask * LINE
        unseen = float((parity(offsets[test], bits) == of_group[labels[test]]).mean())
        if unseen >= CLAIMED:
            reduced.append(rest)
            other = _in_other_pages(bits, of_group, labels, offsets, generator)
            found.append(Parity(bits, of_group, unseen, other))
    return found


def _reduced(mask: int, basis: Sequence[int]) -> int:
    """What is left of a mask that the others of a basis do not add up to."""
    for one in sorted(basis, reverse=True):
        mask = min(mask, mask ^ one)
    return mask


def _flips(mask: int, of_group: Labels, labels: Labels, offsets: Labels, lines: Labels) -> Labels:
    return parity(offsets[lines], mask) ^ of_group[labels[lines]]


def _in_other_pages(
    mask: int, of_group: Labels, labels: Labels, offsets: Labels, generator: np.random.Generator
) -> float:
    right, seen = 0, 0
    for page in np.unique(offsets // PAGE)[1:]:
        known, unseen = np.array_split(
            generator.permutation(np.flatnonzero(offsets // PAGE == page)), 2
        )
        constant = _flips(mask, of_group, labels, offsets, known).mean() > 1 / 2
        right += int((_flips(mask, of_group, labels, offsets, unseen) == constant).sum())
        seen += len(unseen)
    return right / seen if seen else 0.0


def page_mask(one: Parity, labels: Labels, offsets: Labels) -> tuple[int, float]:
    """The XOR of bits of the page in the buffer that decides the constants of pages.

    Its share of pages predicted right, of those (a quarter) that it was not fitted to.
    """
    pages = np.unique(offsets // PAGE)[1:]
    constants = np.array(
        [
            _flips(
                one.mask, one.of_group, labels, offsets, np.flatnonzero(offsets // PAGE == page)
            ).mean()
            > 1 / 2
            for page in pages
        ]
    )
    train, test = np.split(np.random.default_rng(1).permutation(len(pages)), [len(pages) * 3 // 4])
    signs = np.zeros(1 << int(pages.max()).bit_length())
    signs[pages[train]] = 1 - 2 * constants[train]
    mask = int(np.abs(sums := _walsh(signs)).argmax())
    predicted = parity(pages[test], mask) ^ int(sums[mask] < 0)
    return mask * PAGE, float((predicted == constants[test]).mean())


def determined(found: Sequence[Parity], labels: Labels, offsets: Labels) -> float:
    """The share of unseen lines of the first page whose group these functions predict right."""
    first = np.random.default_rng(2).permutation(np.flatnonzero(offsets < PAGE))
    train, test = np.array_split(first, 2)
    code = sum((parity(offsets, one.mask) << place for place, one in enumerate(found)), np.int64(0))
    table = np.zeros((1 << len(found), labels.max() + 1))
    np.add.at(table, (np.broadcast_to(code, labels.shape)[train], labels[train]), 1)
    predicted = table.argmax(axis=1)[np.broadcast_to(code, labels.shape)[test]]
    return float((predicted == labels[test]).mean())


# --- Identity -------------------------------------------------------------------------------------


def distance(one: Cells, other: Cells) -> float:
    """How much two maps differ, in cycles: rms difference of the distances between all SMs.

    Independent of the physical pages of either run, which change which slice a line is in.
    """
    if len(one.cycles) != len(other.cycles):
        return float("inf")
    between = [pdist(_centred(of.cycles)) / np.sqrt(of.cycles.shape[1]) for of in (one, other)]
    return float(np.sqrt(np.mean((between[0] - between[1]) ** 2)))


def nearest(maps: Sequence[Cells]) -> list[tuple[int, float, Any]]:
    """For each map the nearest other one, its distance, and the distances to all."""
    every = np.array([[distance(one, other) for other in maps] for one in maps])
    np.fill_diagonal(every, np.inf)
    return [(int(row.argmin()), float(row.min()), row) for row in every]
