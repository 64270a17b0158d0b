"""Figures that did not change come from a cache, which trusts nothing that it reads."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from figure_images import run_of
from plots import plot_named
from strata.figures import _cache, _drawing
from strata.figures._drawing import Drawing
from strata.run import Run, cache
from strata.run.rows import Places

TLB = plot_named("tlb")
RUN = "nvidia-h200-0683d2f"


def drawing(run: Run | None = None, formats: Sequence[str] = ("svg",)) -> Drawing:
    run = run or run_of(RUN)
    found = _drawing.draw(TLB, run, Places(run.rows), formats, headings=True)
    assert found
    assert not found.failure
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRATA_CACHE", f"{tmp_path / 'figures'}")
    return tmp_path / "figures"


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the figures that are drawn."""
    names, picture = list[str](), _drawing.picture

    def noted(*of: object, **how: object) -> object:
        names.append(of[0].name)  # type: ignore[attr-defined]
        return picture(*of, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(_drawing, "picture", noted)
    return names


def test_a_figure_is_drawn_once_and_then_the_same(folder: Path, pictures: list[str]) -> None:
    assert drawing() == drawing()
    assert pictures == ["tlb"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert drawing(formats=("svg", "png")).inline == drawing().inline
    assert pictures == ["tlb", "tlb"]


def test_other_data_code_or_libraries_are_drawn(
    folder: Path, pictures: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = TLB.data(run_of(RUN))
    keys = {_cache.key_of(data), _cache.key_of(data.assign(low=1.0)), _cache.key_of(data, "title")}
    drawing()
    monkeypatch.setattr(_cache, "_code", lambda: "changed")
    keys.add(_cache.key_of(data))
    drawing()
    assert len(keys) == 4
    assert pictures == ["tlb", "tlb"]
    assert len([*folder.iterdir()]) == 2


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


def test_the_entry_of_another_figure_is_not_used(folder: Path, pictures: list[str]) -> None:
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
