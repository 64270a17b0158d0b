"""From a chart to a sheet and from there to files: the places of everything, and the bytes."""

import math
import re
import zlib
from collections.abc import Callable
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from builders import layout_case, load
from charts import check_drawing
from strata.figures._chart import (
    GREY,
    INK,
    Arrow,
    Axis,
    Bars,
    Chart,
    Layer,
    Look,
    Mark,
    Panel,
    Rule,
    Series,
    Shade,
    Words,
    names_axis,
)
from strata.figures._draw import draw
from strata.figures._images import DPI, files, images
from strata.figures._letters import width_of
from strata.figures._panel import MANY
from strata.figures._pdf import pdf
from strata.figures._sheet import Box, Dots, Shape, Sheet, Text
from strata.figures._svg import svg

SVG = "{http://www.w3.org/2000/svg}"
LINE, DOT = Look("#111111", line="-"), Look("#222222", marker="o")


def one(panel: Panel, width: float, height: float) -> Chart:
    """A chart of one panel."""
    return Chart([[panel]], width, height)


def dots(sheet: Sheet) -> list[tuple[float, float]]:
    """Where the markers of `DOT` are."""
    found = [
        thing for thing in sheet.things if isinstance(thing, Dots) and thing.colour == DOT.colour
    ]
    return [point for thing in found for point in thing.points]


def panel_of(values: Axis, places: Axis | None = None, *, sideways: bool = False) -> Panel:
    """Marks at 1, 2 and 4, whose values are 1, 10 and 100."""
    marks = [Mark(1, 1), Mark(2, 10), Mark(4, 100)]
    return Panel([Series(marks, DOT)], places or Axis(), values, sideways=sideways)


@pytest.mark.parametrize("sideways", [False, True])
def test_decades_are_apart_alike(sideways: bool) -> None:  # noqa: FBT001
    panel = panel_of(Axis(scale="log"), Axis(scale="log2"), sideways=sideways)
    first, second, third = dots(draw(one(panel, width=4, height=3)))
    for axis in (0, 1):
        assert second[axis] - first[axis] == pytest.approx(third[axis] - second[axis])
    assert third[0] > first[0]
    assert (third[1] < first[1]) == sideways  # names go down, values go right


def test_an_axis_through_zero_is_linear_around_it() -> None:
    marks = [Mark(at, 1) for at in (-2, -1, 0, 1, 2)]
    panel = Panel([Series(marks, DOT)], Axis(scale="symlog2", limits=(-4, 4)))
    xs = [x for x, _ in dots(draw(one(panel, width=4, height=3)))]
    steps = [two - one_ for one_, two in pairwise(xs)]
    assert steps == pytest.approx([steps[0], 2 * steps[0], 2 * steps[0], steps[0]])


def test_a_bar_from_nothing_reaches_the_edge_of_a_logarithmic_axis() -> None:
    panel = Panel([Bars([Mark(0, 10)], LINE)], names_axis(["a"]), Axis(scale="log"))
    (bar,) = [thing for thing in draw(one(panel, width=4, height=3)).things if bars(thing)]
    assert isinstance(bar, Shape)
    assert bar.clip
    assert min(y for _, y in bar.lines[0]) < bar.clip.y0


def bars(thing: object) -> bool:
    return isinstance(thing, Shape) and thing.colour == LINE.colour


def test_what_is_invalid_is_hollow_and_not_joined() -> None:
    marks = [Mark(1, 1), Mark(2, 5, valid=False), Mark(3, 2)]
    look = Look("#111111", marker="o", line="-")
    chart = one(Panel([Series(marks, look, "some")]), width=4, height=3)
    sheet = check_drawing(chart)
    (line,) = [
        t
        for t in sheet.things
        if isinstance(t, Shape)
        and t.width == look.width
        and bars(t)
        and len(t.lines[0]) == 2
        and t.lines[0][0][1] != t.lines[0][1][1]
    ]
    hollow = [t for t in sheet.things if isinstance(t, Dots) and t.fill == "white"]
    assert len(line.lines[0]) == 2
    assert [len(t.points) for t in hollow] == [1, 1]  # and its sign in the legend
    assert "invalid (hollow)" in [text.text for text in sheet.texts]


