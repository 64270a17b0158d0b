"""The figure that CONTRIBUTING shows: one short file, found, drawn and written as it is."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from builders import DATA
from charts import chart_of, data_of, panels, values
from strata import figures
from strata.figures._images import images
from strata.run import load_run

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
BLOCK = re.compile(
    r"^```python analysis/src/(strata/figures/(\w+)\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def test_the_figure_of_the_page_takes_one_short_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, name, code),) = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(code.splitlines()) <= 40
    (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    figures.by_module.cache_clear()
    try:
        assert name in [figure.name for figure in figures.discover()]
        figure = importlib.import_module(f"strata.figures.{name}").FIGURE
        run = load_run(next(DATA.glob("excerpt-nvidia-h200-*-0683d2f")))
        rows = figure.items(run)
        (panel,) = panels(chart_of(figure, run))
        assert values(panel) == [row.value / 1e-6 for row in rows]
        assert [line["case"] for line in data_of(figure, run)] == [row.case for row in rows]
        assert images(figure.chart(rows))["svg"]
    finally:
        figures.by_module.cache_clear()
        sys.modules.pop(f"strata.figures.{name}", None)
