"""The figure that CONTRIBUTING shows: one short file, found, drawn and written as it is."""

import re
import sys
from pathlib import Path

import pytest

from builders import DATA
from charts import data_of
from plots import bars_of, check_texts_of, plot_named, plotted, silent_of
from strata import figures
from strata.figures._plot import FIGURES
from strata.run import load_run

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
BLOCK = re.compile(
    r"^```python analysis/src/(strata/figures/(\w+)\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def test_the_figure_of_the_page_takes_one_short_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, name, code),) = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(code.splitlines()) <= 30
    (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    figures.by_module.cache_clear()
    try:
        assert name in [figure.name for figure in figures.discover()]
        figure = plot_named(name)
        run = load_run(next(DATA.glob("excerpt-nvidia-h200-*-0683d2f")))
        data = figure.data(run)
        with plotted(figure, run) as drawn:
            assert [bar.get_width() for bar in bars_of(drawn)] == [*(1e6 * data.seconds)]
            assert silent_of(drawn) == []
            check_texts_of(drawn)
        assert [line["case"] for line in data_of(figure, run)] == [*data.case]
    finally:
        figures.by_module.cache_clear()
        FIGURES.pop(name, None)
        sys.modules.pop(f"strata.figures.{name}", None)
