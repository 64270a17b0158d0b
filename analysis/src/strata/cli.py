"""The command `python -m strata`: report, roofline, summary, compare, validate, export, import.

Exit codes: 0 success; 1 something is slower (compare), or above its roof (roofline); 2 bad input or
usage, with one line on standard error that says why.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from strata import interop
from strata.model import counted, tables
from strata.model.hierarchy import hierarchy
from strata.model.text import plain
from strata.model.truth import fallen, load_run
from strata.report import headlines, map_text
from strata.report.sentences import sentences
from strata.roofline import verdicts
from strata.roofline.table import table
from strata.run import Run, RunError, one_line
from strata.run.files import visible
from strata.run.private import anonymous
from strata.run.validate import findings, refuse_repeated

BAD_INPUT = 2

app = typer.Typer(
    help="Read Strata's run folders: write a report, summarise, compare and validate runs.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")]
OneRun = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]


def _option(told: str, metavar: str | None = None, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=told)


Unnamed = Annotated[
    bool,
    _option("Leave out arguments, paths, host name, UUIDs and serials.", None, "--anonymous"),
]


Bare = Annotated[
    bool,
    _option("Draw figures without the heading (title, device, run).", None, "--plain-figures"),
]


def _out(command: str) -> Any:
    told = f"Folder to write to [RUN/{command}; ./{command} for several runs]."
    return _option(told, "DIR", "--out", "-o")


def _folder(out: Path | None, runs: Sequence[Path], what: str) -> Path:
    return out or (runs[0] / what if len(runs) == 1 else Path(what))


@app.command()
def report(
    runs: Runs,
    out: Annotated[Path | None, _out("report")] = None,
    *,
    unnamed: Unnamed = False,
    bare: Bare = False,
) -> None:
    """Write report.html, and a file for each figure and table."""
    loaded = [anonymous(run) if unnamed else run for run in map(load_run, runs)]
    folder = _folder(out, runs, "report")
    from strata.report import page  # imports matplotlib: half a second that only this command needs

    path = page.write(loaded, folder, headings=not bare)
    for run in loaded:
        _print_table(run)
    _say(f"{path}")


@app.command(name="roofline")
def draw_roofline(
    runs: Runs,
    out: Annotated[Path | None, _out("roofline")] = None,
    ceilings: Annotated[
        Path | None, _option("Take ceilings from this run, if RUN has none.", "RUN")
    ] = None,
    *,
    nominal: Annotated[
        bool, _option("Also draw the nominal 20 operations per interaction.")
    ] = True,
    bare: Bare = False,
) -> None:
    """Plot kernels under the ceilings of their run; exit code 1 if one is above its roof."""
    loaded = [load_run(run) for run in runs]
    lender = load_run(ceilings) if ceilings else None
    folder = _folder(out, runs, "roofline")
    from strata.report.roofline import write  # brings matplotlib

    shown = write(loaded, folder, ceilings=lender, nominal=nominal, headings=not bare)
    for form, found in shown.items():
        _say(f"{tables.terminal(table(found, form))}{folder / form.name}.svg")
    for problem in (one for found in shown.values() for one in verdicts.problems(found)):
        _say(f"strata: above its roof: {one_line(problem)}", err=True)
    raise typer.Exit(int(any(verdicts.impossible(found) for found in shown.values())))


@app.command()
def summary(
    runs: Runs,
    *,
    brief: Annotated[
        bool, _option("Print only the ten most important numbers.", None, "--brief")
    ] = False,
    as_map: Annotated[
        bool,
        _option(
            "Print only the memory levels, as boxes; several runs side by side.", None, "--map"
        ),
    ] = False,
) -> None:
    """Summarise a run in a few sentences and ten numbers."""
    if as_map:
        _print_map(list(map(load_run, runs)))
        return
    if len(runs) > 1:
        _fail(f"found {len(runs)} runs; expected one, or --map to show several side by side")
    loaded = load_run(runs[0])
    if not brief:
        for sentence in sentences(loaded):
            _say(plain(sentence))
        _say(counted.proof(loaded))
    _print_table(loaded)


@app.command()
def compare(
    runs: Runs,
    *,
    out: Annotated[
        Path | None, _option("Write tables and a figure to this folder.", "DIR", "--out", "-o")
    ] = None,
    same: Annotated[
        list[Path] | None,
        _option(
            "A repeat of one of RUN, or of other runs given with --same, from which to "
            "estimate the noise: same code, same chip. Repeatable.",
            "RUN",
        ),
    ] = None,
    beside: Annotated[
        str | None,
        _option(
            "Published devices to compare with, such as A100,V100; a wrong name lists all.",
            "NAME,...",
            "--with",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, _option("Compare only this benchmark or suite.", "NAME")
    ] = None,
    false_alarm: Annotated[
        float, _option("Probability of any false alarm in the whole comparison.")
    ] = 0.01,
    min_change: Annotated[float, _option("Smallest change of interest.")] = 0.01,
    wander: Annotated[
        float,
        _option("Assumed spread between runs, where there are too few rows to estimate it."),
    ] = 0.003,
    bare: Bare = False,
) -> None:
    """Compare runs with the first; exit code 0 nothing is slower, 1 something is, 2 bad input."""
    from strata.compare import Settings, output  # brings scipy
    from strata.compare.devices import published_as
    from strata.compare.sections import show

    if len(runs) < 2 and not beside:
        _fail("found one run; expected two or more, or published devices (--with)")
    names = list(dict.fromkeys(beside.split(","))) if beside else []
    try:
        for name in names:
            published_as(name)
        settings = Settings(false_alarm=false_alarm, min_change=min_change, wander=wander)
    except ValueError as error:
        _fail(f"{error}")
    loaded = [output.only(load_run(run), only or []) for run in runs]
    repeats = [output.only(load_run(run), only or []) for run in same or []]
    found, devices = output.compared(loaded, settings, same=repeats, beside=names)
    if out:
        from strata.report.comparison import write  # brings matplotlib

        write(found, devices, out, headings=not bare)
    parts = output.sections(found, devices)
    for warning in dict.fromkeys(warning for part in parts for warning in part.warnings):
        _say(f"strata: warning: {one_line(warning)}", err=True)
    for part in parts:
        show(part, typer.echo, drawn=sys.stdout.isatty())  # which makes all visible itself
    raise typer.Exit(int(any(one.slower for one in found)))


@app.command()
def validate(runs: Runs) -> None:
    """Check run folders against their contract, and count rows that violate a plausibility rule."""
    broken = False
    for folder in runs:
        run = load_run(folder)
        if found := findings(run):
            broken = True
            _say("\n".join(f"{folder}: {line}" for line in found), err=True)
        else:
            unfinished = "" if run.context.state == "complete" else f", {run.context.state}"
            counts = f"{len(run.cases)} cases, {len(run.rows)} rows{unfinished}"
            _say(f"{folder}: sound ({counts})")
            for rule, rows, cases, says in fallen(run):
                told = "valid, and say what they are" if says else "not valid"
                _say(f"  {rule:<8} {rows:>7} rows of {cases} cases re-judged: {told}")
    raise typer.Exit(BAD_INPUT if broken else 0)


@app.command(name="export")
def write_as(
    run: OneRun,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    to: Annotated[
        interop.Target, _option("Format; Google Benchmark's compare.py reads the first.")
    ],
    *,
    force: Annotated[bool, _option("Overwrite FILE.", None, "--force")] = False,
    unnamed: Unnamed = False,
) -> None:
    """Write a run as a file for other tools."""
    _say(f"{interop.export(load_run(run), file, to=to, force=force, unnamed=unnamed)}")


@app.command(name="import")
def bring_in(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Google Benchmark JSON, or CSV of ncu --csv.")
    ],
    to: Annotated[Path, _option("Folder for the run folder.", "DIR")] = Path(),
    *,
    force: Annotated[bool, _option("Overwrite an existing run folder.", None, "--force")] = False,
) -> None:
    """Make a run folder from another tool's file, and print its path."""
    _say(f"{interop.bring_in(file, to, force=force)}")


