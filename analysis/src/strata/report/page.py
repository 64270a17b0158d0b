"""Write the report of one or several runs: a self-contained page, and figures and tables as files.

    report.html               the page: inline SVG, style, script, all rows; it needs no network
    figures/NAME.svg          each figure, also as png and pdf on request
    tables/NAME.md|tex        each table, as Markdown and for LaTeX (booktabs)
    data/NAME.csv             the data of each figure
    references.bib            the sources that the page cites, for BibTeX

With several runs, `figures`, `tables` and `data` have a folder for each. The same runs give the
same bytes. Nothing is written before everything is made.
"""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from strata import figures
from strata.figures._cache import Drawing
from strata.figures._drawing import drawn
from strata.figures._plot import FORMATS
from strata.model import counted, tables, units
from strata.model.text import Cited, Sentence, Table
from strata.report import all_rows, headlines, sentences
from strata.report.attempt import attempt, left_out
from strata.report.citations import Citations
from strata.report.questions import AS_FILES, QUESTIONS, question_of
from strata.report.tables import made, tables_of
from strata.run import VERDICTS, Run, Verdict, grouped, params_text
from strata.run.files import write_files
from strata.run.private import without_paths
from strata.run.rows import Places
from strata.run.schema import Host
from strata.run.validate import findings, refuse_repeated, refuse_unusable

T = TypeVar("T")
U = TypeVar("U")

TEMPLATES = Path(__file__).with_name("templates")
MAP = "hierarchy_map"
"""The figure above all questions, where a run has it."""
ALWAYS = "trust"
"""A question that is answered without a figure, a table or a sentence, too."""
FEW = 40
"""A figure of more rows does not list them: a button shows them among all rows."""
MOST = 8
"""Of the rows of a benchmark that are invalid for one reason these are linked: it has hundreds."""
LARGER = 1.6
"""CSS pixels per point of a figure, at most: letters of 7 points have 11 pixels."""
OPENING = 520
"""Letters of a caption beside its figure; the sentences behind them are folded."""


def write(
    runs: Sequence[Run], out: Path, formats: Sequence[str] = FORMATS, *, headings: bool = True
) -> Path:
    """Write the report of `runs` into the folder `out`; returns the path of the page.

    Without `headings` the image files do not identify device and run. Raises `RunError` if a run is
    given twice or has nothing to show, OSError if a file cannot be written.
    """
    write_files(out, make(runs, formats, headings=headings))
    return out / "report.html"


