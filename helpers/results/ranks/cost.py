"""What a collective costs on a link: seconds by the alpha-beta model, for the algorithms that libraries use.

A message of S bytes from one rank to another takes α + S / B, with the link's latency α and its bandwidth B in one
direction. Formulas of an all-reduce and of its halves: Thakur, Rabenseifner and Gropp, "Optimization of Collective
Communication Operations in MPICH", 2005 (https://doi.org/10.1177/1094342005051521); of two trees that share the
message, NVIDIA on NCCL 2.4 (https://developer.nvidia.com/blog/massively-scale-deep-learning-training-nccl-2-4/).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from vgpu.hardware.interconnects import Link

SENT = {  # bytes that a rank sends in a ring of n, as a multiple of the message S
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "send": lambda n: 1.0,
    "recv": lambda n: 0.0,
}
MESSAGES = {
    "all_reduce": lambda n: 2 * (n - 1),
    "all_gather": lambda n: n - 1,
    "reduce_scatter": lambda n: n - 1,
    "send": lambda n: 1,
    "recv": lambda n: 0,
}


def ring_seconds(nbytes: float, ranks: int, link: Link) -> float:
    """An all-reduce of so many bytes as a ring: 2 (n − 1) messages of S / n."""
    return 2 * (ranks - 1) * (link.latency + nbytes / ranks / link.bandwidth)


def tree_seconds(nbytes: float, ranks: int, link: Link) -> float:
    """An all-reduce along two trees that share the message: up and down log₂ n levels, twice S through each rank."""
    if ranks == 1:
        return 0.0
    return 2 * math.ceil(math.log2(ranks)) * link.latency + 2 * nbytes / link.bandwidth


def star_seconds(nbytes: float, ranks: int, link: Link) -> float:
    """An all-reduce through one rank, whose link takes n − 1 messages in and as many out, one after the other."""
    return 2 * (ranks - 1) * (link.latency + nbytes / link.bandwidth)


def all_gather_seconds(nbytes: float, ranks: int, link: Link) -> float:
    """An all-gather, or a reduce-scatter, of so many bytes in all as a ring: n − 1 messages of S / n."""
    return ring_seconds(nbytes, ranks, link) / 2


def sent_bytes(traffic: Mapping[str, tuple[int, int, int]]) -> float:
    """Bytes that a rank sends for counted calls {name: (calls, bytes, ranks)} where collectives are rings."""
    return sum(SENT[name](ranks) * nbytes for name, (_, nbytes, ranks) in traffic.items())


def sent_messages(traffic: Mapping[str, tuple[int, int, int]]) -> int:
    """Messages that a rank sends for counted calls where collectives are rings."""
    return sum(MESSAGES[name](ranks) * calls for name, (calls, _, ranks) in traffic.items())


def seconds(traffic: Mapping[str, tuple[int, int, int]], link: Link) -> float:
    """What the counted calls of one rank take on a link when nothing overlaps."""
    return sent_messages(traffic) * link.latency + sent_bytes(traffic) / link.bandwidth
