"""Write the report of one or several runs: a self-contained page, every figure and table apart.

    report.html               the page: inline SVG, style and script; it needs no network
    figures/NAME.png|svg|pdf  each figure, to go into a paper or a slide
    tables/NAME.md|tex        each table, as Markdown and for LaTeX (booktabs)
    data/NAME.csv             what each figure shows

With several runs, `figures`, `tables` and `data` have a folder for each. The same runs give the
same bytes.
"""

import csv
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from strata import counted, figures, ladder, model, tables, units
from strata.records import VERDICTS, Run, RunError, params_text
from strata.report_tables import tables_of
from strata.validate import findings

TEMPLATES = Path(__file__).with_name("templates")

# An absolute path of the machine that measured: two or more steps from the root, a home or a drive.
# It starts where a word does, or behind a compiler's flag of one letter (-I/opt/include).
_HOST_PATH = re.compile(
    r"(?:(?<![\w./~-])|(?<=\s-[A-Z])|(?<=^-[A-Z]))"
    r"(?:~|[A-Za-z]:)?(?:[/\\][\w.+@~-]+){2,}[/\\]?"
)


def without_paths(text: str) -> str:
    """`text` with each absolute path cut down to its last name: a report tells no one's folders."""
    return _HOST_PATH.sub(lambda m: "…/" + re.split(r"[/\\]", m[0].rstrip("/\\"))[-1], text)


# --- what the template is given -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawn:
    """One figure as the page shows it."""

    name: str
    title: str
    caption: str
    svg: Markup
    stem: str
    """Path of the figure below its kind of file: `NAME`, or `RUN/NAME` with several runs."""
    rows: tuple[tuple[str, str], ...]
    """Anchor and words of each row that is drawn."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table of all rows, as text."""

    anchor: str
    benchmark: str
    params: str
    quantity: str
    method: str
    value: str
    exact: float
    interval: str
    span: str
    samples: int
    valid: bool


Shown = tuple[str, str, tuple[str, ...], tuple[tuple[tuple[Markup, bool], ...], ...]]
"""A table as the page shows it: title, path of its files, header, cells and whether numeric."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the counters say, as the page shows it."""

    sentences: tuple[str, ...]
    tables: tuple[Shown, ...]
    absent: tuple[str, ...]
    quantities: tuple[tuple[str, str, str, str, str], ...]
    silent: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One run as the page shows it."""

    key: str
    run: Run
    notices: tuple[str, ...]
    facts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    sentences: tuple[Markup, ...]
    tables: tuple[Shown, ...]
    counts: Counts
    figures: tuple[Drawn, ...]
    gates: tuple[tuple[str, tuple[int, ...]], ...]
    invalid: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]
    unmeasured: tuple[tuple[str, str, str], ...]
    pending: int
    lines: tuple[Line, ...]
    methods: tuple[str, ...]
    paper: bool


# --- writing --------------------------------------------------------------------------------------


def write(runs: Sequence[Run], out: Path) -> Path:
    """Write the report of `runs` into the folder `out`; returns the path of the page.

    Raises `RunError` when a run is given twice, OSError when a file cannot be written.
    """
    names = [run.context.run for run in runs]
    for run in runs:
        if names.count(run.context.run) > 1:
            raise RunError(
                run.folder,
                found=f"the run {run.context.run} twice",
                expected="each run once",
                mend="name it once",
            )
    sections = [
        _section(run, f"r{place}", out, f"{run.context.run}/" if len(runs) > 1 else "")
        for place, run in enumerate(runs, start=1)
    ]
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page = environment.get_template("report.html.j2").render(
        sections=sections, title=_title(runs), verdicts=VERDICTS
    )
    path = out / "report.html"
    _save(path, page.encode())
    return path


def _title(runs: Sequence[Run]) -> str:
    devices = dict.fromkeys(run.context.device.name for run in runs)
    return f"Strata: {', '.join(devices)}"


def _save(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _section(run: Run, key: str, out: Path, folder: str) -> Section:
    anchors = {row.key: f"{key}-{place}" for place, row in enumerate(run.rows, start=1)}
    benchmarks = sorted({case.benchmark for case in run.cases})
    # What all benchmarks of a suite share is told once, under the name of the suite.
    told = [*benchmarks, *sorted({case.suite for case in run.cases})]
    return Section(
        key=key,
        run=run,
        notices=tuple(_notices(run)),
        facts=tuple(_facts(run)),
        sentences=tuple(
            _linked(sentence, anchors)
            for sentence in (*model.sentences(run.rows), *ladder.sentences(run.rows))
        ),
        tables=tuple(_table(table, run, anchors, out, folder) for table in tables_of(run)),
        counts=_counts(run, anchors, out, folder),
        figures=tuple(_figures(run, key, anchors, out, folder)),
        gates=tuple(
            (name, tuple(counts[verdict] for verdict in VERDICTS))
            for name, counts in model.gate_counts(run).items()
        ),
        invalid=tuple(_invalid(run, anchors)),
        unmeasured=tuple(
            (case.id, case.status, without_paths(case.reason)) for case in model.unmeasured(run)
        ),
        pending=len(model.pending(run)),
        lines=tuple(_lines(run, anchors)),
        methods=tuple(
            f"methods/{name}.html.j2"
            for name in told
            if (TEMPLATES / "methods" / f"{name}.html.j2").is_file()
        ),
        paper="layout_read" in benchmarks,
    )


def _table(
    table: model.Table, run: Run, anchors: Mapping[Any, str], out: Path, folder: str
) -> Shown:
    """Writes the table's files; returns it for the page."""
    source = f"{run.context.device.name}, run {run.context.run}, commit {run.context.build.commit}"
    _save(out / f"tables/{folder}{table.name}.md", tables.markdown(table).encode())
    _save(out / f"tables/{folder}{table.name}.tex", tables.latex(table, source).encode())
    cells = tuple(
        tuple((_linked(cell, anchors), place in table.numeric) for place, cell in enumerate(row))
        for row in table.rows
    )
    return table.title, f"tables/{folder}{table.name}", table.header, cells


