"""Figures: alt text is demanded, bytes are stable, and what arrives reads without JavaScript or trust."""

import re

import pytest
from matplotlib.figure import Figure

from helpers.pictures import figures
from helpers.pictures.plots.ink import Ink
from helpers.workbook.run import unnamed_pictures

FINDING = "Doubling the stride doubles the sectors until each lane has its own"


@figures.styled
def line():
    figure, axes = figures.new("wide")
    axes.plot([1, 2, 4, 8], [4, 8, 16, 32], label="a <b> & c")
    axes.set_title("title")
    axes.legend()
    return figure


@pytest.mark.parametrize(
    "alt",
    [
        None,
        "",
        "   ",
        "stride",
        "a b c d e f",
        "Figure of sectors against stride for a strided copy",
        "Image of sectors against stride for a strided copy",
        "A plot showing sectors against stride for a copy",
        "the chart: sectors against stride for a strided copy",
    ],
)
def test_alt_text_that_states_nothing_is_refused(alt):
    with pytest.raises(ValueError, match="alt text"):
        figures.show(line(), alt)


@pytest.mark.parametrize("alt", [FINDING, "Plots of land are rarely this square, but these five are so"])
def test_alt_text_with_a_finding_is_taken(alt):
    assert figures.show(line(), alt).alt == alt


def test_the_same_figure_gives_the_same_bytes_and_no_date():
    first, second = figures.svg(line()), figures.svg(line())
    assert first == second
    assert not re.search(r"<dc:date|<metadata|20\d\d-\d\d", first)


def test_a_label_keeps_its_digits():
    figure, axes = figures.new("wide")
    axes.text(0.1, 0.1, "0.00195 apart")
    assert "0.00195 apart" in figures.svg(figure)


def test_the_bundle_reads_where_svg_is_removed_from_html():
    bundle = figures.show(line(), FINDING)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == FINDING
    page = bundle["text/html"]
    assert page.startswith('<figure role="img" aria-label="' + FINDING)
    assert "<svg" not in page and 'src="data:image/svg+xml;base64,' in page
    assert page.count(FINDING) == 3  # aria-label, alt, caption
    assert unnamed_pictures(page) == []


def test_the_inline_form_is_named_too_and_restyles_nothing_around_it():
    page = figures.show(line(), FINDING).html(inline=True)
    assert "<svg aria-hidden" in page and "<style" not in page
    assert unnamed_pictures(page) == []


def test_images_of_data_are_marked_so_that_a_dark_theme_leaves_them_alone():
    picture = figures.Picture(line(), FINDING, of_images=True)
    for page in (figures.show(picture).html(), figures.show(picture).html(inline=True)):
        assert page.startswith(f'<figure class="{figures.OF_IMAGES}" role="img"')
    assert figures.OF_IMAGES not in figures.show(line(), FINDING).html()


@pytest.mark.parametrize(("colours", "kept"), [("gray", True), ("Blues", False)])
def test_grey_images_are_images_of_data(colours, kept):
    figure = Figure()
    for axes in figure.subplots(1, 2):
        axes.imshow([[0, 1]], cmap=colours)
    assert (figures.OF_IMAGES in figures.show(figure, FINDING).html()) is kept


def test_small_words_in_a_drawing_are_refused_and_long_ones_narrowed():
    ink = Ink()
    with pytest.raises(ValueError, match="too small"):
        ink.text(0, 0, "tiny", size=9.5)
    ink.text(0, 0, "12345", size=10, within=20)
    ink.text(0, 0, "123", size=10, within=20)
    assert ['textLength="20"' in part for part in ink.parts] == [True, False]


def test_words_are_escaped():
    page = figures.show(line(), 'Below "4 < 8" the cost & the stride are equal').html()
    assert "&quot;4 &lt; 8&quot;" in page and "4 < 8" not in page


def test_text_stays_text_and_ids_that_nothing_uses_are_gone():
    image = figures.svg(line())
    assert ">title<" in image and "a &lt;b&gt; &amp; c" in image
    used = set(re.findall(r"#(\w+)", image))
    assert set(re.findall(r' id="(\w+)"', image)) <= used


def test_two_sizes_and_no_other():
    assert [tuple(figures.new(size)[0].get_size_inches()) for size in figures.SIZES] == [(7, 3.5), (4, 4)]
    with pytest.raises(ValueError, match="wide"):
        figures.new("poster")


def test_a_picture_by_itself_is_wider_than_beside_others():
    wide, square = (figures.show(figures.new(size)[0], FINDING) for size in ("wide", "square"))
    drawing = figures.show(figures.Drawing("<svg></svg>", FINDING, width=700))
    widths = lambda shown: re.findall(r"max-width:(\d+)px", shown._repr_mimebundle_()["text/html"])
    assert [widths(each) for each in (wide, square, drawing)] == [["882"], ["504"], ["700"]]
    both = figures.ShownRow((wide, square))
    assert widths(both) == ["630", "360"] and "max-width:630px" in wide.html(inline=True)


def test_a_figure_with_too_many_marks_is_refused(monkeypatch):
    monkeypatch.setattr(figures, "LARGEST_SVG", 1000)
    with pytest.raises(ValueError, match="fewer marks"):
        figures.show(line(), FINDING)


def test_repr_is_the_finding():
    assert repr(figures.show(line(), FINDING)) == FINDING
