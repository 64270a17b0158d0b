"""Groups, address bits and identity of made-up chips whose structure is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from builders import GPU_RUN, case, context, measurement, write_run
from strata import cli
from strata.fleet.chips import exchanged, map_of
from strata.fleet.dataset import Entry
from strata.model import chip_map
from strata.model.chip_map import PAGE, Cells, Labels

SMS, GPCS, SLICES = 132, 8, 12
HALF_BITS = (9, 12, 13, 17, 20)
SLICE_BITS = ((8, 11, 15), (10, 14, 19))
PAGE_BITS = (22, 24)


def mask_of(bits: Any) -> int:
    return sum(1 << bit for bit in bits)


class Chip:
    """Positions of SMs and slices; a line's home is an XOR of its address, its slice partly so."""

    def __init__(self, seed: int, noise: float = 0.6) -> None:
        self.generator = generator = np.random.default_rng(seed)
        self.noise = noise
        self.gpc = np.sort(np.arange(SMS) // 2 % (GPCS + 1) % GPCS)  # the first has more SMs
        self.side = (self.gpc >= GPCS // 2).astype(np.int64)
        apart = generator.uniform(-20, 20, (GPCS, SLICES))[self.gpc]
        beside = generator.uniform(-3, 3, (SMS // 2, SLICES)).repeat(2, axis=0)
        self.distance = apart + beside + generator.uniform(-5, 5, SMS // 2).repeat(2)[:, None]

    def map(self, operation: str = "exchange", lines: int = 4096, seed: int = 0) -> Cells:
        """A map as a run would have it, where `seed` chooses the noise."""
        places, generator = np.random.default_rng(0), np.random.default_rng(seed)
        first = places.permutation(PAGE // 128)[: lines // 2] * 128
        count = lines // 2 // 64
        pages = np.repeat(8 * np.arange(count) + 1 + places.integers(0, 7, count), 64)
        others = pages * PAGE + places.integers(0, PAGE // 128, len(pages)) * 128
        offsets = np.concatenate([first, others]).astype(np.int64)
        self.home = chip_map.parity(offsets, mask_of(HALF_BITS + PAGE_BITS))
        bits = [chip_map.parity(offsets, mask_of(one)) for one in SLICE_BITS]
        third = (offsets // 256 * 2654435761 >> 13) % 3  # which no XOR decides
        self.slice = 4 * third + 2 * bits[0] + bits[1]
        cycles = 300 + self.distance[:, self.slice]
        if operation == "exchange":
            cycles = cycles + 190 * (self.side[:, None] != self.home)
        cycles += self.noise * generator.normal(size=cycles.shape)
        return Cells("made up", operation, cycles, offsets, {})


@pytest.fixture(scope="module")
def chip() -> Chip:
    return Chip(1)


@pytest.fixture(scope="module")
def exchanges(chip: Chip) -> Cells:
    return chip.map()


def test_sides_are_those_of_homes(chip: Chip, exchanges: Cells) -> None:
    found = chip_map.sides(exchanges)
    assert found.are_two
    assert chip_map.alike(found.sms, chip.side) == 1
    assert chip_map.alike(found.lines, chip.home) == 1
    assert found.crossing == pytest.approx(190, abs=5)
    assert found.far_share == pytest.approx((chip.side[:, None] != chip.home).mean())


def test_a_chip_without_sides_has_none() -> None:
    assert not chip_map.sides(Chip(2).map("load")).are_two


def test_sms_fall_into_gpcs(chip: Chip) -> None:
    found = chip_map.sm_groups(chip.map("load"), 3, 20)
    assert found.count == GPCS
    assert chip_map.alike(found.labels, chip.gpc) == 1
    assert found.is_clear


def test_lines_fall_into_slices(chip: Chip) -> None:
    of = chip.map("load")
    found = chip_map.line_groups(of)
    assert found.count == SLICES
    assert chip_map.alike(found.labels, chip.slice) > 0.999
    assert found.is_clear


def test_noise_has_no_groups_that_repeat() -> None:
    of = Chip(1, noise=200).map("load", lines=4096)
    found = chip_map.line_groups(of)
    assert not found.is_clear


def test_the_xor_of_the_home_is_found_and_proved(exchanges: Cells) -> None:
    labels = chip_map.sides(exchanges).lines
    (only,) = chip_map.parities(labels, exchanges.offsets)
    assert only.bits == list(HALF_BITS)
    assert only.unseen == only.other_pages == 1
    assert chip_map.page_mask(only, labels, exchanges.offsets) == (mask_of(PAGE_BITS), 1)
    assert chip_map.determined([only], labels, exchanges.offsets) == 1


def test_xors_narrow_down_a_slice(chip: Chip) -> None:
    of = chip.map("load")
    found = chip_map.parities(chip.slice, of.offsets)
    assert sorted(one.bits for one in found) == sorted(map(list, SLICE_BITS))
    assert chip_map.determined(found, chip.slice, of.offsets) == pytest.approx(1 / 3, abs=0.05)


def test_nothing_is_claimed_of_random_groups(exchanges: Cells) -> None:
    labels: Labels = np.random.default_rng(5).integers(0, 2, len(exchanges.offsets))
    assert not chip_map.parities(labels, exchanges.offsets)


def test_a_run_is_nearest_to_another_of_its_chip() -> None:
    maps = [Chip(chip).map("load", seed=run) for chip in (1, 2, 3) for run in (1, 2)]
    nearest = chip_map.nearest(maps)
    assert [other for other, *_ in nearest] == [1, 0, 3, 2, 5, 4]
    for place, (_, own, every) in enumerate(nearest):
        strangers = np.delete(every, [place, place ^ 1])
        assert 5 * own < strangers.min()


def test_groups_are_compared_whatever_their_numbers() -> None:
    one = np.array([0, 0, 1, 1, 2, 2])
    assert chip_map.alike(one, np.array([2, 2, 0, 0, 1, 1])) == 1
    assert chip_map.alike(one, np.array([0, 0, 0, 0, 1, 1])) == pytest.approx(4 / 6)


@pytest.fixture(scope="module")
def folders(chip: Chip, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs of the chip, and one of another."""
    found = []
    for name, (of, seed) in {"a": (chip, 1), "b": (chip, 2), "c": (Chip(7), 3)}.items():
        cases = []
        for operation in ("load", "exchange"):
            one = of.map(operation, seed=seed)
            quantities = {
                "line_cycles": ("cycle", "timed", one.cycles.ravel().round(2)),
                "line_offset": ("B", "reported", one.offsets),
                "gpc": ("1", "reported", np.unique(of.gpc, return_index=True)[1][of.gpc]),
                "tpc": ("1", "reported", np.arange(SMS) // 2 * 2),
            }
            rows = [
                measurement(quantity, samples.tolist(), unit=unit, provenance=provenance)
                for quantity, (unit, provenance, samples) in quantities.items()
            ]
            cases.append(case(rows, benchmark="chip_map", params={"operation": operation}))
        for order, rate in {"default": 4e12, "near": 5e12, "far": 3e12}.items():
            row = measurement("bandwidth", [rate], unit="B/s")
            cases.append(
                case([row], benchmark="l2_placement", params={"order": order, "part": 65536})
            )
        header = context(device__sm_count=SMS)
        found.append(write_run(tmp_path_factory.mktemp(name), cases, header=header))
    return found


def test_the_command_describes_and_compares_chips(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["map", *map(str, folders)])
    text = capsys.readouterr().out
    assert left.value.code == 0
    assert text.count("sides: two, of ") == 3
    assert "crossing costs 190" in text
    assert "bits 9 ^ 12 ^ 13 ^ 17 ^ 20: right for 100.00% of unseen lines of a page" in text
    assert f"clusters link SMs in {GPCS} groups, of which 100.0% lie within one of" in text
    assert "the most similar SM is the other one of the TPC for 100.0%" in text
    assert f"load: lines in {SLICES} groups" in text
    assert f"exchange: lines in {2 * SLICES} groups" in text
    assert text.count("100.0%; 100.0%") == len(folders), "one hash of addresses for all chips"
    assert "reads of 64 KiB per SM: default 4.00\N{NO-BREAK SPACE}TB/s (+0.0%)" in text
    assert "near 5.00\N{NO-BREAK SPACE}TB/s (+25.0%)" in text


def test_the_command_refuses_a_run_without_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["map", str(GPU_RUN)])
    assert left.value.code == 2
    assert "found no valid cells of chip_map" in capsys.readouterr().err


def test_a_fleet_notices_an_exchanged_chip() -> None:
    maps = [[Chip(chip).map("load", seed=run) for run in (1, 2)] for chip in (1, 2, 3)]
    assert not list(exchanged(maps))
    assert not list(exchanged([*maps[:2], maps[2][:1], []]))
    ((gpu, why),) = exchanged([maps[0], [Chip(4).map("load"), *maps[1]], maps[2]])
    assert gpu == 1
    assert why.startswith("another chip than before")


def test_a_fleet_reads_the_maps_of_its_runs(folders: list[Path]) -> None:
    entry = Entry(
        "a", "uuid", "", "", "", "2026-01-02T03:04:05Z", "complete", "", f"{folders[0]}", {}, {},
        {}, {"chip_map": 8},
    )  # fmt: skip
    found = map_of(entry)
    assert found is not None
    assert found.cycles.shape == (SMS, 4096)
    assert map_of(replace(entry, sizes={})) is None
    assert map_of(replace(entry, folder="/nowhere")) is None


def test_groups_of_groups_are_nested() -> None:
    inner, outer = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1])
    assert chip_map.nested(inner, outer) == 1
    assert chip_map.nested(outer, inner) == pytest.approx(4 / 6)
