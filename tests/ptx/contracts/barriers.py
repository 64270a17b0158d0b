"""One barrier after the other between the clocks, and nothing that takes part in them.

The launch that proves the barriers has the same instruction, and hands words over around it.
"""

from contract import Contract, Kernel

UNROLL = 16
HALVES = (32, 64, 128, 256, 512)
# Kind -> its number, PTX of a meeting, SASS of a meeting. A warp that is together needs no
# instruction; the grid's barrier is the code of a library.
KINDS = {
    "syncwarp": (0, r"bar\.warp\.sync 0xFFFFFFFF;", {}),
    "block": (1, r"bar\.sync 0;", {r"BAR\.SYNC.*": UNROLL}),
    "mbarrier": (
        3,
        r"mbarrier\.try_wait\.parity",
        # Behind the end of the kernel, each test is repeated until the phase has ended.
        {r"SYNCS\.ARRIVE.*": UNROLL + 1, r"SYNCS\.PHASECHK.*": 2 * (UNROLL + 1)},
    ),
    "cluster": (
        4,
        r"barrier\.cluster\.wait\.acquire\.aligned",
        {r"UCGABAR_ARV": UNROLL, r"UCGABAR_WAIT": UNROLL},
    ),
    "grid": (5, r"ld\.acquire\.gpu", {r"LD\.E\.STRONG\.GPU": UNROLL + 2}),
}


def kernel(number: int, text: str, sass: dict[str, int], *, each: bool, half: int = 0) -> Kernel:
    """The kernel of a kind; `each`: the one that proves it."""
    halves = 2 if half else 1
    # Before the loop all of a cluster or of the grid meet, and behind it once more.
    beside = {4: 3, 5: 2}.get(number, 1)
    return Kernel(
        name=rf"meet_oftenIL.*KindE{number}ELb{int(each)}ELj{half}E",
        ptx={text: halves * ((1 if each else UNROLL) + beside)},
        sass={},
        sass_in_loops={} if each else {opcode: halves * count for opcode, count in sass.items()},
    )


CONTRACT = Contract(
    kernels=(
        *(kernel(*kind, each=each) for kind in KINDS.values() for each in (False, True)),
        *(
            kernel(2, rf"bar\.sync [12], {half};", {r"BAR\.SYNC.*": UNROLL}, each=each, half=half)
            for half in HALVES
            for each in (False, True)
        ),
    ),
)
