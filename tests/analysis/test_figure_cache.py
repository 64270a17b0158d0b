"""Figures of a run that did not change come from a cache, which trusts nothing that it reads."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from figure_images import run_of
from plots import plot_named
from strata import figures, reference
from strata.figures import _cache, _drawing
from strata.figures._cache import Drawing
from strata.run import Run, cache
from strata.run.rows import Places

TLB = plot_named("tlb")
RUN = "nvidia-h200-0683d2f"


def drawing(
    run: Run | None = None, formats: Sequence[str] = ("svg",), *, headings: bool = True
) -> Drawing:
    run = run or run_of(RUN)
    with _drawing.drawn([run], [Places(run.rows)], formats, headings=headings) as drawings:
        ((found,),) = drawings()
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRATA_CACHE", f"{tmp_path / 'figures'}")
    return tmp_path / "figures"


@pytest.fixture(autouse=True)
def pictures(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the figures that are drawn, of the only one that is known."""
    names, picture = list[str](), _drawing.picture

    def noted(*of: object, **how: object) -> object:
        names.append(of[0].name)  # type: ignore[attr-defined]
        return picture(*of, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(_drawing, "picture", noted)
    monkeypatch.setattr(figures, "discover", lambda: [TLB])
    return names


def test_a_figure_is_drawn_once_and_then_the_same(folder: Path, pictures: list[str]) -> None:
    assert drawing() == drawing()
    assert pictures == ["tlb"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert drawing(formats=("svg", "png")).inline == drawing(headings=False).inline
    assert pictures == ["tlb"] * 3


def test_a_fact_beyond_64_bits_is_no_fault(folder: Path) -> None:
    run = run_of(RUN)
    facts = {**run.context.device.facts, "large": 2**70}
    device = replace(run.context.device, facts=facts)
    assert drawing(replace(run, context=replace(run.context, device=device))) == drawing()
    assert len([*folder.iterdir()]) == 2


def changed(run: Run, **row: object) -> Run:
    """The run with another first row."""
    return replace(run, rows=(replace(run.rows[0], **row), *run.rows[1:]))


@pytest.mark.parametrize(
    "change",
    [
        lambda run: changed(run, value=run.rows[0].value * (1 + 1e-15)),
        lambda run: changed(run, taken=(*run.rows[0].taken[:-1], 1.0)),
        lambda run: changed(run, valid=not run.rows[0].valid),
        lambda run: replace(run, rows=run.rows[:-1]),
        lambda run: replace(run, cases=run.cases[:-1]),
        lambda run: replace(run, context=replace(run.context, run="another")),
    ],
)
def test_another_run_is_drawn(
    folder: Path, pictures: list[str], change: Callable[[Run], Run]
) -> None:
    drawing()
    drawing(change(run_of(RUN)))
    assert pictures == ["tlb", "tlb"]
    assert len([*folder.iterdir()]) == 2


@pytest.mark.usefixtures("folder")
def test_other_code_or_libraries_are_drawn(
    pictures: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing()
    monkeypatch.setattr(_cache, "_code", lambda: "changed")
    drawing()
    assert pictures == ["tlb", "tlb"]


def test_the_code_includes_the_published_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _cache._code.__wrapped__()
    (tmp_path / "latency.csv").write_text("changed")
    monkeypatch.setattr(reference, "folder", lambda: tmp_path)
    assert _cache._code.__wrapped__() != before


def test_a_figure_that_failed_is_drawn_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as failing:
        failing.setattr(_drawing, "picture", lambda *_, **__: 1 / 0)
        assert drawing().failure
    assert not [*folder.glob("*")]
    assert not drawing().failure


@pytest.mark.parametrize(
    "damage",
    [
        lambda content, _: content[:0],
        lambda content, _: content[:-9],
        lambda content, _: content.replace(b"<svg", b"<sv\0"),
        lambda content, _: os.urandom(len(content)),
        lambda content, name: cache.sealed(name, content[cache.DIGEST :][:90]),
    ],
)
def test_a_damaged_entry_is_drawn_anew(folder: Path, pictures: list[str], damage: object) -> None:
    wanted = drawing()
    (entry,) = folder.iterdir()
    entry.write_bytes(damage(entry.read_bytes(), entry.name))  # type: ignore[operator]
    assert drawing() == wanted == drawing()
    assert pictures == ["tlb", "tlb"]


def test_the_entry_of_another_run_is_not_used(folder: Path, pictures: list[str]) -> None:
    drawing()
    drawing(formats=("pdf",))
    one, other = folder.iterdir()
    one.write_bytes(other.read_bytes())
    assert [*drawing().images] == ["svg"]
    assert [*drawing(formats=("pdf",)).images] == ["pdf"]
    assert len(pictures) == 3


def test_a_folder_that_others_can_write_to_is_not_used(folder: Path, pictures: list[str]) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    drawing(), drawing()
    assert len(pictures) == 2
    assert not [*folder.iterdir()]


def test_the_oldest_entries_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing()
    (first,) = folder.iterdir()
    os.utime(first, (1, 1))
    monkeypatch.setattr(cache, "MOST", 1.5 * first.stat().st_size)
    drawing(formats=("svg", "svg"))
    (kept,) = folder.iterdir()
    assert kept != first


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}")
    monkeypatch.setenv("STRATA_CACHE", "")
    drawing()
    assert not [*tmp_path.iterdir()]
    monkeypatch.delenv("STRATA_CACHE")
    drawing()
    assert len([*(tmp_path / "strata").iterdir()]) == 1
