"""Short answers to single questions: the cost of access patterns, instructions, atomics."""

from collections.abc import Iterator

from strata.model import atlas
from strata.model.cases import by_case
from strata.model.l2 import l2, used
from strata.model.names import level_name
from strata.model.text import Cited, Sentence, cited, joined
from strata.model.units import size
from strata.roofline.verdicts import entries, points_of
from strata.run import Row, Run

_INSTRUCTIONS = {
    "ffma": "fp32 multiply-add",
    "dfma": "fp64 multiply-add",
    "iadd3": "int32 addition",
    "rsqrt_approx": "reciprocal square root",
}
_CACHES = ("l1", "l2")


def found(run: Run, benchmark: str, quantity: str, **axes: str) -> Row | None:
    """The first valid row of a quantity with these axis values, preferably timed."""
    for case in by_case(run.of(benchmark)):
        if all(case.text(axis, value) == value for axis, value in axes.items()):
            row = case.timed(quantity) or case.of(quantity, "counted") or case.row(quantity)
            if row and row.valid:
                return row
    return None


def size_of(row: Row) -> Cited:
    """A row of bytes as a size."""
    return Cited(size(round(row.value)), row)


def sizes(run: Run) -> dict[str, tuple[Row | None, Row | None]]:
    """The largest found and reported size of each known cache."""
    of = {level: atlas.geometry(run, f"{level}_size") for level in _CACHES}
    told = {level: (rows.get("size"), rows.get("reported")) for level, rows in of.items()}
    return {level: both for level, both in told.items() if any(both)}


def l2_sizes(run: Run) -> list[Sentence]:
    """What one SM and all SMs use of L2, each under its name; empty on a CPU."""
    seen, found, parts = atlas.geometry(run, "l2_size").get("size"), l2(run), list[Sentence]()
    if run.context.backend != "cuda":
        return []
    if one := seen or (found.one.last if found and found.one else None):
        parts.append((Cited(used(one), one), " of L2 used by one SM"))
    if found and found.all:
        last, after = found.all
        most = Cited(size(after.count("footprint") or 0), after)
        parts.append((Cited(used(last), last), " used by all SMs", " (", most, " no longer fit)"))
    return parts


def cache_sizes(run: Run) -> Iterator[Sentence]:
    """The size of each cache as found by loads, beside the reported one."""
    parts: list[Sentence] = []
    for level, (seen, reported) in sizes(run).items():
        whole = level == "l2" and run.context.backend == "cuda"
        if seen and not whole:
            parts.append((f"{level_name(level)} ", size_of(seen), " by latency"))
        if reported:
            by = "the driver" if whole else ""
            by = f" reported by {by}" if by else " reported"
            parts.append((f"{level_name(level)} ", size_of(reported), by))
    parts += l2_sizes(run)
    if parts:
        yield ("Cache sizes: ", *joined(parts), ".")


def coalescing(run: Run) -> Iterator[Sentence]:
    """The requests of a warp-load of words, adjacent and far apart."""
    parts: list[Sentence] = []
    for stride in ("1", "32"):
        axes = {"width": "4", "misalignment": "0", "permutation": "identity", "stride": stride}
        sectors = found(run, "coalescing", "sectors_per_request", **axes)
        cycles = found(run, "coalescing", "warp_load_cycles", **axes)
        if sectors and cycles:
            moved = Cited(f"{sectors.value:g} sectors", sectors)
            parts.append((moved, " in ", cited(cycles), " at a stride of ", Cited(stride, sectors)))
    if parts:
        yield ("A warp's load of words moves ", *joined(parts), ".")


def bank_conflicts(run: Run) -> Iterator[Sentence]:
    """A load from shared memory without conflicts, and with the worst ones."""
    parts: list[Sentence] = []
    for stride in ("1", "32"):
        axes = {"operation": "load", "pattern": "stride", "width": "4", "stride": stride}
        alone = found(run, "bank_conflicts", "shared_load_latency", **axes)
        among = found(run, "bank_conflicts", "warp_access_cycles", **axes)
        if alone and among:
            at = (" among others at a stride of ", Cited(stride, alone))
            parts.append((cited(alone), " alone and ", cited(among), *at))
    if parts:
        yield ("A warp's load of words from shared memory takes ", *joined(parts), ".")


def instructions(run: Run) -> Iterator[Sentence]:
    """The latency of dependent instructions."""
    rows = {
        name: found(run, "instruction_cost", "operation_cycles", operation=operation, ilp="1",
                    warps_per_sm="1")
        for operation, name in _INSTRUCTIONS.items()
    }  # fmt: skip
    parts = [(f"{name} ", cited(row)) for name, row in rows.items() if row]
    if parts:
        yield ("Latency of a dependent instruction: ", *joined(parts), ".")


def atomics(run: Run) -> Iterator[Sentence]:
    """An addition that returns the old value, uncontended and with full contention."""
    parts: list[Sentence] = []
    for space in dict.fromkeys(row.text("space") for row in run.of("atomics")):
        axes = {"operation": "add_int", "returns": "yes", "space": space}
        own = found(run, "atomics", "atomic_latency", target="disjoint", **axes)
        same = found(run, "atomics", "atomic_latency", target="same", **axes)
        where = f"in {space} memory" if run.context.backend == "cuda" else "on a CPU"
        if own and same:
            parts.append((f"{where} ", cited(own), " on a separate word and ", cited(same),
                          " where all use one word"))  # fmt: skip
    if parts:
        yield ("Latency of an atomic addition: ", *joined(parts), ".")


def rooflines(run: Run) -> Iterator[Sentence]:
    """The kernel closest to its roof."""
    counted = [one for one in points_of(entries([run])) if one.basis == "counted" and one.share]
    if top := max(counted, key=lambda one: one.share or 0, default=None):
        kernels = len({one.name for one in counted})
        share = Cited(f"{100 * (top.share or 0):.0f} %", top.row)
        start = f"Of {kernels} kernels whose operations were counted, {top.name} is nearest to its"
        yield (f"{start} roof: ", share, " of it.")
