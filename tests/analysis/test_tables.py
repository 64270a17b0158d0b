"""Tables as Markdown, LaTeX and terminal text."""

from strata.model import Table
from strata.model.tables import latex, markdown, terminal
from strata.model.units import SPACE, THIN

TABLE = Table(
    name="t",
    title="A table",
    header=("what", "value"),
    rows=((("a|b_c",), (f"1.5{SPACE}GB/s",)), (("50 % & more",), (f"12{THIN}346 × 2", "–3"))),
    numeric=frozenset({1}),
)


def test_markdown_is_aligned_and_escaped() -> None:
    assert markdown(TABLE).replace(SPACE, " ").splitlines() == [
        "| what        |        value |",
        "|:------------|-------------:|",
        "| a\\|b_c      |     1.5 GB/s |",
        f"| 50 % & more | 12{THIN}346 × 2–3 |",
    ]


def test_latex_uses_booktabs_and_escapes() -> None:
    text = latex(TABLE, "Test Device, run r")
    assert text.isascii()
    assert text.splitlines() == [
        "% Test Device, run r",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"what & value \\",
        r"\midrule",
        r"a|b\_c & 1.5~GB/s \\",
        r"50 \% \& more & 12\,346 $\times$ 2--3 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_terminal_has_neither_rules_nor_trailing_space() -> None:
    assert terminal(TABLE, head=False).splitlines()[0] == f"a|b_c            1.5{SPACE}GB/s"
    assert all(line == line.rstrip() for line in terminal(TABLE, head=False).splitlines())
