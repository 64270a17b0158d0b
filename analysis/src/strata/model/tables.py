"""Tables as text: Markdown for a page, LaTeX (booktabs) for a paper, columns for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from strata.model.text import Table, plain
from strata.model.units import SPACE, THIN
from strata.run.files import visible

if TYPE_CHECKING:
    import pandas as pd

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
    frame = _frame(table, markdown_text)
    text = frame.to_markdown(index=False, disable_numparse=True, colalign=_aligned(table))
    return f"{text}\n"


def latex(table: Table, *source: str) -> str:
    """The table for LaTeX with the booktabs package; comments name the source of the numbers."""
    columns = "".join(side[0] for side in _aligned(table))
    style = _frame(table, latex_text).style.hide(axis="index")
    comments = "".join(f"% {_line(words)}\n" for words in source)
    return comments + style.to_latex(hrules=True, column_format=columns)


def terminal(table: Table, *, head: bool = True) -> str:
    """The table in plain aligned columns, without rules: for pipes and logs."""
    from tabulate import tabulate

    rows = [[*map(_line, row)] for row in (*([table.header] if head else []), *_plain(table))]
    text = tabulate(
        rows, tablefmt="plain", disable_numparse=True, colalign=_aligned(table),
        preserve_whitespace=True,
    )  # fmt: skip
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


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


def _frame(table: Table, escape: Callable[[str], str]) -> pd.DataFrame:
    import pandas as pd

    rows = [[*map(escape, row)] for row in _plain(table)]
    return pd.DataFrame(rows, columns=[*map(escape, table.header)])


def _aligned(table: Table) -> list[str]:
    columns = range(len(table.header))
    return ["right" if column in table.numeric else "left" for column in columns]