def environment() -> Environment:
    """The template environment: texts are escaped, a missing value is an error."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip


def make(
    runs: Sequence[Run], formats: Sequence[str] = FORMATS, *, headings: bool = True
) -> dict[str, bytes]:
    """The files of the report of `runs`, by their path in its folder; the page comes last.

    Raises `RunError` like `write`.
    """
    refuse_repeated(runs)
    for run in runs:
        refuse_unusable(run)
    places = [Places(run.rows) for run in runs]
    cites, files, sections = Citations(), dict[str, bytes](), list[Section]()
    with drawn(runs, places, formats, headings=headings) as drawings:
        for number, (run, known) in enumerate(zip(runs, places, strict=True), start=1):
            folder = f"{run.context.run}/" if len(runs) > 1 else ""
            shown = Section(run, f"r{number}", known, cites=cites, files=files, folder=folder)
            sections.append(shown)
        for section, here in zip(sections, drawings(), strict=True):
            section.show(here)
    devices = dict.fromkeys(run.context.device.name for run in runs)
    templates = environment()
    templates.filters["without_paths"] = without_paths
    templates.globals |= {name: getattr(units, name) for name in ("quantity", "interval", "size")}
    templates.globals |= {"free": _free, "caches": _caches, "params_text": params_text}
    page = templates.get_template("report.html.j2").render(
        sections=sections, title=f"Strata: {', '.join(devices)}", verdicts=VERDICTS, cites=cites,
        cite=cites.cite, command=shlex.join, spans=all_rows.spans, few=FEW, most=MOST,
    )  # fmt: skip
    return files | {"references.bib": cites.bibtex().encode(), "report.html": page.encode()}


class Section:
    """One run as the template shows it; rows that are linked appear on the page.

    Everything except figures is made at once, while they are drawn. `invalid`: places of such rows,
    grouped by benchmark if their reasons differ only in numbers.
    """

    def __init__(
        self, run: Run, key: str, places: Places, *, cites: Citations, files: dict[str, bytes],
        folder: str,
    ) -> None:  # fmt: skip
        self.run, self.key = run, key
        self._places, self._cites, self._files, self._folder = places, cites, files, folder
        self.linked: set[int] = set()
        self.map: Mapping[str, Any] | None = None
        self.questions: list[Mapping[str, Any]] = []
        self.notices = _notices(run)
        self.gates = gate_counts(run)
        self.unmeasured = [case for case in run.cases if case.status != "measured"]
        invalid = [place for place, row in enumerate(run.rows) if not row.valid]
        self.invalid = sorted(grouped(invalid, self._why).values(), key=len, reverse=True)
        first = headlines.headlines(run, self.notices)
        self.first = self._each(self._table, [headlines.table(run, first)])
        self.numbers = self._each(self._headline, [one for one in first if not one.trust])
        self.trust = self._each(self._headline, [one for one in first if one.trust])
        parts = sentences.by_part(run, self.notices).items()
        self._sentences = [(part, self._each(self.sentence, found)) for part, found in parts]
        found = tables_of(run, self.notices)
        self._tables = [(order, self._each(self._table, [table])) for order, table in found]
        self.check = counted.model_check(run)
        about = (counted.state(run.context.counters), counted.proof(run))
        self.counted_state = (*about, counted.model_words(self.check))
        makers = (*counted.TABLES, lambda _: counted.difference_table(self.check))
        self.counted = self._each(self._table, made(makers, run, self.notices))
        self.packed = all_rows.pack(run.rows, without_paths)
        # The texts of each benchmark; those shared by a suite are under its name.
        names = ({case.benchmark for case in run.cases}, {case.suite for case in run.cases})
        methods = (f"methods/{name}.html.j2" for group in names for name in sorted(group))
        self.methods = tuple(name for name in methods if (TEMPLATES / name).is_file())

    def _why(self, place: int) -> tuple[str, str]:
        row = self.run.rows[place]
        return row.benchmark, re.sub(r"\d[\d.]*", "…", row.reasons)

    def show(self, drawings: Sequence[Drawing]) -> None:
        """Add the figures: those that answer a question, those of papers, and others as files."""
        for drawing in drawings:
            if drawing.failure:
                left_out(f"{drawing.title!r}", drawing.failure, self.notices)
        shown = self._each(self._figure, [one for one in drawings if not one.failure])
        self.map = next((one for one in shown if one["kind"] == "map"), None)
        items: list[tuple[int | str, str, Any]] = []
        items += [(one["drawing"].order, one["kind"], one) for one in shown]
        items += [(order, "tables", one) for order, found in self._tables for one in found]
        items += [(part, "sentences", one) for part, found in self._sentences for one in found]
        of_question = grouped(items, lambda item: question_of(item[0]))
        for question in QUESTIONS:
            kinds = grouped(of_question.get(question, ()), lambda item: item[1])
            answers = {
                kind: [one for *_, one in kinds.get(kind, ())]
                for kind in ("sentences", "figures", "papers", "files", "tables")
            }
            if any(answers.values()) or question.key == ALWAYS:
                self.questions.append({"question": question, **answers})

    def _headline(self, one: headlines.Headline) -> tuple[str, Markup, Markup]:
        return one.what, self.sentence(one.value), self.sentence(one.remark)

    def at(self, place: int) -> str:
        """The anchor of the row at `place`, from 0, which will be on the page."""
        self.linked.add(place)
        return f"{self.key}-{place + 1}"

    def sentence(self, parts: Sentence) -> Markup:
        """A sentence with every number and every citation as a link."""
        link = Markup('<a href="#{}">{}</a>').format
        return Markup().join(
            self._cites.link(part)
            if isinstance(part, str)
            else link(self.at(self._places.of(part.row)), part.text)
            for part in parts
        )

    def _each(self, show: Callable[[T], U], things: Iterable[T]) -> list[U]:
        """The results of `show` for each item; failures are left out and named."""
        results = []
        for thing in things:
            with attempt(f"{getattr(thing, 'title', 'A sentence')!r}", self.notices):
                results.append(show(thing))
        return results

    def _table(self, table: Table) -> Mapping[str, Any]:
        context = self.run.context
        source = f"{context.device.name}, run {context.run}, commit {context.build.commit}"
        stem = f"tables/{self._folder}{table.name}"
        self._files[f"{stem}.md"] = tables.markdown(table).encode()
        self._files[f"{stem}.tex"] = tables.latex(table, source).encode()
        rows = [[(self.sentence(cell), _sort_key(cell)) for cell in row] for row in table.rows]
        return {"table": table, "stem": stem, "rows": rows}

    def _figure(self, drawing: Drawing) -> Mapping[str, Any]:
        stem, name = f"{self._folder}{drawing.name}", drawing.name
        svg = inline_svg(drawing.inline, f"{self.key}-{name}-", drawing.title, drawing.hits)
        for suffix, content in drawing.images.items():
            self._files[f"figures/{stem}.{suffix}"] = content
        self._files[f"data/{stem}.csv"] = drawing.data
        plot = figures.named(name)
        kind = "papers" if plot and plot.paper else "files" if name in AS_FILES else "figures"
        kind = "map" if name == MAP else kind
        caption = [] if kind == "files" else map(self._cites.link, opening(drawing.caption))
        return {"drawing": drawing, "stem": stem, "svg": svg, "caption": [*caption], "kind": kind}


def gate_counts(run: Run) -> Mapping[str, Counter[Verdict]]:
    """The counts of each verdict per gate: cases for case gates, rows for the noise gate."""
    counts = defaultdict(Counter[Verdict], noise=Counter(row.noise for row in run.rows))
    for case in run.cases:
        for gate in case.gates:
            counts[gate.name][gate.verdict] += 1
    return dict(sorted(counts.items()))


def opening(caption: str) -> list[str]:
    """A caption, or the first sentences of a long one, and the rest of it."""
    ends = [found.end() for found in re.finditer(r"\. (?=[A-Z])", caption[:OPENING])]
    if len(caption) <= 1.2 * OPENING or not ends:
        return [caption]
    return [caption[: ends[-1]], caption[ends[-1] :]]


def _sort_key(cell: Sentence) -> str:
    """The sort key of a cell with a row: 3.35 TB/s comes after 900 GB/s."""
    cited = [part for part in cell if isinstance(part, Cited)]
    if len(cited) == 1 and cited[0].text == units.quantity(cited[0].row.value, cited[0].row.unit):
        return f"{cited[0].row.value}"
    return ""


def _notices(run: Run) -> list[str]:
    """The warnings at the top of the page."""
    build, state, found = run.context.build, run.context.state, findings(run)
    shown = "; ".join(without_paths(line) for line in found[:3])
    broken = f"{shown}; and {len(found) - 3} more" if len(found) > 3 else shown
    notices = {
        "Built from a source tree with uncommitted changes: the commit alone does not "
        "reproduce these numbers.": build.dirty,
        "The commit of the harness is unknown.": build.commit == "unknown",
        f"Built as {build.build_type or 'an unnamed build type'}, not as Release.":
            build.build_type not in ("Release", "RelWithDebInfo"),
        f"The run is {state}: results missing here were not measured.": state != "complete",
        "measurements.csv is missing; this page was computed from samples.jsonl.":
            run.table is None,
        f"The run folder violates its contract ({broken}). This page uses the samples.": found,
    }  # fmt: skip
    return [words for words, applies in notices.items() if applies]


def _caches(host: Host) -> list[tuple[str, str]]:
    """The caches of the host in words, each with its name."""
    sizes = ((one, units.size(one.bytes), units.size(one.line_bytes)) for one in host.caches)
    return [(f"L{one.level} {one.type}", f"{size}, lines of {line}") for one, size, line in sizes]


def _free(facts: Mapping[str, Any], name: str = "{}") -> list[tuple[str, str]]:
    """Free-form facts; `name` is where their own name is inserted."""
    return [(name.format(key.replace("_", " ")), units.fact(key, facts[key])) for key in facts]


def inline_svg(text: str, prefix: str, label: str, hits: str = "") -> Markup:
    """An SVG file as an element of a page: scalable, named, with ids made unique by `prefix`.

    `hits` are the positions of rows for the script, as in `Drawing`.
    """
    text = text[text.index("<svg") :]
    for before in (' id="', "url(#", 'xlink:href="#'):
        text = text.replace(before, before + prefix)
    head, _, rest = text.partition(">")
    width = float(re.findall(r'\swidth="([\d.]+)pt"', head)[0])
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    head += f' style="max-width: {LARGER * width:.0f}px"'
    name = Markup(' role="img" aria-label="{}" data-hits="{}">').format(label, hits)
    return Markup(head) + name + Markup(rest.rstrip())  # noqa: S704  (our own drawing)
