"""Write the report of one or several runs: a self-contained page, every figure and table apart.

    report.html               the page: inline SVG, style, script, all rows; it needs no network
    figures/NAME.png|svg|pdf  each figure, to go into a paper or a slide
    tables/NAME.md|tex        each table, as Markdown and for LaTeX (booktabs)
    data/NAME.csv             what each figure shows
    references.bib            what the page cites, for BibTeX

With several runs, `figures`, `tables` and `data` have a folder for each. The same runs give the
same bytes. Nothing is written before everything is made.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from strata import model
from strata.figures._drawing import Drawing, drawn
from strata.model import counted, units
from strata.report import all_rows
from strata.report import formats as tables
from strata.report.citations import Citations
from strata.report.headlines import NAME as HEADLINES
from strata.report.sentences import sentences
from strata.report.tables import tables_of
from strata.run import VERDICTS, Row, Run, params_text
from strata.run.validate import findings, refuse_repeated, refuse_unusable

TEMPLATES = Path(__file__).with_name("templates")

FEW = 40
"""A figure of more rows than these does not list them: a button shows them among all rows."""

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
    caption: Markup
    svg: Markup
    stem: str
    """Path of the figure below its kind of file: `NAME`, or `RUN/NAME` with several runs."""
    count: int
    """How many rows are drawn."""
    rows: tuple[tuple[str, str], ...]
    """Anchor and words of each of them; empty where they are many."""
    spans: str
    """The numbers of the rows, for the table of all rows."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row that a number on the page links to, as text."""

    anchor: str
    number: int
    benchmark: str
    params: str
    quantity: str
    method: str
    value: str
    exact: float
    interval: str
    low: float | None
    span: str
    least: float
    samples: int
    valid: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table; `key` is what it is sorted by, where its text is not that."""

    text: Markup
    numeric: bool
    key: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A table as the page shows it; `stem` is the path of its files without their suffix."""

    title: str
    stem: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


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
    first: tuple[Shown, ...]
    sentences: tuple[Markup, ...]
    tables: tuple[Shown, ...]
    counts: Counts
    figures: tuple[Drawn, ...]
    gates: tuple[tuple[str, tuple[int, ...]], ...]
    invalid: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]
    unmeasured: tuple[tuple[str, str, str], ...]
    pending: int
    invalid_rows: int
    lines: tuple[Line, ...]
    packed: str
    methods: tuple[str, ...]
    paper: bool


# --- writing --------------------------------------------------------------------------------------


def write(runs: Sequence[Run], out: Path) -> Path:
    """Write the report of `runs` into the folder `out`; returns the path of the page.

    Raises `RunError` when a run is given twice or holds nothing that can be shown, OSError when a
    file cannot be written.
    """
    files = make(runs)
    for name, content in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return out / "report.html"


