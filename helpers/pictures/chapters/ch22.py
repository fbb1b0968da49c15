"""Pictures of chapter 22: kinds of parallelism across ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.ink import PALE, Ink
from helpers.vgpu.base.words import plural

WIDTH, PANEL, TOP, LAYER, LAYERS = 860, 178, 40, 19, 4
WEIGHTS, BATCH, EMPTY = "#0072b2", "#e69f00", "#eeeeee"
Part = tuple[float, float]
"""From where to where a rank has its part, as shares of the whole."""


def _slice(rank: int, ranks: int) -> Part:
    return rank / ranks, (rank + 1) / ranks


# By kind: which part of layer `layer` a rank holds, which part of the batch it works on, and a word about what travels.
KINDS: dict[str, tuple[Callable[[int, int, int], Part], Callable[[int, int], Part], str]] = {
    "data (DDP)": (lambda layer, rank, ranks: (0, 1), _slice, "gradients are summed"),
    "sharded (FSDP)": (
        lambda layer, rank, ranks: _slice(rank, ranks), _slice, "weights are gathered when needed, gradients scattered"
    ),
    "tensor": (
        lambda layer, rank, ranks: _slice(rank, ranks), lambda rank, ranks: (0, 1),
        "activations are summed in each layer",
    ),
    "pipeline": (
        lambda layer, rank, ranks: (0, 1) if layer * ranks // LAYERS == rank else (0, 0),
        lambda rank, ranks: (0, 1), "activations go from stage to stage",
    ),
}  # fmt: skip


def parallel_kinds(kinds: Sequence[str] = tuple(KINDS), *, ranks: int = 4) -> Drawing:
    """For each kind a row of ranks: the layers of the network, filled where the rank keeps weights, and its batch."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise ValueError(f"no kind called {unknown[0]!r}: there are {', '.join(KINDS)}")
    if LAYERS % ranks:
        raise ValueError(f"{LAYERS} layers are drawn: give 1, 2 or 4 ranks, not {ranks}")
    ink = Ink()
    across = WIDTH / 2
    for number, kind in enumerate(kinds):
        _panel(ink, kind, across * (number % 2), PANEL * (number // 2), across, ranks)
    height = PANEL * ((len(kinds) + 1) // 2)
    told = "; ".join(f"{kind}: {KINDS[kind][2]}" for kind in kinds)
    return ink.drawing(
        f"Four ways to share {plural(LAYERS, 'layer')} and a batch among {ranks} ranks. {told}.", WIDTH, height
    )


def _panel(ink: Ink, kind: str, left: float, top: float, across: float, ranks: int) -> None:
    weights, batch, word = KINDS[kind]
    column = (across - 24) / ranks
    ink.text(left + 8, top + 16, kind, size=12.5, bold=True, mono=False)
    ink.text(left + across - 16, top + 16, word, size=10, ink=PALE, mono=False, anchor="end")
    for rank in range(ranks):
        x, wide = left + 8 + column * rank, column - 14
        ink.text(x + wide / 2, top + 33, f"rank {rank}", size=10, mono=False, anchor="middle")
        for layer in range(LAYERS):
            _bar(ink, x, top + TOP + LAYER * layer, wide, weights(layer, rank, ranks), WEIGHTS)
        _bar(ink, x, top + TOP + LAYER * LAYERS + 8, wide, batch(rank, ranks), BATCH)
    foot = top + TOP + LAYER * (LAYERS + 1) + 24
    for at, colour, words in ((8, WEIGHTS, "weights kept, a bar a layer"), (200, BATCH, "samples worked on")):
        ink.box(left + at, foot - 9, 10, 10, colour)
        ink.text(left + at + 15, foot, words, size=10, mono=False)


def _bar(ink: Ink, x: float, y: float, wide: float, part: Part, colour: str) -> None:
    start, end = part
    ink.box(x, y, wide, LAYER - 4, EMPTY, "#b0b0b0")
    if end > start:
        ink.box(x + wide * start, y, wide * (end - start), LAYER - 4, colour)
