"""What do coalescing and grouping gain for a matrix addition, then and now?

The matrix rows of Table II of van den Braak, Mesman and Corporaal (2010), and the third ratio of
their section VI-C.
"""

from strata import reference
from strata.model.cases import ratio
from strata.model.text import NONE, Sentence, Table, cited, table, told
from strata.model.units import factor
from strata.run import Row, Run

ORDER = 315

KEY = "vandenbraak2010access"
WIDEST = 16
HEADS = (
    "kernel", "8800 GT, original", "with the tool", "speed-up", "here, original",
    "changed as the tool does", "speed-up here", "with groups of 16 B", "by strata access mend",
)  # fmt: skip

# The paper's words, and the corresponding kernels here, slow and improved: bytes of an element,
# order, bytes of a group.
ROWS = (
    (("Matrix addition 32 bit", "2.06 ms", "0.067 ms", "31×"),
     (4, "uncoalesced", 4), (4, "coalesced", 4)),
    (("Matrix addition 8-bit", "1.02 ms", "0.024 ms", "43×"),
     (1, "uncoalesced", 1), (1, "coalesced", 4)),
    (("Matrix addition 8-bit, coalesced before (section VI-C)", "0.634 ms", "0.024 ms", "26×"),
     (1, "coalesced", 1), (1, "coalesced", 4)),
)  # fmt: skip


def _over(slow: Row | None, fast: Row | None) -> Sentence:
    """The ratio of two times; empty for an invalid one."""
    faster = ratio(slow, fast)
    return NONE if faster is None else told(fast, lambda _: factor(faster))


def make(run: Run) -> Table | None:
    """The paper's rows beside this GPU's kernels; None if none of them was timed on a GPU."""
    # Launch times by events, of groups accessed at once, by hand and by the optimizer.
    timed = [
        row
        for row in run.of("short_words")
        if (row.backend, row.quantity, row.method) == ("cuda", "kernel_time", "event_slope")
    ]
    kernels, mended = (
        {
            (row.count("element"), row.text("order"), row.count("group")): row
            for row in timed
            if row.text("access") == access
        }
        for access in ("together", "mended")
    )
    lines: list[dict[str, Sentence]] = []
    for words, before, after in ROWS:
        slow, fast, widest = (kernels.get(key) for key in (before, after, (*after[:2], WIDEST)))
        times = (
            (cited(row), *(() if row.valid else (" (invalid)",))) if row else NONE
            for row in (slow, fast)
        )
        texts = ((word,) for word in words)
        ours = mended.get((*before[:2], after[2]))
        cells = (*texts, *times, _over(slow, fast), _over(slow, widest), _over(slow, ours))
        lines.append(dict(zip(HEADS, cells, strict=True)))
    if all(line[HEADS[4]] == line[HEADS[5]] == NONE for line in lines):
        return None
    title = (
        "Table II of van den Braak, Mesman and Corporaal (2010), its matrix rows: a GeForce "
        f"8800 GT {reference.cite(KEY)} and this GPU, with matrices of 128 MiB"
    )
    return table("vandenbraak_matrix", title, lines, words=HEADS[:1])