def _say(text: str, *, err: bool = False) -> None:
    """Write to standard output; no text of a run or a name can control the terminal."""
    typer.echo(visible(text), err=err)


def _fail(message: str) -> NoReturn:
    _say(f"strata: {one_line(message)}", err=True)
    sys.exit(BAD_INPUT)


def _print_table(run: Run) -> None:
    """Print the headlines: drawn on a terminal, plain columns elsewhere."""
    table = headlines.table(run)
    title = one_line(f"{run.context.device.name} ({run.context.run})")
    if sys.stdout.isatty():
        typer.echo(tables.drawn(table, title=title, head=False), nl=False)
    else:
        _say(f"{title}\n{tables.terminal(table, head=False)}".rstrip("\n"))


def _print_map(runs: Sequence[Run]) -> None:
    """Print the map of devices of one kind, in letters that the terminal supports."""
    refuse_repeated(runs)
    if len({run.context.backend for run in runs}) > 1:
        _fail("found runs of a GPU and of a CPU; expected one kind, with the same levels")
    text = map_text.text([hierarchy(run) for run in runs])
    _say(map_text.plain_letters(text, sys.stdout.encoding))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; leaves through SystemExit, with one line for what cannot be used."""
    try:
        app(args=arguments, prog_name="python -m strata")
    except RunError as error:
        _fail(f"{error}")
    except (ArithmeticError, ValueError) as error:
        _fail(f"the runs hold numbers that cannot be used ({error})")
    except OSError as error:
        _fail(f"cannot write {error.filename or 'the files'}: {error.strerror}")
