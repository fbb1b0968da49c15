"""How training scales over ranks by the alpha-beta model: a step computes, then reduces its gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from helpers.results.ranks.cost import ring_seconds, tree_seconds
from vgpu.hardware.interconnects import Link

ALGORITHMS: dict[str, Callable[[float, int, Link], float]] = {"ring": ring_seconds, "tree": tree_seconds}


@dataclass(frozen=True)
class Workload:
    """A data-parallel step: seconds that one rank computes on its share, bytes of gradients, and what overlaps.

    `overlap`: the share of the computing time during which gradients can travel already; in a backward pass that takes
    two thirds of a step it is at most 2/3.
    """

    name: str
    seconds: float
    nbytes: float
    overlap: float = 0.0


def efficiency(
    work: Workload, ranks: int, link: Link, *, algorithm: str = "ring", strong: bool = False, serial: float = 0.0
) -> float:
    """Samples a second for each rank, as a share of those of one rank alone.

    Weak scaling: each rank keeps its batch. `strong`: the whole batch stays, so a rank computes 1/n of it. `serial`:
    seconds of each step that more ranks do not make shorter.
    """
    computes = work.seconds / ranks if strong else work.seconds
    reduces = ALGORITHMS[algorithm](work.nbytes, ranks, link)
    step = serial + computes + max(0.0, reduces - work.overlap * computes)
    return (serial + work.seconds) / step / (ranks if strong else 1)