def drawn(
    layer: Layer,
) -> tuple[list[Shape], list[Text], Callable[[float, float], list[Any]]]:
    """The shapes and words of one layer, and where a place (0 to 4) and a value (0 to 20) lie."""
    axes = Axis(limits=(0, 4), ticks=()), Axis(limits=(0, 20), ticks=())
    edge = Rule(0, Look("#333333"))
    sheet = draw(one(Panel([edge, layer], *axes), width=4, height=3))
    shapes = [thing for thing in sheet.things if isinstance(thing, Shape)]
    (frame,) = [shape.clip for shape in shapes if shape.colour == "#333333"]
    assert frame

    def at(place: float, value: float) -> list[Any]:
        x, y = frame.x0 + frame.width * place / 4, frame.y0 + frame.height * value / 20
        return [pytest.approx(x), pytest.approx(y)]

    return [shape for shape in shapes if shape.clip in (frame, None)], sheet.texts, at


def test_bars_run_from_their_start_and_are_hollow_without_a_range_where_invalid() -> None:
    marks = [Mark(1, 10, 8, 12, start=4), Mark(3, 5, 2, 9, valid=False)]
    shapes, _, at = drawn(Bars(marks, LINE, spread="bar", thick=0.5))
    sound, hollow = [shape for shape in shapes if shape.colour == LINE.colour]
    assert (sound.fill, sound.line, hollow.fill, hollow.line) == (
        LINE.colour,
        "-",
        "white",
        "--",
    )
    corners = sound.lines[0]
    assert [min(ends) for ends in zip(*corners, strict=True)] == at(0.75, 4)
    assert [max(ends) for ends in zip(*corners, strict=True)] == at(1.25, 10)
    (ranges,) = [shape.lines for shape in shapes if shape.colour == INK and shape.width == 1.1]
    assert [[list(end) for end in line] for line in ranges] == [[at(1, 8), at(1, 12)]]


def test_words_stand_above_all_of_a_mark_and_are_grey_where_it_is_invalid() -> None:
    marks = [Mark(1, 5, 4, 9, words="one"), Mark(3, 5, words="two", valid=False)]
    _, texts, at = drawn(Bars(marks, LINE))
    first, second = (text for text in texts if text.text in ("one", "two"))
    assert [first.x, first.y - 2] == at(1, 9)
    assert (first.colour, second.colour) == (INK, GREY)


