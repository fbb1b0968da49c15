"""What the exercises of lab 14 share: an LSTM's step in NumPy, data that saturates gates, and limits."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import numbers, plural
from helpers.checking.stream_work import of
from vgpu.tools.streams.recording import Timeline

SIDE, FLOAT, NEVER = 16, 4, 1e6
SATURATED = 100
"""What some sums before a gate are: beyond it, exp of a float is infinite or 0."""


def name(batch: int, hidden: int) -> str:
    return f"{plural(batch, 'sequence')} of {plural(hidden, 'unit')}"


def sizes(dice: np.random.Generator) -> list[tuple[int, int, int]]:
    """Two sizes that a seed draws: sequences, units, and a seed of its own."""
    few = (int(dice.integers(2, 7)), int(dice.integers(34, 90)), int(dice.integers(1, 10**6)))
    many = (int(dice.integers(40, 70)), int(dice.integers(2, 32)), int(dice.integers(1, 10**6)))
    return [few, many]


def sums(batch: int, columns: int, seed: int) -> np.ndarray:
    """Sums before gates, between -2 and 2, but for one in 16, which saturates its gate."""
    found = numbers((batch, columns), seed) / 4
    flat = found.reshape(-1)
    flat[5::16] = SATURATED
    flat[13::16] = -SATURATED
    return found


def sigmoid(z: np.ndarray) -> np.ndarray:
    return (1 + np.tanh(z / 2)) / 2


def stepped(z: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """i, f, g, o, the new c and the new h of the sums `z` (batch, 4 · hidden), in PyTorch's order, in float64."""
    z_i, z_f, z_g, z_o = np.split(z.astype(np.float64), 4, axis=1)
    i, f, g, o = sigmoid(z_i), sigmoid(z_f), np.tanh(z_g), sigmoid(z_o)
    new = f * c + i * g
    return i, f, g, o, new, o * np.tanh(new)


def masked(z: np.ndarray, state: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The next rows [h | c] of `state`, where only sequences that are `active` take a step."""
    *_, c, h = stepped(z, np.split(state, 2, axis=1)[1])
    return np.where(active[:, None], np.concatenate([h, c], axis=1), state)


def requests(timeline: Timeline) -> float:
    """What the host asks for: launches, copies, waits, and once what is in each graph; many where no kernel is."""
    asked = [each for each in timeline.operations if each.kind not in ("host read", "host write", "record", "wait")]
    graphs = {id(each.graph): len(each.nodes) for each in of(timeline, "graph")}
    return len(asked) + sum(graphs.values()) if of(timeline, "kernel") or graphs else NEVER