def _counts(run: Run, anchors: Mapping[Any, str], out: Path, folder: str) -> Counts:
    check, counters = counted.model_check(run), run.context.counters
    shown = [
        counted.level_table(run),
        counted.traffic_table(run.rows),
        counted.difference_table(check),
    ]
    sentences = (counted.state(counters), counted.proof(run), counted.model_words(check))
    return Counts(
        sentences=tuple(map(without_paths, sentences)),
        tables=tuple(_table(table, run, anchors, out, folder) for table in shown if table),
        absent=tuple(map(without_paths, counters.absent)) if counters else (),
        quantities=tuple((q.name, q.metric, q.unit, q.set, q.meaning) for q in counters.quantities)
        if counters
        else (),
        silent=tuple((case, without_paths(detail)) for case, detail in check.silent),
    )


def _linked(parts: Iterable[str | model.Cited], anchors: Mapping[Any, str]) -> Markup:
    return Markup().join(
        part
        if isinstance(part, str)
        else Markup('<a href="#{}">{}</a>').format(anchors[part.row.key], part.text)
        for part in parts
    )


def _notices(run: Run) -> Iterable[str]:
    """What a reader must know before believing anything on the page."""
    build, context = run.context.build, run.context
    if build.dirty:
        yield (
            "Built from a source tree with uncommitted changes: "
            "the commit alone does not reproduce these numbers."
        )
    if build.commit == "unknown":
        yield "The commit of the harness is unknown."
    if build.build_type not in ("Release", "RelWithDebInfo"):
        yield f"Built as {build.build_type or 'an unnamed build type'}, not as Release."
    if context.state != "complete":
        yield f"The run is {context.state}: what is missing here was not measured."
    if run.table is None:
        yield "measurements.csv is missing; this page was computed from samples.jsonl."
    broken = findings(run)
    if broken:
        shown = "; ".join(without_paths(line) for line in broken[:3])
        more = f"; and {len(broken) - 3} more" if len(broken) > 3 else ""
        yield f"The run folder breaks its contract ({shown}{more}). This page is from the samples."


