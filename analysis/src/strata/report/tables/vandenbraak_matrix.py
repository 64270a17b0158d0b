"""What do coalescing and grouping bring a matrix addition, then and now?

The matrix rows of Table II of van den Braak, Mesman and Corporaal (2010), and the third ratio of
their section VI-C.
"""

from strata import reference
from strata.model.text import NONE, Cited, Sentence, Table, cited
from strata.model.units import factor
from strata.report.tables import ReportTable
from strata.run import Row, Run

KEY = "vandenbraak2010access"
WIDEST = 16

# The paper's words, and the kernels here that they are about, slow and mended: bytes of an element,
# order, bytes of a group.
ROWS = (
    (("Matrix addition 32 bit", "2.06 ms", "0.067 ms", "31×"),
     (4, "uncoalesced", 4), (4, "coalesced", 4)),
    (("Matrix addition 8-bit", "1.02 ms", "0.024 ms", "43×"),
     (1, "uncoalesced", 1), (1, "coalesced", 4)),
    (("Matrix addition 8-bit, coalesced before (section VI-C)", "0.634 ms", "0.024 ms", "26×"),
     (1, "coalesced", 1), (1, "coalesced", 4)),
)  # fmt: skip


def _time(row: Row | None) -> Sentence:
    if row is None:
        return NONE
    return (cited(row),) if row.valid else (cited(row), " (invalid)")


def _over(slow: Row | None, fast: Row | None) -> Sentence:
    """The ratio of two times; nothing of an invalid one."""
    if slow is None or fast is None or not (slow.valid and fast.valid) or fast.value <= 0:
        return NONE
    return (Cited(factor(slow.value / fast.value), fast),)


def make(run: Run) -> Table | None:
    """The paper's rows beside this GPU's kernels; None where none of them was timed on a GPU."""
    # Times of a launch by events, of groups taken in one access.
    kernels = {
        (row.count("element"), row.text("order"), row.count("group")): row
        for row in run.of("short_words")
        if (row.backend, row.quantity, row.method) == ("cuda", "kernel_time", "event_slope")
        and row.text("access") == "together"
    }
    lines = []
    for words, before, after in ROWS:
        slow, fast, widest = (kernels.get(key) for key in (before, after, (*after[:2], WIDEST)))
        times = (_time(slow), _time(fast), _over(slow, fast), _over(slow, widest))
        lines.append((*((word,) for word in words), *times))
    if all(line[4] == line[5] == NONE for line in lines):
        return None
    return Table(
        name="vandenbraak_matrix",
        title=(
            "Table II of van den Braak, Mesman and Corporaal (2010), its matrix rows: a GeForce "
            f"8800 GT {reference.cite(KEY)} and this GPU, with matrices of 128 MiB"
        ),
        header=(
            "kernel", "8800 GT, original", "with the tool", "speed-up", "here, original",
            "mended as the tool does", "speed-up here", "with groups of 16 B",
        ),
        rows=tuple(lines),
        numeric=frozenset(range(1, 8)),
    )  # fmt: skip


TABLE = ReportTable(order=12, make=make)
