"""Tables as text: Markdown for a page, LaTeX (booktabs) for a paper, columns for a terminal."""

from collections.abc import Sequence

from strata.model import Table, plain
from strata.model.units import SPACE, THIN

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "÷": r"$\div$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "⁹": r"$^9$",
    "µ": r"$\mu$",
    "–": "--",
    SPACE: "~",
    THIN: r"\,",
}


def markdown(table: Table) -> str:
    """The table in GitHub's Markdown, columns aligned in the source too."""
    rows = [[plain(cell).replace("|", "\\|") for cell in row] for row in table.rows]
    widths = _widths([table.header, *rows])
    rule = [
        "-" * (width - 1) + ":" if place in table.numeric else "-" * width
        for place, width in enumerate(widths)
    ]
    lines = [_padded(line, widths, table.numeric) for line in (table.header, rule, *rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex(table: Table, source: str) -> str:
    """The table for LaTeX with the booktabs package; `source` says where the numbers come from."""
    columns = "".join("r" if place in table.numeric else "l" for place in range(len(table.header)))
    lines = [
        f"% {source}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _latex_row(table.header),
        r"\midrule",
        *(_latex_row([plain(cell) for cell in row]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def terminal(table: Table) -> str:
    """The table in plain aligned columns, without rules: for pipes and logs."""
    rows = [[plain(cell) for cell in row] for row in table.rows]
    lines = [_padded(row, _widths(rows), table.numeric) for row in rows]
    return "".join("  ".join(line).rstrip() + "\n" for line in lines)


def _latex_row(cells: Sequence[str]) -> str:
    escaped = ("".join(_LATEX.get(c, c) for c in cell) for cell in cells)
    return " & ".join(escaped) + r" \\"


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(3, *map(len, column)) for column in zip(*rows, strict=True)]


def _padded(cells: Sequence[str], widths: Sequence[int], numeric: frozenset[int]) -> list[str]:
    return [
        cell.rjust(width) if place in numeric else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
