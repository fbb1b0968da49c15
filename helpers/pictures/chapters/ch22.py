"""Pictures of chapter 22: kinds of parallelism across ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from helpers.pictures.figures import Drawing
from helpers.pictures.plots.templates import from_template
from vgpu.base.words import plural

LAYERS = 4
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
    """For each kind of parallelism, the weights of each layer that each rank keeps, and its part of the batch."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise ValueError(f"no kind called {unknown[0]!r}: there are {', '.join(KINDS)}")
    if LAYERS % ranks:
        raise ValueError(f"{LAYERS} layers are drawn: give 1, 2 or 4 ranks, not {ranks}")
    panels = [
        (kind, word, [([weights(layer, rank, ranks) for layer in range(LAYERS)], batch(rank, ranks))
                      for rank in range(ranks)])
        for kind in kinds for weights, batch, word in [KINDS[kind]]
    ]  # fmt: skip
    said = "; ".join(f"{kind}: {KINDS[kind][2]}" for kind in kinds)
    finding = f"Four ways to share {plural(LAYERS, 'layer')} and a batch among {ranks} ranks. {said}."
    return from_template("parallel_kinds", finding, panels=panels, column=406 / ranks)