def environment() -> Environment:
    """What makes pages of the templates: texts are escaped, a missing value is an error."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def make(runs: Sequence[Run]) -> dict[str, bytes]:
    """The files of the report of `runs`, by their path below its folder; the page comes last.

    Raises `RunError` as `write` does.
    """
    for run in runs:
        refuse_unusable(run)
    refuse_repeated(runs)
    places = [all_rows.Places(run.rows) for run in runs]
    cites = Citations()
    files: dict[str, bytes] = {}
    with drawn(runs, places) as drawings:
        writers = []
        for number, (run, known) in enumerate(zip(runs, places, strict=True), start=1):
            folder = f"{run.context.run}/" if len(runs) > 1 else ""
            writers.append(_Writer(run, _Links(run, f"r{number}", known, cites), files, folder))
        sections = [writer.section(here) for writer, here in zip(writers, drawings(), strict=True)]
    page = (
        environment()
        .get_template("report.html.j2")
        .render(
            sections=sections, title=_title(runs), verdicts=VERDICTS, cite=cites.cite, cites=cites
        )
    )
    files["references.bib"] = cites.bibtex().encode()
    files["report.html"] = page.encode()
    return files


def _title(runs: Sequence[Run]) -> str:
    devices = dict.fromkeys(run.context.device.name for run in runs)
    return f"Strata: {', '.join(devices)}"


class _Links:
    """The anchors of the rows of one run; what the page links to is remembered."""

    def __init__(self, run: Run, key: str, places: all_rows.Places, cites: Citations) -> None:
        self.key = key
        self.linked: set[int] = set()
        self._run, self._places, self._cites = run, places, cites

    def at(self, place: int) -> str:
        """The anchor of the row at `place`, from 0, which will stand on the page."""
        self.linked.add(place)
        return self.anchor(place)

    def anchor(self, place: int) -> str:
        """The anchor of the row at `place`, from 0."""
        return f"{self.key}-{place + 1}"

    def to(self, row: Row) -> str:
        """The anchor of a row, which will stand on the page."""
        return self.at(self._places.of(row))

    def text(self, text: str) -> Markup:
        """`text` with its citations as links."""
        return self._cites.link(text)

    def sentence(self, parts: Iterable[str | model.Cited]) -> Markup:
        """A sentence with every number and every citation as a link."""
        return Markup().join(
            self.text(part)
            if isinstance(part, str)
            else Markup('<a href="#{}">{}</a>').format(self.to(part.row), part.text)
            for part in parts
        )


class _Writer:
    """Makes the section of one run, and the files that stand beside the page.

    What is not of the figures is made at once: they are drawn meanwhile.
    """

    def __init__(self, run: Run, links: _Links, files: dict[str, bytes], folder: str) -> None:
        self._run, self._links, self._files, self._folder = run, links, files, folder
        self._tables = tuple(map(self._table, tables_of(run)))
        self._sentences = tuple(map(links.sentence, sentences(run)))
        self._counted = self._counts()
        self._gates = tuple(
            (name, tuple(counts[verdict] for verdict in VERDICTS))
            for name, counts in model.gate_counts(run).items()
        )
        self._invalid = tuple(_invalid(run, links))
        self._packed = all_rows.pack(run.rows, without_paths)

    def section(self, drawings: Sequence[Drawing]) -> Section:
        """Everything that the page shows of the run."""
        run, links = self._run, self._links
        shown = tuple(map(self._drawn, drawings))
        return Section(
            key=links.key,
            run=run,
            notices=tuple(_notices(run)),
            facts=tuple(_facts(run)),
            first=tuple(table for table in self._tables if table.stem.endswith(f"/{HEADLINES}")),
            sentences=self._sentences,
            tables=tuple(t for t in self._tables if not t.stem.endswith(f"/{HEADLINES}")),
            counts=self._counted,
            figures=shown,
            gates=self._gates,
            invalid=self._invalid,
            unmeasured=tuple(
                (case.id, case.status, without_paths(case.reason)) for case in model.unmeasured(run)
            ),
            pending=len(model.pending(run)),
            invalid_rows=sum(not row.valid for row in run.rows),
            lines=tuple(_line(run.rows[at], links.anchor(at), at) for at in sorted(links.linked)),
            packed=self._packed,
            methods=self._methods(),
            paper=any(case.benchmark == "layout_read" for case in run.cases),
        )

    def _methods(self) -> tuple[str, ...]:
        """What is told of each benchmark; what all of a suite share, under the suite's name."""
        cases = self._run.cases
        told = [*sorted({one.benchmark for one in cases}), *sorted({one.suite for one in cases})]
        files = [f"methods/{name}.html.j2" for name in told]
        return tuple(name for name in files if (TEMPLATES / name).is_file())

    def _table(self, table: model.Table) -> Shown:
        context = self._run.context
        source = f"{context.device.name}, run {context.run}, commit {context.build.commit}"
        stem = f"tables/{self._folder}{table.name}"
        self._files[f"{stem}.md"] = tables.markdown(table).encode()
        self._files[f"{stem}.tex"] = tables.latex(table, source).encode()
        rows = tuple(
            tuple(
                Cell(self._links.sentence(cell), place in table.numeric, _sort_key(cell))
                for place, cell in enumerate(row)
            )
            for row in table.rows
        )
        return Shown(table.title, stem, table.header, rows)

    def _counts(self) -> Counts:
        run = self._run
        check, counters = counted.model_check(run), run.context.counters
        shown = [
            counted.level_table(run),
            counted.traffic_table(run.rows),
            counted.difference_table(check),
        ]
        said = (counted.state(counters), counted.proof(run), counted.model_words(check))
        return Counts(
            sentences=tuple(map(without_paths, said)),
            tables=tuple(self._table(table) for table in shown if table),
            absent=tuple(map(without_paths, counters.absent)) if counters else (),
            quantities=tuple(
                (q.name, q.metric, q.unit, q.set, q.meaning) for q in counters.quantities
            )
            if counters
            else (),
            silent=tuple((case, without_paths(detail)) for case, detail in check.silent),
        )

    def _drawn(self, drawing: Drawing) -> Drawn:
        rows, links, stem = self._run.rows, self._links, f"{self._folder}{drawing.name}"
        for suffix, content in drawing.images.items():
            self._files[f"figures/{stem}.{suffix}"] = content
        self._files[f"data/{stem}.csv"] = drawing.data
        few = drawing.places if len(drawing.places) <= FEW else ()
        prefix = f"{links.key}-{drawing.name}-"
        return Drawn(
            name=drawing.name,
            title=drawing.title,
            caption=links.text(drawing.caption),
            svg=inline_svg(drawing.images["svg"].decode(), prefix, drawing.title),
            stem=stem,
            count=len(drawing.places),
            rows=tuple(
                (links.at(at), params_text(rows[at].params, " ") or rows[at].benchmark)
                for at in few
            ),
            spans="" if few else all_rows.spans(drawing.places),
        )