def test_rules_shades_and_arrows_reach_from_end_to_end() -> None:
    shapes, _, at = drawn(Rule(1, LINE, of="place"))
    (rule,) = [shape for shape in shapes if shape.colour == LINE.colour]
    assert [list(end) for end in sorted(rule.lines[0])] == [at(1, 0), at(1, 20)]
    shapes, _, at = drawn(Shade(2, 6, "#abcdef"))
    (shade,) = [shape for shape in shapes if shape.colour == "#abcdef"]
    ends = [list(corner) for corner in sorted(shade.lines[0])]
    assert (ends[0], ends[-1]) == (at(0, 2), at(4, 6))
    shapes, _, at = drawn(Arrow((1, 5), (3, 15), LINE))
    (arrow,) = [shape for shape in shapes if shape.colour == LINE.colour]
    assert [list(line[len(line) // 2]) for line in arrow.lines[1:]] == [
        at(1, 5),
        at(3, 15),
    ]


def test_words_find_room_and_panels_of_one_scale_keep_it() -> None:
    first = Panel([Bars([Mark(0, 10, words="ten of them\nor so")], LINE)], names_axis(["a"]))
    other = Panel([Series([Mark(0, 10)], DOT)], names_axis(["a"]))
    sheet = check_drawing(Chart([[first, other]], width=6, height=2, share="row"))
    (words,) = [text for text in sheet.texts if text.text.startswith("ten")]
    (bar,) = [
        thing for thing in sheet.things if bars(thing) and isinstance(thing, Shape) and thing.fill
    ]
    assert isinstance(bar, Shape)
    assert bar.clip
    assert words.box.y1 <= bar.clip.y1
    ((_, up),) = dots(sheet)
    assert up == pytest.approx(max(y for _, y in bar.lines[0]))


def test_names_with_leaders_stand_apart() -> None:
    beside = [(value, f"name {value}", "#000000") for value in (51.0, 50.0, 50.5)]
    panel = Panel([Series([Mark(1, 0), Mark(2, 100)], DOT)], beside=beside, leaders=True)
    sheet = check_drawing(one(panel, width=4, height=3))
    names = {text.y: text.text for text in sheet.texts}
    values = {text: value for value, text, _ in beside}
    (lines,) = (
        thing.lines for thing in sheet.things if isinstance(thing, Shape) and thing.width == 0.5
    )
    led = [names[end[1]] for _, end in sorted(lines, key=lambda line: line[0][1])]
    assert led == sorted(led, key=values.__getitem__)


def test_words_along_a_line_are_as_steep_as_it() -> None:
    words = Words(2, 20, "along", slope=10)
    panel = Panel([words, *panel_of(Axis()).layers], Axis(scale="log"), Axis(scale="log"))
    sheet = draw(one(panel, width=4, height=4))
    (text,) = [text for text in sheet.texts if text.text == "along"]
    (x0, y0), _, (x1, y1) = dots(sheet)
    decades = (y1 - y0) / 2 / ((x1 - x0) / math.log10(4))
    assert text.turned == pytest.approx(math.degrees(math.atan(decades)), abs=0.01)


def test_turned_words_stand_around_their_point() -> None:
    level = Text(100, 50, "some words", 10, across="right", up="top")
    assert (level.box.x1, level.box.y1) == pytest.approx((100, 50))
    turned = Text(100, 50, "some words", 10, across="right", up="top", turned=90)
    assert (turned.box.y1, turned.box.x0) == pytest.approx((50, 100))
    assert turned.box.height == pytest.approx(level.box.width)
    lines = list(Text(0, 0, "one\n\nthree", 10, up="center").lines)
    assert [line for *_, line in lines] == ["one", "three"]
    assert lines[0][1] - lines[1][1] == pytest.approx(24)


def test_files_have_the_size_of_the_chart_and_always_the_same_bytes() -> None:
    chart = one(panel_of(Axis(label="cycles")), width=4, height=3)
    found = images(chart)
    with Image.open(BytesIO(found["png"])) as image:
        assert image.size == (4 * DPI, 3 * DPI)
    assert b'width="288pt" height="216pt"' in found["svg"]
    assert found["pdf"].startswith(b"%PDF")
    assert images(chart) == found


def test_many_marks_are_an_image_in_the_pdf_and_few_bytes_each_in_the_svg() -> None:
    marks = [Mark(at, at % 17) for at in range(MANY + 1)]
    chart = one(Panel([Series(marks, DOT)]), width=4, height=3)
    few = one(Panel([Series(marks[:-1], DOT)]), width=4, height=3)
    assert b"/Subtype /Image" in images(chart)["pdf"]
    assert b"/Subtype /Image" not in images(few)["pdf"]
    bare = images(one(Panel([Series(marks[:1], DOT)]), width=4, height=3))["svg"]
    assert len(images(chart)["svg"]) < len(bare) + 15 * len(marks)


def test_the_svg_holds_marks_lines_and_words_where_the_sheet_has_them() -> None:
    marks = [Mark(1, 1), Mark(2, 10), Mark(4, 100, valid=False)]
    hatched = Look("#123456", hatch="//")
    words = Words(1, 2, "a < b & c", turned=90)
    layers = (Series(marks, LINE), Series(marks[:2], DOT), Bars([Mark(3, 50)], hatched), words)
    sheet = draw(one(Panel(layers), width=4, height=3))
    text = svg(sheet)
    root = ET.fromstring(text)  # noqa: S314  (our own)
    found = {word.text or "": word for word in root.iter(f"{SVG}text")}
    for word in sheet.texts:
        ((x, y, line),) = word.lines
        at = [float(found[line].get(name, "")) / 10 for name in ("x", "y")]
        assert at == pytest.approx([x, sheet.height - y], abs=0.06)
        wide = float(found[line].get("textLength", "")) / 10
        assert wide == pytest.approx(width_of(line, word.size, word.bold), abs=0.06)
    assert found["a < b & c"].get("transform", "").startswith("rotate(-90 ")
    discs = [path for path in root.iter(f"{SVG}path") if path.get("stroke-linecap") == "round"]
    first = discs[0].get("d", "")
    (x0, y0), (x1, y1) = dots(sheet)
    assert re.fullmatch(r"M(\d+) (\d+)h0m(-?\d+)(?: |(?=-))(-?\d+)h0", first)
    steps = [int(number) / 10 for number in re.findall(r"-?\d+", first.replace("h0", ""))]
    wanted = [x0, sheet.height - y0, x1 - x0, y0 - y1]
    assert steps == pytest.approx(wanted, abs=0.11)
    assert [path.get("stroke") for path in discs[-2:]] == [
        "#111111",
        "#ffffff",
    ]  # hollow
    (pattern,) = root.iter(f"{SVG}pattern")
    used = {path.get("fill") for path in root.iter(f"{SVG}path")}
    assert f"url(#{pattern.get('id')})" in used
    clips = {f"url(#{clip.get('id')})" for clip in root.iter(f"{SVG}clipPath")}
    assert clips == {path.get("clip-path") for path in root.iter(f"{SVG}path")} - {None}
    assert svg(sheet) == text


def objects(pdf: bytes) -> dict[int, tuple[bytes, str]]:
    """The dictionaries of a PDF by their numbers, found by its table, and their streams."""
    (start,) = re.findall(rb"startxref\n(\d+)\n%%EOF\n$", pdf)
    table = pdf[int(start) :].splitlines()
    assert table[0] == b"xref"
    found = {}
    for number, line in enumerate(table[3 : 2 + int(table[1].split()[1])], start=1):
        at = pdf[int(line[:10]) :]
        assert at.startswith(b"%d 0 obj\n" % number)
        told, _, rest = at[: at.index(b"endobj")].partition(b"\nstream\n")
        length = re.findall(rb"/Length (\d+)>>$", told)
        stream = (
            zlib.decompress(pdf[pdf.index(rest, int(line[:10])) :][: int(length[0])])
            if length
            else b""
        )
        found[number] = told, stream.decode("latin-1")
    return found


def test_the_pdf_holds_marks_clips_and_words_where_the_sheet_has_them() -> None:
    around = Box(10, 20, 90, 60)
    words = Text(50, 40, "Traffic: 3 × AV\n\N{GREEK SMALL LETTER MU}s", 10, bold=True, turned=90)
    dots = Dots(
        [(12.5, 21), (float("nan"), 1), (88, 59)], "D", 4, "#112233", "#ff0000", 1, alpha=0.5
    )
    shape = Shape([around.outline], "black", 2.0, "--", "white", "//", clip=around)
    many = Text(0, 0, "".join(map(chr, range(0x4E, 0x250))), 5)
    sheet = Sheet(100, 80, [shape, dots, words, many])
    found = objects(pdf(sheet, lambda _: pytest.fail("nothing here is many marks")))
    (page,) = [told for told, _ in found.values() if b"/Type/Page/" in told]
    assert b"/MediaBox[0 0 100.00 80.00]" in page
    (drawn,) = [found[int(at)][1] for at in re.findall(rb"/Contents (\d+) 0 R", page)]
    assert "10.00 20.00 80.00 40.00 re W n" in drawn
    assert "1 j [7.40 3.20] 0 d" in drawn
    assert "10.00 20.00 m 90.00 20.00 l 90.00 60.00 l 10.00 60.00 l 10.00 20.00 l h B" in drawn
    assert re.findall(r"q 1 0 0 1 (\S+) (\S+) cm /X0 Do Q", drawn) == [
        ("12.50", "21.00"),
        ("88.00", "59.00"),
    ]
    assert b"/CA 0.500/ca 0.500" in b"".join(told for told, _ in found.values())
    # What a reader copies, font by font: the letters in their order, none that the file lacks.
    fonts = dict(re.findall(rb"/(F\d+) (\d+) 0 R", page))
    letters: dict[tuple[str, str], str] = {}
    for name, number in fonts.items():
        (of,) = re.findall(rb"/ToUnicode (\d+) 0 R", found[int(number)][0])
        codes = re.findall(r"<(..)> <(.{4})>", found[int(of)][1])
        letters |= {(name.decode(), code): chr(int(text, 16)) for code, text in codes}
    lines = []
    for line in re.findall(r"^.* Tm\n(.*)TJ$", drawn, re.MULTILINE):
        parts = re.findall(r"/(F\d+) \S+ Tf\[(.*?)\]", line)
        codes = [(font, code) for font, of in parts for shown in re.findall(r"<(.*?)>", of)
                 for code in re.findall("..", shown)]  # fmt: skip
        lines.append("".join(letters[code] for code in codes))
    assert lines == [line for text in sheet.texts for *_, line in text.lines]
    assert len(fonts) > 2  # a font has room for some letters
    (x, y, _), *_ = words.lines
    assert f"0.00000 1.00000 -1.00000 0.00000 {x:.2f} {y:.2f} Tm" in drawn
    kern = [float(by) for by in re.findall(r">(-?\d+)<", drawn)]
    assert max(kern) > 40  # V moves below the A before it


@pytest.mark.parametrize("text", ["", " ", "\N{BRAILLE PATTERN BLANK}", "a\n\nb", "\U0001f600"])
def test_words_without_ink_and_letters_of_any_length_are_drawn(text: str) -> None:
    plain, boxed = (files(Sheet(99, 9, [Text(9, 0, text, 8, pad=pad)])) for pad in (None, 0.5))
    assert boxed["png"] == plain["png"]  # the box is white
    assert (boxed["svg"] != plain["svg"]) == (boxed["pdf"] != plain["pdf"])
    assert boxed["pdf"] != plain["pdf"]


def test_what_is_nowhere_is_not_in_the_svg() -> None:
    nan = float("nan")
    shapes = [
        Shape([[(0, 0), (nan, 1), (2, 2)]], "black", 1.0),
        Shape([[(nan, 1)]], "black", 1.0),
    ]
    text = svg(Sheet(10, 10, [*shapes, Dots([(nan, nan)], "o", 3, "red", "red", 1)]))
    assert "nan" not in text
    assert 'd="M0 100l20-20"' in text


@pytest.mark.parametrize("sideways", [False, True])
def test_a_hit_is_where_its_mark_or_bar_is(tmp_path: Path, sideways: bool) -> None:  # noqa: FBT001
    cases = [layout_case("aos", 100), layout_case("soa", 50)]
    first, second = (
        row for row in load(tmp_path, cases).rows if row.quantity == "warp_read_cycles"
    )
    marks = [Mark(1, 100, row=first), Mark(2, 50)]
    bars = Bars([Mark(3, 50, row=second)], LINE, thick=0.5)
    layers = (Series(marks, DOT), bars, Words(2, 20, "told", row=first), Words(2, 9, "no row"))
    sheet = draw(one(Panel(layers, sideways=sideways), width=4, height=3))
    mark, bar, words = sheet.hits
    assert [hit.row for hit in sheet.hits] == [first, second, first]
    assert [words.box] == [text.box for text in sheet.texts if text.text == "told"]
    assert tuple(mark.box) == (*dots(sheet)[0],) * 2
    outlines = [thing for thing in sheet.things if isinstance(thing, Shape) and thing.fill]
    xs, ys = zip(*outlines[-1].lines[0], strict=True)
    assert tuple(bar.box) == pytest.approx((min(xs), min(ys), max(xs), max(ys)))
