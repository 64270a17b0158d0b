"""The command `python -m strata`: report, summary, validate.

Exit codes: 0 done; 2 bad input or usage, with one line on the standard error that says why.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from strata import counted, ladder, model, tables
from strata.records import Run, RunError, load_run, one_line
from strata.validate import findings

BAD_INPUT = 2

app = typer.Typer(
    help="Read Strata's run folders: make a page of them, sum one up, check them.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")]


@app.command()
def report(
    runs: Runs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder to write to [RUN/report; ./report for several runs].",
        ),
    ] = None,
) -> None:
    """Write report.html, and every figure and table as files beside it."""
    loaded = [_load(run) for run in runs]
    folder = out or (runs[0] / "report" if len(runs) == 1 else Path("report"))
    from strata import report as writer  # brings matplotlib: half a second that only this needs

    try:
        page = writer.write(loaded, folder)
    except (RunError, model.MergeError) as error:
        _fail(f"{error}")
    except OSError as error:
        _fail(f"cannot write {error.filename or folder}: {error.strerror}")
    for run in loaded:
        _print_table(run)
    typer.echo(f"{page}")


@app.command()
def summary(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
) -> None:
    """Say what a run found, in a few sentences and ten numbers."""
    loaded = _load(run)
    for sentence in (*model.sentences(loaded.rows), *ladder.sentences(loaded.rows)):
        typer.echo(model.plain(sentence))
    typer.echo(counted.proof(loaded))
    _print_table(loaded)


@app.command()
def validate(runs: Runs) -> None:
    """Check run folders against their contract."""
    broken = False
    for run in runs:
        loaded = _load(run)
        found = findings(loaded)
        for line in found:
            typer.echo(f"{run}: {line}", err=True)
        broken = broken or bool(found)
        if not found:
            counts = f"{len(loaded.cases)} cases, {len(loaded.rows)} rows"
            unfinished = "" if loaded.context.state == "complete" else f", {loaded.context.state}"
            typer.echo(f"{run}: sound ({counts}{unfinished})")
    if broken:
        raise typer.Exit(BAD_INPUT)


def _load(folder: Path) -> Run:
    try:
        return load_run(folder)
    except RunError as error:
        _fail(f"{error}")


def _fail(message: str) -> NoReturn:
    typer.echo(f"strata: {one_line(message)}", err=True)
    raise typer.Exit(BAD_INPUT)


def _print_table(run: Run) -> None:
    """The headlines: drawn on a terminal, plain columns elsewhere."""
    table = model.headline_table(run)
    title = f"{run.context.device.name} ({run.context.run})"
    if not sys.stdout.isatty():
        typer.echo(f"{title}\n{tables.terminal(table)}", nl=False)
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", show_header=False)
    for place in range(len(table.header)):
        drawn.add_column(justify="right" if place in table.numeric else "left")
    for row in table.rows:
        drawn.add_row(*(model.plain(cell) for cell in row))
    Console().print(drawn)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; leaves through SystemExit."""
    app(args=arguments, prog_name="python -m strata")
