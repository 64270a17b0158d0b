"""Words and tables of runs against stored texts: any change of a number or word shows.

After an intended change write the texts again by the command of the failure; git shows the change.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import ladder_run
from builders import COUNTED_RUN, DATA, GPU_RUN, HOST_RUN
from strata.ladder.steps import changes
from strata.model import agreement, counted, plain, tables
from strata.model.hierarchy import hierarchy
from strata.model.truth import fallen, judged, load_run
from strata.report import headlines, map_text, sentences
from strata.report import tables as report_tables
from strata.roofline.forms import FLOP, INSTRUCTION
from strata.roofline.verdicts import entries, lacking, problems, table
from strata.run import Run

TEXTS = DATA / "texts"
AGAIN = "PYTHONPATH=analysis/src:tests/analysis python tests/analysis/test_texts.py"
H100 = (
    DATA.parents[1] / "results/nvidia-h100-80gb-hbm3/nvidia-h100-80gb-hbm3-20261128T144347Z-c2fdf95"
)
RUNS = {path.name: path for path in (GPU_RUN, HOST_RUN, COUNTED_RUN, *DATA.glob("excerpt-*"), H100)}
MADE = {"ladder-gpu": ladder_run.gpu_run, "ladder-host": ladder_run.host_run}


def loaded(name: str, folder: Path) -> Run:
    return judged(MADE[name](folder)) if name in MADE else load_run(RUNS[name])


def parts(run: Run) -> Iterator[str]:
    """Sentences, tables, the map, counts, steps and rooflines."""
    yield from (f"{part}" for part in fallen(run))
    yield from map(plain, sentences.sentences(run))
    yield tables.markdown(headlines.table(run))
    yield from (tables.markdown(one) for _, one in report_tables.tables_of(run))
    yield map_text.text([hierarchy(run)], notes=True)
    check = counted.model_check(run)
    yield from (counted.proof(run), counted.state(run.context.counters), counted.model_words(check))
    found = [make(run) for make in counted.TABLES] + [counted.difference_table(check)]
    yield from (tables.markdown(one) for one in found if one)
    yield agreement.sentence(run)
    for change in changes(run):
        factors = {name: f"{factor:.4g}" for name, factor in change.factors.items()}
        words = f"{change.rung} {change.problem}: {change.measured:.4g} = {factors}"
        rule = change.prediction and f"{change.prediction.rule} {change.prediction.value:.4g}"
        yield f"{words}, predicted {rule}; {plain(change.moved)}"
    yield from (f"{lack.found}: {lack.fix}" for lack in lacking(run))
    for form in (FLOP, INSTRUCTION):
        if lines := entries([run], form):
            yield tables.markdown(table(lines, form))
            yield from problems(lines)


def text_of(run: Run) -> str:
    return "\n\n".join(filter(None, parts(run))) + "\n"


@pytest.mark.parametrize("name", [*RUNS, *MADE])
def test_the_text_of_a_run_is_the_stored_one(name: str, tmp_path: Path) -> None:
    stored = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    assert text_of(loaded(name, tmp_path)).splitlines() == stored.splitlines(), AGAIN


if __name__ == "__main__":
    TEXTS.mkdir(exist_ok=True)
    for name in (*RUNS, *MADE):
        with tempfile.TemporaryDirectory() as folder:
            text = text_of(loaded(name, Path(folder)))
        (TEXTS / f"{name}.txt").write_text(text, encoding="utf-8")