def _facts(run: Run) -> Iterable[tuple[str, tuple[tuple[str, str], ...]]]:
    """The cards about device, harness, host and sweep: heading, then name and value."""
    context = run.context
    build, device, host, sweep = context.build, context.device, context.host, context.sweep
    yield (
        "Device",
        (
            ("name", device.name),
            ("backend", context.backend),
            *((("uuid", device.uuid),) if device.uuid else ()),
            *_free(device.facts),
        ),
    )
    yield (
        "Harness",
        (
            ("version", build.version),
            ("commit", build.commit),
            ("source tree", "UNCOMMITTED CHANGES" if build.dirty else "clean"),
            ("sources", build.source_digest),
            ("build type", build.build_type),
            ("compiler", without_paths(build.compiler)),
            *(
                (("CUDA compiler", without_paths(build.cuda_compiler)),)
                if build.cuda_compiler
                else ()
            ),
            *((("architectures", build.cuda_architectures),) if build.cuda_architectures else ()),
            ("flags", without_paths(build.flags) or "none"),
            *_free(context.libraries),
        ),
    )
    yield (
        "Conditions",
        (
            ("started", context.started),
            ("finished", context.finished or "not finished"),
            *((f"{name}, before", value) for name, value in _free(context.clocks_before)),
            *((f"{name}, after", value) for name, value in _free(context.clocks_after)),
            *((f"timer: {name}", value) for name, value in _free(context.timer)),
        ),
    )
    yield (
        "Host",
        (
            ("CPU", host.cpu),
            ("cores", f"{host.cores}"),
            ("memory", units.size(host.memory_bytes)),
            ("system", f"{host.os}, kernel {host.kernel}"),
            *(
                (
                    f"L{cache.level} {cache.type}",
                    f"{units.size(cache.bytes)}, lines of {units.size(cache.line_bytes)}",
                )
                for cache in host.caches
            ),
            *_free(host.facts),
        ),
    )
    yield (
        "Sweep",
        (
            ("name", sweep.name),
            ("file", without_paths(sweep.file)),
            ("digest", sweep.digest),
            ("cases", f"{len(sweep.cases)}"),
            *_free(sweep.plan),
            ("command", without_paths(shlex.join(context.command))),
        ),
    )


def _free(facts: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key, value in facts.items():
        yield key.replace("_", " "), without_paths(units.fact(key, value))


def _invalid(
    run: Run, anchors: Mapping[Any, str]
) -> Iterable[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Case, reasons, and the rows (anchor and words) that the reasons make invalid."""
    grouped: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in run.rows:
        if not row.valid:
            words = f"{row.quantity} ({row.method})"
            grouped.setdefault((row.case, row.reasons), []).append((anchors[row.key], words))
    for (case, reasons), rows in grouped.items():
        yield case, without_paths(reasons), tuple(rows)


def _lines(run: Run, anchors: Mapping[Any, str]) -> Iterable[Line]:
    for row in run.rows:
        known = row.ci_low is not None and row.ci_high is not None
        yield Line(
            anchor=anchors[row.key],
            benchmark=row.benchmark,
            params=params_text(row.params, " "),
            quantity=row.quantity,
            method=row.method,
            value=units.quantity(row.value, row.unit),
            exact=row.value,
            interval=units.scaled_span(row.ci_low or 0, row.ci_high or 0, row.unit)
            if known
            else "–",
            span=units.scaled_span(row.minimum, row.maximum, row.unit),
            samples=row.samples,
            valid=row.valid,
        )


def _figures(
    run: Run, key: str, anchors: Mapping[Any, str], out: Path, folder: str
) -> Iterable[Drawn]:
    rows = model.merged([run])
    for figure in figures.discover():
        items = figure.prepare(rows)
        if not items:
            continue
        with figures.style():
            images = figures.images(figures.render(figure, items))
        for suffix, content in images.items():
            _save(out / f"figures/{folder}{figure.name}.{suffix}", content)
        _save(out / f"data/{folder}{figure.name}.csv", _data(figure, items))
        sources = {row.key: row for row in map(figure.source, items)}.values()
        yield Drawn(
            name=figure.name,
            title=figure.title,
            caption=figures.full_caption(figure, items, run.context),
            svg=inline_svg(images["svg"].decode(), f"{key}-{figure.name}-", figure.title),
            stem=f"{folder}{figure.name}",
            rows=tuple((anchors[row.key], params_text(row.params, " ")) for row in sources),
        )


def _data(figure: figures.Figure[Any], items: Sequence[Any]) -> bytes:
    buffer = StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(figure.columns)
    for item in items:
        writer.writerow(
            [f"{cell}".lower() if isinstance(cell, bool) else cell for cell in figure.cells(item)]
        )
    return buffer.getvalue().encode()


def inline_svg(text: str, prefix: str, label: str) -> Markup:
    """An SVG file as an element of a page: scalable, named, its ids made unique by `prefix`."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    head, _, rest = text.partition(">")
    head = re.sub(r'\s(width|height|version)="[^"]*"', "", head)
    name = Markup(' role="img" aria-label="{}">').format(label)
    return Markup(head) + name + Markup(rest.rstrip())  # noqa: S704  (our own drawing)
