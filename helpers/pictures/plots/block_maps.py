"""What a caching allocator's segments consist of at one moment of a replay, and how it came there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.ink import PALE, Ink
from helpers.pictures.plots.short_values import fitted
from helpers.results.torch.allocator_parts import MIB, Piece, Row
from helpers.results.torch.replay import Moment, Replay
from vgpu.base.words import plural

WIDTH, LEFT, RIGHT = 860, 96, 850
TOP, BAR, STEP = 62, 18, 25
LINE_HEIGHT, BELOW = 88, 44
MOST_ROWS = 12
THINNEST, LETTER = 2.5, 6.1
MOST_POINTS = 400
MOST_MARKS = 800

HELD, NEW, LOCKED, IDLE, BARE = "#8fc7ee", "#f2b134", "#ffffff", "#cfe9d9", "#f3f3f3"
EDGES = {HELD: "#0060a0", NEW: "#8a5a00", LOCKED: "#777777", IDLE: "#00704f", BARE: "#bbbbbb"}
LEGEND = ((HELD, "held by a tensor"), (NEW, "taken in this step"), (LOCKED, "free, beside others: stays reserved"),
          (IDLE, "free, and could be given back"), (BARE, "addresses without memory"))  # fmt: skip


def rows_needed(replay: Replay) -> int:
    """Rows that a drawing needs for any moment of a replay."""
    return min(MOST_ROWS, max(1, max(len(moment.rows) for moment in replay)))


def block_map_height(rows: int) -> int:
    """Pixels of a drawing with room for so many segments."""
    return TOP + rows * STEP + LINE_HEIGHT + BELOW


def block_map(
    replay: Replay, step: int | None = None, *, rows: int | None = None, widest: int = 0, name: str = ""
) -> Drawing:
    """The segments after a step, a row each, their blocks by who holds them; below, the bytes over all steps.

    step: from 0; None for the last. rows: room for so many segments. widest: bytes that the width stands for, where
    several drawings are to have one scale. IndexError for a step that the replay does not have.
    """
    step = len(replay) - 1 if step is None else step
    moment, ink = replay[step], Ink()
    room = rows or rows_needed(replay)
    widest = max(widest, widest_row(replay))
    _head(ink, replay, moment, step)
    shown = sorted(moment.rows, key=lambda row: row.small)  # large segments first
    hidden = shown[room - 1 :] if len(shown) > room else []
    drawn = shown[: room - 1] if hidden else shown
    scale = (RIGHT - LEFT) / widest
    thinnest = max(THINNEST, sum(map(_bytes, drawn)) * scale / MOST_MARKS)
    for number, row in enumerate(drawn):
        _segment(ink, row, TOP + number * STEP, scale, thinnest, moment)
    if hidden:
        told = f"and {plural(len(hidden), 'segment')} more, {sum(map(_bytes, hidden)) / MIB:,.4g} MiB"
        ink.text(LEFT, TOP + (room - 1) * STEP + 13, told, size=10.5, ink=PALE, mono=False)
    _course(ink, replay, step, TOP + room * STEP + 12)
    return ink.drawing(_finding(replay, moment, step, name), WIDTH, block_map_height(room))


def widest_row(replay: Replay) -> int:
    """Bytes of the largest segment of all moments."""
    return max((_bytes(row) for moment in replay for row in moment.rows), default=MIB) or MIB


def _bytes(row: Row) -> int:
    return sum(piece.nbytes for piece in row.pieces)


def _head(ink: Ink, replay: Replay, moment: Moment, step: int) -> None:
    said = f"step {step} of {len(replay) - 1}: {fitted(moment.words, 46)}"
    failed = replay.failed and step == len(replay) - 1
    ink.text(8, 16, f"{said}: out of memory" if failed else said, size=12.5, bold=True, mono=False,
             ink="#b00020" if failed else "#222222")  # fmt: skip
    counts = ((moment.allocated, "allocated"), (moment.reserved, "reserved"), (moment.largest_free, "largest free"))
    told = " · ".join(f"{words} {nbytes / MIB:,.2f}" for nbytes, words in counts)
    ink.text(RIGHT, 16, f"{told} MiB", size=11, mono=False, anchor="end")
    x = 8.0
    for colour, words in LEGEND:
        _box(ink, x, 28, 14, 12, colour)
        ink.text(x + 19, 38, words, size=10, ink=PALE, mono=False)
        x += 36 + 5.4 * len(words)


def _box(ink: Ink, x: float, y: float, width: float, height: float, colour: str) -> None:
    ink.box(x, y, width, height, colour, EDGES[colour], dash="3 2" if colour in (LOCKED, BARE) else "", line=0.8)


def _segment(ink: Ink, row: Row, y: float, scale: float, thinnest: float, moment: Moment) -> None:
    kind = "grows" if row.expandable else "small" if row.small else "large"
    mapped = sum(piece.nbytes for piece in row.pieces if piece.mapped)
    ink.text(LEFT - 8, y + 13, f"{mapped / MIB:,.4g} MiB {kind}", size=10, ink=PALE, mono=False, anchor="end")
    for first, nbytes, colour, words in _marks(row, moment, thinnest / scale):
        width = max(nbytes * scale, 1)
        _box(ink, LEFT + first * scale, y, width, BAR, colour)
        if words and len(words) * LETTER < width - 4:
            ink.text(LEFT + (first + nbytes / 2) * scale, y + 13, words, size=10, anchor="middle")


def _marks(row: Row, moment: Moment, thinnest: float) -> Iterator[tuple[int, int, str, str]]:
    """Where each mark begins, its bytes, its colour and words. Blocks too thin to see become one mark with their
    neighbours, in the colour of most of its bytes."""
    at, first = 0, 0
    thin: Counter[str] = Counter()
    for piece in row.pieces:
        colour, words = _colour(row, piece, moment), "" if piece.owner is None else str(piece.owner)
        wide = piece.nbytes >= thinnest
        if thin and (wide or thin.total() >= thinnest):
            yield first, thin.total(), thin.most_common(1)[0][0], ""
            thin.clear()
        if wide:
            yield at, piece.nbytes, colour, words
        else:
            first = first if thin else at
            thin[colour] += piece.nbytes
        at += piece.nbytes
    if thin:
        yield first, thin.total(), thin.most_common(1)[0][0], ""


def _colour(row: Row, piece: Piece, moment: Moment) -> str:
    if not piece.mapped:
        return BARE
    if piece.owner is not None:
        return NEW if moment.asked[:2] == ("alloc", piece.owner) else HELD
    page = 2 * MIB if row.small else 20 * MIB
    return IDLE if len(row.pieces) == 1 or (row.expandable and piece.nbytes >= page) else LOCKED


def _course(ink: Ink, replay: Replay, step: int, y: float) -> None:
    """Allocated and reserved bytes over the steps, and where we are."""
    limit = replay.allocator.capacity
    most = max(replay.peak_reserved, limit if limit != float("inf") else 0, 1)
    last = max(len(replay) - 1, 1)
    place = lambda at, nbytes: (LEFT + at / last * (RIGHT - LEFT), y + LINE_HEIGHT * (1 - nbytes / most))
    every = max(1, len(replay) // MOST_POINTS)
    for what, colour, dash in (("reserved", "#222222", "5 3"), ("allocated", "#0060a0", "")):
        spots = [place(at, getattr(replay[at], what)) for at in range(0, len(replay), every)]
        path = f"M{spots[0][0]:.1f} {spots[0][1]:.1f}" + "".join(f"H{x:.1f}V{top:.1f}" for x, top in spots[1:])
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        ink.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dashed}/>')
    x, _ = place(step, 0)
    ink.parts.append(f'<path d="M{x:.1f} {y - 4:.1f}V{y + LINE_HEIGHT + 4:.1f}" stroke="#b84a00" stroke-width="1.6"/>')
    ink.rule(LEFT, y + LINE_HEIGHT, RIGHT, y + LINE_HEIGHT)
    ink.text(LEFT - 8, y + 9, f"{most / MIB:,.4g} MiB", size=10, ink=PALE, mono=False, anchor="end")
    ink.text(LEFT - 8, y + LINE_HEIGHT, "0", size=10, ink=PALE, mono=False, anchor="end")
    told = "over all steps: allocated (line) and reserved (dashed)"
    if limit != float("inf"):
        ink.rule(LEFT, y, RIGHT, y)
        told += f"; the upper end is the capacity, {limit / MIB:,.4g} MiB"
    ink.text(LEFT, y + LINE_HEIGHT + 18, told, size=10, ink=PALE, mono=False)


def _finding(replay: Replay, moment: Moment, step: int, name: str) -> str:
    said = f"{name}: after" if name else "After"
    said = f"{said} step {step} ({moment.words}) tensors hold {moment.allocated / MIB:,.2f} MiB of "
    said += f"{moment.reserved / MIB:,.2f} MiB reserved in {plural(len(moment.rows), 'segment')}, and the largest free "
    said += f"block has {moment.largest_free / MIB:,.2f} MiB"
    if replay.failed and step == len(replay) - 1:
        return f"{said}: this step runs out of memory (modelled)."
    return f"{said} (modelled)."
