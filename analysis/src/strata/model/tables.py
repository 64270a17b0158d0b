"""Tables as text: Markdown for a page, LaTeX (booktabs) for a paper, columns for a terminal."""

from collections.abc import Iterable, Mapping, Sequence

from strata.model.text import Table, plain
from strata.model.units import SPACE, THIN
from strata.run.files import visible

LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
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
    | {"ä": r"{\"a}", "ö": r"{\"o}", "ü": r"{\"u}", "é": r"{\'e}"}
)
"""Replacements of letters that LaTeX and BibTeX do not take as they are."""


def markdown_text(text: str) -> str:
    """`text` as a line of GitHub's Markdown, escaping HTML, links and table cells."""
    for letter, instead in {"<": "&lt;", "](": "]\\(", "|": "\\|"}.items():
        text = text.replace(letter, instead)
    return _line(text)


def latex_text(text: str) -> str:
    """`text` escaped for LaTeX."""
    return _line(text).translate(LATEX)


def _line(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def markdown(table: Table) -> str:
    """The table in GitHub's Markdown, with columns aligned in the source."""
    rows = [[markdown_text(cell) for cell in row] for row in (table.header, *_plain(table))]
    header, *lines = _aligned(rows, table.numeric)
    rule = [
        "-" * (len(cell) - 1) + (":" if place in table.numeric else "-")
        for place, cell in enumerate(header)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *lines))


def latex(table: Table, *source: str) -> str:
    """The table for LaTeX with the booktabs package; comments name the source of the numbers."""
    columns = "".join("r" if place in table.numeric else "l" for place in range(len(table.header)))
    header, *rows = (
        " & ".join(map(latex_text, row)) + r" \\" for row in (table.header, *_plain(table))
    )
    lines = [
        *(f"% {_line(words)}" for words in source), rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule", header, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def terminal(table: Table, *, head: bool = True) -> str:
    """The table in plain aligned columns, without rules: for pipes and logs."""
    rows = [[*map(_line, row)] for row in (*([table.header] if head else []), *_plain(table))]
    lines = _aligned(rows, table.numeric)
    return "".join("  ".join(line).rstrip() + "\n" for line in lines)


def drawn(
    table: Table, *, title: str = "", head: bool = True, colours: Mapping[str, str] | None = None
) -> str:
    """The table with rules, for terminals; `colours` of rows are by their first cell."""
    from rich.console import Console
    from rich.table import Table as Drawn

    grid = Drawn(title=_line(title) or None, title_justify="left", show_header=head)
    for place, name in enumerate(table.header):
        grid.add_column(name, justify="right" if place in table.numeric else "left")
    for cells in _plain(table):
        grid.add_row(*map(_line, cells), style=(colours or {}).get(cells[0]))
    console = Console(markup=False, emoji=False)
    with console.capture() as text:
        console.print(grid)
    return text.get()


def _plain(table: Table) -> list[list[str]]:
    return [[plain(cell) for cell in row] for row in table.rows]


def _aligned(rows: Sequence[Sequence[str]], numeric: Iterable[int]) -> list[list[str]]:
    """Cells padded to their column, at least three characters; numbers to the right."""
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [
            cell.rjust(width) if place in numeric else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
