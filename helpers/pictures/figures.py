"""The one place where a figure leaves Python: one look, two sizes, and words that state the finding.

A figure is shown as an SVG image inside `<figure role="img" aria-label="…">`. The image is a `data:` URL and
not inline SVG, because GitHub and an untrusted notebook in JupyterLab both remove `<svg>` from HTML outputs
and keep `<img>`; the live view of an explorer, which no one sanitises, takes the inline form.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import html
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from vgpu.base import steady

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

SIZES = {"wide": (7.0, 3.5), "square": (4.0, 4.0)}
"""Inches, width × height."""
PIXELS_PER_INCH = 90
"""Of the card a figure stands on, where another stands beside it."""

GROWN, WIDEST = 1.4, 945
"""How many times as wide a picture is that stands on a page by itself, and where that ends, in pixels."""
MOVED = 1.3
"""How many times as wide it is below controls: a wide one, its caption and two sliders fit a 768-pixel screen."""

PALETTE = {
    "ink": "#000000",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "purple": "#cc79a7",
    "grey": "#7a7a7a",
    "mist": "#e8e8e8",
}
"""Okabe and Ito's colours, told apart by colour-blind readers (https://jfly.uni-koeln.de/color/), and two
greys."""


class Repeated(tuple):
    """A tuple whose indices wrap around, so that a plot may have any number of series."""

    def __getitem__(self, number: Any) -> Any:
        return super().__getitem__(number % len(self))


CYCLE = Repeated(PALETTE[name] for name in ("blue", "orange", "green", "vermilion", "sky", "purple"))
MARKERS = Repeated(("o", "s", "^", "D", "v", "P"))
DASHES = Repeated(("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1))))

LARGEST_SVG = 150_000
SHORTEST_FINDING = 30
_LABELS_INSTEAD_OF_FINDS = re.compile(
    r"^\s*(an?\s+|the\s+)?(figure|fig\.|image|picture|plot|chart|graph|diagram|screenshot|drawing)\b\s*(of|showing|that|:|\d)",
    re.IGNORECASE,
)

_RC = {
    "svg.hashsalt": "warpbook",
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "legend.frameon": False,
    "hatch.linewidth": 0.8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

_CARD = (
    "margin:4px 0;padding:8px 10px;background:#fff;color:#222;border:1px solid #d0d0d0;border-radius:8px;"
    "box-sizing:border-box;max-width:{width}px"
)
OF_IMAGES = "warpbook-images"
"""The class of a card with images of data. Dark themes, which turn the lightness of all other cards, leave it alone."""
_FULL = "width:100%;height:auto;display:block"
CAPTION_LINE = 18.2
"""Pixels a line of caption takes."""
_CAPTION = "font:13px/1.4 system-ui,sans-serif;color:#333;padding:2px 4px 0"


_one_at_a_time = steady.lock(rank=-2)  # Matplotlib's settings and its fonts are the process's


@contextlib.contextmanager
def style() -> Iterator[None]:
    """The context in which a figure is drawn: fonts, colours, line styles. One thread draws at a time."""
    import matplotlib
    from cycler import cycler

    with _one_at_a_time:
        matplotlib.set_loglevel("error")  # a missing DejaVu Sans must not warn in a learner's notebook
        with matplotlib.rc_context({**_RC, "axes.prop_cycle": cycler(color=CYCLE)}):
            yield


def styled(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Run a plotting function in `style()`."""

    @functools.wraps(draw)
    def wrapped(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        with style():
            return draw(*arguments, **options)

    return wrapped


def blank(size: str = "wide", *, layout: Literal["constrained"] | None = None) -> Figure:
    """A figure of one of the two `SIZES`, without axes; not known to pyplot, so nothing shows it twice."""
    from matplotlib.figure import Figure

    if size not in SIZES:
        raise ValueError(f"size must be one of {', '.join(SIZES)}, not {size!r}")
    return Figure(figsize=SIZES[size], layout=layout)


def new(
    size: str = "wide", *, place: tuple[float, float, float, float] | None = None, **margins: float
) -> tuple[Figure, Axes]:
    """A figure of one of the two `SIZES`, and its axes.

    `place`: left, bottom, width and height of the axes, as fractions of the figure; `margins`: their `left`, `right`,
    `top` and `bottom` edges instead. Without either, Matplotlib finds room for the labels, which takes three times as
    long to draw: too long for an explorer.
    """
    if place is not None:
        figure = blank(size)
        return figure, figure.add_axes(place)
    figure = blank(size, layout=None if margins else "constrained")
    if margins:
        figure.subplots_adjust(**margins)
    return figure, figure.subplots()


def subplots(
    nrows: int = 1, ncols: int = 1, *, width_ratios: Sequence[float] | None = None, sharey: bool = False,
    layout: Literal["constrained"] | None = None, **margins: float,
) -> tuple[Figure, np.ndarray]:  # fmt: skip
    """A wide figure and a grid of axes, by row and column; `margins`: as for `new`, with `wspace` and `hspace`."""
    figure = blank(layout=layout)
    if margins:
        figure.subplots_adjust(**margins)
    return figure, figure.subplots(nrows, ncols, squeeze=False, width_ratios=width_ratios, sharey=sharey)


def finding(text: str) -> str:
    """`text` as alternative text, or a ValueError that says what is wrong with it."""
    words = " ".join(str(text or "").split())
    if not words:
        raise ValueError("a figure needs alt text: one sentence that says what the figure shows to be true")
    if _LABELS_INSTEAD_OF_FINDS.match(words):
        raise ValueError(f"alt text states the finding; it does not name the medium: {words!r}")
    if len(words) < SHORTEST_FINDING or words.count(" ") < 4:
        raise ValueError(f"alt text is too short to state a finding ({len(words)} characters): {words!r}")
    return words


def svg(figure: Figure) -> str:
    """The figure as SVG text: the same bytes for the same figure, without a date, under `LARGEST_SVG`
    bytes."""
    buffer = io.StringIO()
    with style():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _bounded(_slim(buffer.getvalue()))


def _bounded(text: str) -> str:
    if len(text) > LARGEST_SVG:
        raise ValueError(f"the figure takes {len(text):,} bytes of SVG; {LARGEST_SVG:,} is the most: draw fewer marks")
    return text


_SHORTER = (
    (r"<metadata>.*?</metadata>", ""),
    (r"<!--.*?-->", ""),
    (r"<style type=.*?</style>", ""),  # its `*` selector would restyle the whole page around an inline image
    (r' id="(?:figure|axes|patch|line2d|text|xtick|ytick|legend|matplotlib|[A-Z]\w*Collection)[\w.]*"', ""),
    (r"'DejaVu Sans', .*?, sans-serif", "'DejaVu Sans',Verdana,sans-serif"),
    (r' transform="rotate\(-?0 [^"]*"', ""),
    (r"\s*\n\s*", "\n"),
)


def _slim(text: str) -> str:
    text = text[text.index("<svg") :].replace("<svg ", '<svg stroke-linejoin="round" stroke-linecap="butt" ', 1)
    for pattern, replacement in _SHORTER:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    short = lambda number: f"{float(number.group()):.2f}".rstrip("0").rstrip(".")
    places = lambda tag: re.sub(r"-?\d+\.\d{3,}", short, tag.group())
    return re.sub(r"<[^>]*>", places, text).strip() + "\n"  # in tags only: a label says what it says


def card_height(size: str | tuple[float, float] = "wide", *, caption_lines: int = 3) -> int:
    """Pixels that a picture takes below controls, a caption of so many lines included.

    size: one of `SIZES`, or inches, width × height.
    """
    inches = SIZES[size] if isinstance(size, str) else size
    width, height = (each * PIXELS_PER_INCH * MOVED for each in inches)
    frame, inner = 2 + 16 + 8 + 2, width - 22  # border, padding, margin and caption's gap; border and padding
    return math.ceil(inner * height / width + frame + caption_lines * CAPTION_LINE)


@dataclass(frozen=True)
class Track:
    """Where a mark of a picture stands at each value of a control, so that a pointer can drag it to another.

    `places`: x and y by value, in units of the SVG's viewBox (points, of matplotlib) from the upper left. `along`: "x"
    or "y", the way the pointer counts. `line`: two ends, as seen from the mark, between which it can be taken as well.
    """

    places: Mapping[object, tuple[float, float]]
    along: str = "x"
    line: tuple[tuple[float, float], tuple[float, float]] | None = None

    def __post_init__(self) -> None:
        if self.along not in ("x", "y"):
            raise ValueError(f'a mark is dragged along "x" or "y", not {self.along!r}')


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure and the sentence that says what it shows; `tracks` of marks that can be dragged, by control.

    `of_images`: it shows images of data, such as digits or feature maps, which keep their greys in a dark theme.
    """

    figure: Figure = field(repr=False)
    finding: str
    tracks: Mapping[str, Track] = field(default_factory=dict, repr=False)
    of_images: bool = False


@dataclass(frozen=True)
class Drawing:
    """SVG text that no plotting library made, of a width in pixels, and the sentence that says what it shows.

    `tracks` of marks that can be dragged, by the name of the control that they set.
    """

    svg: str = field(repr=False)
    finding: str
    width: int
    tracks: Mapping[str, Track] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Shown:
    """What `show` returns: the HTML of a figure, with its alt text as plain text."""

    alt: str
    image: str = field(repr=False)
    width: int = 630
    tracks: Mapping[str, Track] = field(default_factory=dict, repr=False, compare=False)
    alone: int | None = None
    moved: int | None = None
    """Pixels across, at most, where it stands on a page by itself, and below the controls that move it."""
    of_images: bool = False

    def __repr__(self) -> str:
        return self.alt

    def html(self, *, inline: bool = False, width: int | None = None) -> str:
        """`<figure>` with the image as a data URL, or with inline SVG for a view that nothing sanitises.

        width: pixels across, at most; without it as wide as beside controls or another picture.
        """
        label = html.escape(self.alt, quote=True)
        if inline:
            body = self.image.replace("<svg ", f'<svg aria-hidden="true" style="{_FULL}" ', 1)
        else:
            data = base64.b64encode(self.image.encode()).decode()
            source = f"data:image/svg+xml;base64,{data}"
            body = f'<img alt="{label}" style="{_FULL}" src="{source}">'
        kind = f' class="{OF_IMAGES}"' if self.of_images else ""
        return (
            f'<figure{kind} role="img" aria-label="{label}" style="{_CARD.format(width=width or self.width)}">{body}'
            f'<figcaption style="{_CAPTION}">{html.escape(self.alt)}</figcaption></figure>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(width=self.alone), "text/plain": self.alt}


@dataclass(frozen=True)
class Markup:
    """HTML that needs no drawing, such as lines of source or a table, and the sentence that says what it shows.

    `body`: HTML whose texts are escaped and whose colours suit a white card; `width`: pixels, at most.
    """

    body: str = field(repr=False)
    finding: str
    width: int = 630


@dataclass(frozen=True)
class ShownMarkup:
    """What `show` returns for a `Markup`: a card whose text stays text for a screen reader."""

    alt: str
    body: str = field(repr=False)
    width: int = 630

    def __repr__(self) -> str:
        return self.alt

    def html(self, *, inline: bool = False) -> str:
        """The card; the same, `inline` or not."""
        label = html.escape(self.alt, quote=True)
        return (
            f'<div role="group" aria-label="{label}" style="{_CARD.format(width=self.width)}">{self.body}'
            f'<div style="{_CAPTION}">{html.escape(self.alt)}</div></div>'
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.alt}


@dataclass(frozen=True)
class ShownRow:
    """Several views beside one another; below one another where the page is too narrow."""

    parts: tuple[Shown | ShownMarkup, ...]

    @property
    def alt(self) -> str:
        """The findings of all parts."""
        return " ".join(part.alt for part in self.parts)

    def __repr__(self) -> str:
        return self.alt

    def html(self, *, inline: bool = False) -> str:
        """The cards in a row that wraps."""
        cards = "".join(f"<div>{part.html(inline=inline)}</div>" for part in self.parts)
        return f'<div style="display:flex;flex-wrap:wrap;gap:0 8px;align-items:flex-start">{cards}</div>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.alt}


View = Picture | Markup | Drawing


def show(figure: Figure | View | Sequence[View], alt: str | None = None) -> Shown | ShownMarkup | ShownRow:
    """Show a figure with alt text that states its finding.

    `figure` is a matplotlib figure, a `Picture`, `Markup` or `Drawing` that brings its own finding, or several of
    these to be shown beside one another; `alt` overrides the finding of one. Raises ValueError when the alt text is
    missing, too short, or only names the medium ("figure of …").
    """
    if isinstance(figure, Sequence):
        return ShownRow(tuple(map(_shown, figure)))
    return _shown(figure, alt)


def _of_images(figure: Figure) -> bool:
    """Whether it shows grey images in all of its axes."""
    shown = [[image.get_cmap().name for image in axes.images] for axes in figure.axes]
    return bool(shown) and all(names and set(names) <= {"gray", "grey"} for names in shown)


def _shown(view: Figure | View, alt: str | None = None) -> Shown | ShownMarkup:
    if isinstance(view, Markup):
        return ShownMarkup(finding(alt or view.finding), view.body, view.width)
    if isinstance(view, Drawing):
        return Shown(finding(alt or view.finding), _bounded(view.svg), view.width, view.tracks)
    picture = view if isinstance(view, Picture) else Picture(view, "", of_images=_of_images(view))
    words = finding(alt or picture.finding)
    width = round(picture.figure.get_figwidth() * PIXELS_PER_INCH)
    alone = max(width, min(round(width * GROWN), WIDEST))
    return Shown(words, svg(picture.figure), width, picture.tracks, alone, round(width * MOVED), picture.of_images)
