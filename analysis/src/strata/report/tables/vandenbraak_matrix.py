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
    faster = ratio(slow, fast)
    return NONE if faster is None else told(fast, lambda _: factor(faster))


def _time(row: Row | None) -> Sentence:
    return (cited(row), *(() if row.valid else (" (invalid)",))) if row else NONE


def make(run: Run) -> Table | None:
    """The paper's rows beside this GPU's kernels; None if none of them was timed on a GPU."""
    # Launch times by events, of groups accessed at once, by hand and by the optimizer.
    timed = {
        (row.text("access"), row.count("element"), row.text("order"), row.count("group")): row
        for row in run.of("short_words")
        if (row.backend, row.quantity, row.method) == ("cuda", "kernel_time", "event_slope")
    }
    lines: list[dict[str, Sentence]] = []
    for (kernel, original, improved, speedup), before, after in ROWS:
        slow, fast, widest = (
            timed.get(("together", *key)) for key in (before, after, (*after[:2], WIDEST))
        )
        cells: dict[str, Sentence] = {
            "kernel": (kernel,),
            "8800 GT, original": (original,),
            "with the tool": (improved,),
            "speed-up": (speedup,),
            "here, original": _time(slow),
            "changed as the tool does": _time(fast),
            "speed-up here": _over(slow, fast),
            "with groups of 16 B": _over(slow, widest),
            "by strata access mend": _over(slow, timed.get(("mended", *before[:2], after[2]))),
        }
        lines.append(cells)
    if all(line["here, original"] == line["changed as the tool does"] == NONE for line in lines):
        return None
    title = (
        "Table II of van den Braak, Mesman and Corporaal (2010), its matrix rows: a GeForce "
        f"8800 GT {reference.cite(KEY)} and this GPU, with matrices of 128 MiB"
    )
    return table("vandenbraak_matrix", title, lines, words=["kernel"])
