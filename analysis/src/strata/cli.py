"""The command `python -m strata`: all that reads run folders.

Exit codes: 0 success; 1 something is slower or the comparison lacks the required power (compare),
above its roof (roofline), or a GPU is out (fleet); 2 bad input or usage, with one line on standard
error that gives the reason.
"""

import errno
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from strata import interop
from strata.model import agreement, counted, tables
from strata.model.hierarchy import hierarchy
from strata.model.text import plain
from strata.model.truth import fallen, load_run
from strata.report import headlines, map_text
from strata.report.sentences import sentences
from strata.roofline import verdicts
from strata.roofline.ceilings import joined
from strata.roofline.forms import FLOP
from strata.run import Run, RunError, index, load_context, one_line
from strata.run.files import is_run, visible, write_files
from strata.run.private import anonymous
from strata.run.validate import findings, refuse_repeated, validity

LOST, BAD_INPUT = 1, 2
ADD = "fleet add"
FORMATS = ("svg", "png", "pdf")
WIDTHS = (2.0, 20.0)
"""Inches of a figure."""
UsageError: Any = typer.BadParameter.__mro__[1]
"""Of click, or of what typer has in its place."""

app = typer.Typer(
    help="Read Strata's run folders: write a report, summarise, compare and validate runs.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _argument(metavar: str, words: str) -> Any:
    return typer.Argument(metavar=metavar, help=words, parser=_parser(metavar))


def _option(words: str, metavar: str | None = None, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=words, parser=_parser(metavar))


def _parser(metavar: str | None) -> Callable[[str], Path] | None:
    """A run may be given by its short name."""
    return index.folder if metavar in ("RUN", "RUN...") else None


def _out_of(command: str) -> Any:
    words = f"Folder to write to [RUN/{command}; ./{command} for a file or several runs]."
    return _option(words, "DIR", "--out", "-o")


Runs = Annotated[list[Path], _argument("RUN...", "Run folders.")]
OneRun = Annotated[Path, _argument("RUN", "Run folder.")]
_FILES = "Run folders, tables (measurements.csv), or files of ncu or Google Benchmark."
RunsOrFiles = Annotated[list[Path], _argument("RUN...", _FILES)]
_ANONYMOUS = "Leave out arguments, paths, host name, UUIDs and serials."
Unnamed = Annotated[bool, _option(_ANONYMOUS, None, "--anonymous")]
Force = Annotated[bool, _option("Overwrite what is there.", None, "--force")]
_PLAIN = "Draw figures without the heading (title, device, run)."
Bare = Annotated[bool, _option(_PLAIN, None, "--plain-figures")]


def _folder(out: Path | None, runs: Sequence[Path], what: str) -> Path:
    return out or (runs[0] / what if len(runs) == 1 and runs[0].is_dir() else Path(what))


def _load(path: Path) -> Run:
    return interop.load(path, _warn)


ReportOut = Annotated[Path | None, _out_of("report")]
Formats = Annotated[str, _option("Image files of each figure: svg, png, pdf.", "KIND,...")]


@app.command()
def report(
    runs: RunsOrFiles, out: ReportOut = None, *, formats: Formats = "svg,png,pdf",
    unnamed: Unnamed = False, bare: Bare = False,
) -> None:  # fmt: skip
    """Write report.html, and a file for each figure and table."""
    kinds = list(dict.fromkeys(formats.split(",")))
    if unknown := [kind for kind in kinds if kind not in FORMATS]:
        _fail(f"found the format {unknown[0]!r}; expected one or more of {', '.join(FORMATS)}")
    loaded = [anonymous(run) if unnamed else run for run in map(_load, runs)]
    from strata.report import page  # imports matplotlib: half a second that only this command needs

    path = page.write(loaded, _folder(out, runs, "report"), kinds, headings=not bare)
    for run in loaded:
        _print_table(run)
    _say(f"{path}")


FigureName = Annotated[str, _argument("NAME", "Name of the figure; a wrong one lists all.")]
FigureOut = Annotated[
    Path | None, _option("File to write to [./NAME.FORMAT].", "FILE", "--out", "-o")
]
Kind = Annotated[str, _option("Image format: svg, png or pdf.", "KIND", "--format")]
_WIDTH = "Width in inches, 2 to 20: 3.3 for a column of a paper."
Width = Annotated[float | None, _option(_WIDTH, "INCHES")]


@app.command(name="figure")
def draw_figure(
    name: FigureName, run: OneRun, out: FigureOut = None, *, kind: Kind = "svg",
    width: Width = None, bare: Bare = False,
) -> None:  # fmt: skip
    """Write one figure of a run as an image."""
    if kind not in FORMATS:
        _fail(f"found the format {kind!r}; expected one of {', '.join(FORMATS)}")
    if width is not None and not WIDTHS[0] <= width <= WIDTHS[1]:
        _fail(f"found {width:g} inches; expected a width of {WIDTHS[0]:g} to {WIDTHS[1]:g} inches")
    loaded = load_run(run)
    from strata import figures  # brings matplotlib
    from strata.figures._drawing import image

    if not (figure := figures.named(name)):
        names = ", ".join(one.name for one in figures.discover())
        _fail(f"found no figure {name!r}; expected one of {names}")
    file = out or Path(f"{name}.{kind}")
    if not (content := image(figure, loaded, kind, width=width, headings=not bare)):
        _fail(f"{run}: found no rows for the figure {name}")
    write_files(file.parent, {file.name: content})
    _say(f"{file}")


RooflineOut = Annotated[Path | None, _out_of("roofline")]
_LENDER = "Take ceilings from this run, or those of a recorded device (h200)."
CeilingsOf = Annotated[str, _option(_LENDER, "NAME|RUN")]
_BEFORE = "Draw arrows from the kernels of this earlier run or file."
Before = Annotated[Path | None, _option(_BEFORE, "RUN")]
_KERNEL = "Draw only kernels whose full name this regular expression finds."
KernelName = Annotated[str, _option(_KERNEL, "RE", "--kernel")]
_TOP = "Draw only the N kernels that take most time."
Top = Annotated[int | None, typer.Option(metavar="N", help=_TOP, min=1)]
Nominal = Annotated[bool, _option("Also draw the nominal 20 operations per interaction.")]


@app.command(name="roofline")
def draw_roofline(
    runs: RunsOrFiles, out: RooflineOut = None, ceilings: CeilingsOf = "", *, before: Before = None,
    kernel: KernelName = "", top: Top = None, nominal: Nominal = True, bare: Bare = False,
) -> None:  # fmt: skip
    """Plot kernels under the ceilings of their run; exit code 1 if one is above its roof."""
    if before and len(runs) > 1:
        _fail(f"found --before with {len(runs)} runs; expected one run")
    from strata.profile.table import lenders
    from strata.report.roofline import write  # brings matplotlib

    loaded, earlier = [_load(run) for run in runs], _load(before) if before else None
    lender = joined(lenders(ceilings, "")) if ceilings else None
    folder = _folder(out, runs, "roofline")

    try:
        shown = write(
            loaded, folder, ceilings=lender, before=earlier, kernel=kernel, top=top,
            nominal=nominal, headings=not bare,
        )  # fmt: skip
    except re.error as error:
        _fail(f"--kernel: {error}; expected a regular expression")
    for form, found in shown.items():
        if verdicts.points_of(found):
            _say(tables.terminal(verdicts.table(found, form)).rstrip("\n"))
        _say(f"{folder / form.name}.svg")
    for run in loaded:
        for note in verdicts.notes(run, shown[FLOP]):
            _say(f"strata: {one_line(note)}", err=True)
    for problem in (one for found in shown.values() for one in verdicts.problems(found)):
        _say(f"strata: above its roof: {one_line(problem)}", err=True)
    raise typer.Exit(int(any(verdicts.impossible(found) for found in shown.values())))


@app.command(name="profile")
def show_profile(run: OneRun, ceilings: CeilingsOf = "") -> None:
    """Print the kernels of a profiled program, and what limits each of them."""
    from strata.profile.table import profile

    kernels, words = profile(load_run(run), ceilings)
    _say(tables.terminal(kernels))
    for line in words:
        _say(one_line(line))


_MAP = "Print only the memory levels, as boxes; several runs side by side."
AsMap = Annotated[bool, _option(_MAP, None, "--map")]
Notes = Annotated[bool, _option("With --map: also print why a number is missing.", None, "--notes")]
AsJson = Annotated[bool, _option("Print the ten numbers for programs, as JSON.", None, "--json")]


@app.command()
def summary(
    runs: Runs, *, as_map: AsMap = False, notes: Notes = False, as_json: AsJson = False
) -> None:
    """Summarise a run in a few sentences and ten numbers."""
    if as_map:
        _print_map(list(map(load_run, runs)), notes=notes)
        return
    if notes:
        _fail("found --notes without --map; expected both")
    if len(runs) > 1:
        _fail(f"found {len(runs)} runs; expected one, or --map to show several side by side")
    loaded = load_run(runs[0])
    if as_json:
        typer.echo(json.dumps(headlines.as_data(loaded), indent=1))
        return
    lines = [*map(plain, sentences(loaded)), counted.proof(loaded), agreement.sentence(loaded)]
    for line in filter(None, lines):
        _say(line)
    _print_table(loaded)
    if any(case.suite == "profile" for case in loaded.cases):
        show_profile(runs[0])


_WORDS = "A recorded run or a run folder [the first recorded run], then the question."
Words = Annotated[list[str] | None, _argument("[RUN] WORDS...", _WORDS)]
AnswersJson = Annotated[bool, _option("Print all of each answer, as JSON.", None, "--json")]


@app.command()
def ask(words: Words = None, *, as_json: AnswersJson = False) -> None:
    """Answer a question about a device from its runs: `ask h200 l2 latency`.

    Without words it lists the topics; the word `all` gives all answers.
    """
    from strata import answers
    from strata.answers import text

    first, *question = words or [""]
    names = answers.names()
    if first not in names and "/" not in first and not is_run(Path(first)):
        first, question = names[0], list(words or [])
    if not question:
        _say(json.dumps(answers.topics(), indent=1) if as_json else text.topics())
        return
    main, found = answers.ask(answers.answers_of(first), question)
    if as_json:
        typer.echo(json.dumps(text.as_data(main, found), indent=1))
    else:
        _say(text.shown(first, main, found))


@app.command(name="map")
def map_chip(runs: Runs) -> None:
    """Group the SMs and L2 lines of runs of `chip_map`, and compare the maps of several runs."""
    from strata.report import chip_map_text  # brings scipy

    loaded = [load_run(run) for run in runs]
    for run in loaded:
        found = list(chip_map_text.lines(run))
        if not found:
            _fail(f"{run.folder}: found no valid cells of chip_map; measure with sweeps/map.yaml")
        _say("\n".join([f"{run.context.device.name} ({run.context.run})", *found]))
    for line in chip_map_text.distances(loaded):
        _say(line)


_TABLES = "Write tables and a figure to this folder."
CompareOut = Annotated[Path | None, _option(_TABLES, "DIR", "--out", "-o")]
_SAME = (
    "A repeat of one of RUN, or of other runs given with --same, from which to estimate the noise: "
    "same code, same chip. Repeatable."
)
Same = Annotated[list[Path] | None, _option(_SAME, "RUN")]
_BESIDE = "Published devices to compare with, such as A100,V100; a wrong name lists all."
Beside = Annotated[str | None, _option(_BESIDE, "NAME,...", "--with")]
Only = Annotated[list[str] | None, _option("Compare only this benchmark or suite.", "NAME")]
FalseAlarm = Annotated[float, _option("Probability of any false alarm in the whole comparison.")]
MinChange = Annotated[float, _option("Smallest change of interest.")]
_POWER = (
    "Exit with code 1 unless a change of this size, such as 2%, would be noticed (with a "
    "probability of 0.9) in at least half of the timed rows."
)
Power = Annotated[str | None, _option(_POWER, "SIZE")]
_WANDER = "Assumed spread between runs, where there are too few rows to estimate it."
Wander = Annotated[float, _option(_WANDER)]
ChangesJson = Annotated[bool, _option("Print all changes and devices as JSON.", None, "--json")]


@app.command()
def compare(
    runs: RunsOrFiles, *, out: CompareOut = None, same: Same = None, beside: Beside = None,
    only: Only = None, false_alarm: FalseAlarm = 0.01, min_change: MinChange = 0.01,
    require_power: Power = None, wander: Wander = 0.003, unnamed: Unnamed = False,
    bare: Bare = False, as_json: ChangesJson = False,
) -> None:  # fmt: skip
    """Compare runs with the first and print which change would have been noticed.

    Exit code 0: nothing is slower; 1: something is, or --require-power is not met; 2: bad input.
    """
    from strata.compare import Settings, compare_all, words  # brings scipy
    from strata.compare import only as rows_of
    from strata.compare.devices import published_as

    if len(runs) < 2 and not beside:
        load_context(runs[0])  # a folder of runs has another remedy
        _fail("found one run; expected two or more, or published devices (--with)")
    names = list(dict.fromkeys(beside.split(","))) if beside else []
    try:
        for name in names:
            published_as(name)
        settings = Settings(false_alarm=false_alarm, min_change=min_change, wander=wander)
        if require_power:
            settings = replace(settings, power=words.share(require_power))
    except ValueError as error:
        _fail(f"{error}")

    def load(folder: Path) -> Run:
        run = rows_of(_load(folder), only or [])
        return anonymous(run, distinct=True) if unnamed else run

    loaded, repeats = [*map(load, runs)], [*map(load, same or [])]
    found, devices = compare_all(loaded, settings, same=repeats, beside=names)
    if out:
        from strata.report.comparison import write  # brings matplotlib

        write(found, devices, out, headings=not bare)
    parts = words.sections(found, devices)
    for warning in dict.fromkeys(chain.from_iterable(part.warnings for part in parts)):
        _warn(warning)
    if as_json:
        typer.echo(json.dumps(words.as_data(found, devices), indent=1))
    else:
        words.show_all(parts, typer.echo, drawn=sys.stdout.isatty())  # makes all visible itself
    weak = list(words.without_power(found)) if require_power else []
    for one in weak:
        _say(f"strata: --require-power: {one_line(one)}", err=True)
    raise typer.Exit(int(bool(weak) or any(one.slower for one in found)))


_SETS = "Run folders, folders of them, or data sets of `strata fleet add`."
RunsOrSets = Annotated[list[Path], _argument("RUN...", _SETS)]
FleetOut = Annotated[Path, _option("Folder to write to.", "DIR", "--out", "-o")]
FleetAlarm = Annotated[float, _option("Probability of any false alarm in the whole fleet.")]
_MODEL = "Judge this device model, not the one of most GPUs."
Model = Annotated[str, _option(_MODEL, "SLUG")]
_BUILDS = "Take runs of all builds, not of the one of most GPUs."
AnyBuild = Annotated[bool, _option(_BUILDS, None, "--any-build")]
_HIDE = "Hide UUIDs, leave out nodes and folders."
UnnamedFleet = Annotated[bool, _option(_HIDE, None, "--anonymous")]


@app.command(name="fleet")
def judge_fleet(
    runs: RunsOrSets, *, out: FleetOut = Path("fleet"), false_alarm: FleetAlarm = 0.01,
    min_change: MinChange = 0.005, model: Model = "", any_build: AnyBuild = False,
    unnamed: UnnamedFleet = False,
) -> None:  # fmt: skip
    """Report outliers among GPUs: exit code 0 without any, 1 with one or more, 2 bad input.

    `strata fleet add DATASET RUN...` keeps runs in a data set that is read in their place.
    """
    from strata import fleet as fleets  # brings scipy and pyarrow
    from strata.compare.words import show
    from strata.fleet import words
    from strata.report.fleet import write

    try:
        settings = fleets.Settings(false_alarm=false_alarm, min_change=min_change)
        with fleets.opened(runs, _warn, model=model, any_build=any_build) as parts:
            found = fleets.examine(
                parts, _warn, settings, model=model, any_build=any_build, unnamed=unnamed
            )
            page = write(found, parts, out, compare=not unnamed)
    except ValueError as error:
        _fail(f"{error}")
    show(words.section(found), typer.echo, drawn=sys.stdout.isatty())
    for gpu in found.out:
        _say(f"strata: out: {one_line(words.name(found.gpus[gpu].entry))}", err=True)
    _say(f"{page}")
    raise typer.Exit(int(bool(found.out)))


DataSet = Annotated[Path, _argument("DATASET", "Folder of the data set.")]


@app.command(name=ADD, hidden=True)
def add_to_fleet(data_set: DataSet, runs: Runs, *, unnamed: UnnamedFleet = False) -> None:
    """Append runs to a data set of Parquet files, which is made where there is none."""
    from strata.fleet import add

    added = add(data_set, runs, _warn, unnamed=unnamed)
    _say(f"{data_set}: {added} run{'s' * (added != 1)} added")
    raise typer.Exit(0 if added else BAD_INPUT)


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
            valid = ", ".join(f"{k} {good} of {rows}" for k, rows, good in validity(run) if rows)
            _say(f"{folder}: sound ({counts}; valid: {valid})")
            for rule, rows, cases, is_note in fallen(run):
                verdict = "valid, and state what they are" if is_note else "not valid"
                _say(f"  {rule:<8} {rows:>7} rows of {cases} cases re-judged: {verdict}")
            for line in agreement.disagreements(run):
                _say(f"  disagree {line}")
    raise typer.Exit(BAD_INPUT if broken else 0)


_TO = "Format; compare.py of Google Benchmark and pyperf compare_to read the first two."
ExportFile = Annotated[Path, _argument("FILE", "File to write.")]
To = Annotated[interop.Target, _option(_TO, None, "--to", "--format")]


@app.command(name="export")
def write_as(
    run: OneRun, file: ExportFile, to: To, *, force: Force = False, unnamed: Unnamed = False
) -> None:
    """Write a run as a file for other tools."""
    _say(f"{interop.export(load_run(run), file, to=to, force=force, unnamed=unnamed)}")


SubmitOut = Annotated[Path, _option("Folder to write to: DIR/DEVICE/RUN.", "DIR", "--out", "-o")]


@app.command(name="submit")
def make_ready(run: OneRun, *, out: SubmitOut = Path("submission"), force: Force = False) -> None:
    """Check a run, remove what identifies its owner, pack it, and print how to contribute it."""
    from strata.interop.submission import refuse_large, submit

    refuse_large(run)
    loaded = load_run(run)
    made = submit(loaded, out, force=force)
    context, timed = loaded.context, headlines.valid_of(validity(loaded)[0])
    size = sum(file.stat().st_size for file in made.iterdir()) / 1e6
    _say(
        f"{made}: sound, {len(loaded.cases)} cases, {len(loaded.rows)} rows, {timed} of the timed "
        f"ones valid; {size:.1f} MB\n"
        "It holds no host name, folder, argument or serial; a digest replaces the UUID.\n"
        "To contribute it to Strata:\n"
        f"  1. copy it to results/{context.device.slug}/{context.run} of a clone\n"
        "  2. add a line to the table in results/README.md: device, command, what is new\n"
        "  3. open a pull request: CI checks the run as this command did"
    )
    if context.build.dirty or context.build.commit == "unknown":
        _warn("built from changes that no commit holds; describe them in the pull request")


ImportFile = Annotated[Path, _argument("FILE", "Google Benchmark JSON, or CSV of ncu --csv.")]
ImportTo = Annotated[Path, _option("Folder for the run folder.", "DIR")]


@app.command(name="import")
def bring_in(file: ImportFile, to: ImportTo = Path(), *, force: Force = False) -> None:
    """Make a run folder from another tool's file, and print its path."""
    _say(f"{interop.bring_in(file, to, force=force)}")


def _say(text: str, *, err: bool = False) -> None:
    """Write to standard output; no text of a run or a name can control the terminal."""
    typer.echo(visible(text), err=err)


def _warn(line: str) -> None:
    _say(f"strata: warning: {one_line(line)}", err=True)


def _fail(message: str, status: int = BAD_INPUT) -> NoReturn:
    _say(f"strata: {one_line(message)}", err=True)
    sys.exit(status)


def _print_table(run: Run) -> None:
    """Print the headlines: drawn on a terminal, plain columns elsewhere."""
    numbers = headlines.table(run)
    title = one_line(f"{run.context.device.name} ({run.context.run})")
    if sys.stdout.isatty():
        typer.echo(tables.drawn(numbers, title=title, head=False), nl=False)
    else:
        _say(f"{title}\n{tables.terminal(numbers, head=False)}".rstrip("\n"))


def _print_map(runs: Sequence[Run], *, notes: bool) -> None:
    """Print the map of devices of one kind, in letters that the terminal supports."""
    refuse_repeated(runs)
    if len({run.context.backend for run in runs}) > 1:
        _fail("found runs of a GPU and of a CPU; expected one kind, with the same levels")
    text = map_text.text([hierarchy(run) for run in runs], notes=notes)
    _say(map_text.plain_letters(text, sys.stdout.encoding or "utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; leaves through SystemExit, with one line for what cannot be used."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:2] == ADD.split():
        words[:2] = [ADD]
    try:
        sys.exit(app(args=words, prog_name="python -m strata", standalone_mode=False) or 0)
    except UsageError as error:
        usage: Any = error
        command = usage.ctx.command_path if usage.ctx else "python -m strata"
        message = " ".join(usage.format_message().split()).rstrip(".")  # choices are on lines
        _fail(f"{message}; see {command} --help")
    except RunError as error:
        _fail(f"{error}")
    except (ArithmeticError, ValueError) as error:
        _fail(f"the runs hold numbers that cannot be used ({error})")
    except OSError as error:
        status = LOST if error.errno == errno.ENOSPC else BAD_INPUT
        _fail(f"cannot write {error.filename or 'all output'}: {error.strerror}", status)
