"""From when to when each layer's output is held in a training step, and which outputs are computed twice.

It is read from the recording of a step whose parts are marked `forward` and `backward`, by the operator that made the
outputs. Layers follow one another, so the backward pass needs their outputs from the last to the first.
"""

from __future__ import annotations

from dataclasses import dataclass

from helpers.results.torch.memory import MemoryLine

KEPT, DROPPED, AGAIN = "kept for the backward pass", "dropped at once", "computed again"
FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True)
class Life:
    """One tensor: the output of `layer`, counted from 1, held from change `first` up to change `last`; `kind` says why.

    Changes are counted from the first of the forward pass on.
    """

    layer: int
    first: int
    last: int
    kind: str


@dataclass(frozen=True)
class Lives:
    """All outputs of a step's layers; `turn` is the change at which the backward pass begins, `end` that behind it."""

    outputs: tuple[Life, ...]
    turn: int
    end: int

    @property
    def layers(self) -> int:
        return max(each.layer for each in self.outputs)

    @property
    def held(self) -> tuple[int, ...]:
        """How many outputs are held after each change."""
        return tuple(sum(each.first <= at < each.last for each in self.outputs) for at in range(self.end))

    def count(self, kind: str) -> int:
        """How many outputs are of this kind."""
        return sum(each.kind == kind for each in self.outputs)


def lives(line: MemoryLine, operator: str) -> Lives:
    """The outputs that `operator` made, one a layer, in the one step that `line` has recorded.

    ValueError where there is no phase `forward` with one `backward` after it, where the operator made nothing in the
    forward pass, or where only some layers are computed again, so that nothing tells which.
    """
    spans = {each.name: each for each in line.phases}
    if FORWARD not in spans or BACKWARD not in spans:
        raise ValueError(f"mark the parts of the step as {FORWARD!r} and {BACKWARD!r} with record_function")
    start, turn, end = spans[FORWARD].first, spans[BACKWARD].first, spans[BACKWARD].last + 1
    freed = {each.block: at for at, each in enumerate(line.changes) if each.nbytes < 0}
    made = [at for at, each in enumerate(line.changes) if each.nbytes > 0 and each.operator == operator]
    first_time = [at for at in made if start <= at < turn]
    again = [at for at in made if turn <= at < end]
    if not first_time:
        raise ValueError(f"no output of {operator} is taken in the forward pass")
    if again and len(again) != len(first_time):
        raise ValueError(f"{len(again)} of {len(first_time)} layers are computed again: which ones, nothing tells")
    until = lambda at: min(freed.get(line.changes[at].block, end), end)
    outputs = []
    for layer, at in enumerate(first_time, 1):
        outputs.append(Life(layer, at - start, until(at) - start, DROPPED if until(at) < turn else KEPT))
    for place, at in enumerate(sorted(again, key=until)):  # the last layer's output is the first to be used up
        outputs.append(Life(len(again) - place, at - start, until(at) - start, AGAIN))
    return Lives(tuple(outputs), turn - start, end - start)