def _sort_key(cell: model.Sentence) -> str:
    """The value behind a cell that shows a row's value: 3.35 TB/s comes after 900 GB/s."""
    cited = [part for part in cell if isinstance(part, model.Cited)]
    if len(cited) == 1 and cited[0].text == units.quantity(cited[0].row.value, cited[0].row.unit):
        return f"{cited[0].row.value}"
    return ""


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
            *((("digest", sweep.digest),) if sweep.digest else ()),
            ("cases", f"{len(sweep.cases)}"),
            *_free(sweep.plan),
            ("command", without_paths(shlex.join(context.command))),
        ),
    )


def _free(facts: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key, value in facts.items():
        yield key.replace("_", " "), without_paths(units.fact(key, value))


def _invalid(run: Run, links: _Links) -> Iterable[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Case, reasons, and the rows (anchor and words) that the reasons make invalid."""
    grouped: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for place, row in enumerate(run.rows):
        if not row.valid:
            words = f"{row.quantity} ({row.method})"
            grouped.setdefault((row.case, row.reasons), []).append((links.at(place), words))
    for (case, reasons), rows in grouped.items():
        yield case, without_paths(reasons), tuple(rows)


def _span(low: float | None, high: float | None, unit: str) -> str:
    """An interval with its unit; a dash where there is none."""
    if low is None or high is None:
        return "–"
    _, space, name = units.quantity(max(abs(low), abs(high)), unit).partition(units.SPACE)
    return units.scaled_span(low, high, unit) + space + name


def _line(row: Row, anchor: str, place: int) -> Line:
    return Line(
        anchor=anchor,
        number=place + 1,
        benchmark=row.benchmark,
        params=params_text(row.params, " "),
        quantity=row.quantity,
        method=row.method,
        value=units.quantity(row.value, row.unit),
        exact=row.value,
        interval=_span(row.ci_low, row.ci_high, row.unit),
        low=row.ci_low,
        span=_span(row.minimum, row.maximum, row.unit),
        least=row.minimum,
        samples=row.samples,
        valid=row.valid,
    )


def inline_svg(text: str, prefix: str, label: str) -> Markup:
    """An SVG file as an element of a page: scalable, named, its ids made unique by `prefix`."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    head, _, rest = text.partition(">")
    # Never narrower than it was drawn: a letter of seven points has seven pixels, on a phone too.
    wide = re.search(r'\swidth="([\d.]+)pt"', head)
    least = f' style="min-width: {float(wide[1]):.0f}px"' if wide else ""
    head = re.sub(r'\s(width|height|version)="[^"]*"', "", head) + least
    name = Markup(' role="img" aria-label="{}">').format(label)
    return Markup(head) + name + Markup(rest.rstrip())  # noqa: S704  (our own drawing)
