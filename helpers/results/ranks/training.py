"""Data-parallel training that ranks have recorded, carried out on a small network whose data the program never saw.

The network has one hidden layer with tanh and a mean squared loss, in float64, so that what is left between two ways
to take the same sum is far below any mistake.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from helpers.results.ranks.dry_run import NotCarriedOut, Outside, Stuck, is_whole, plans_in

COLLECTIVES = ("broadcast", "all_reduce")


class OutOfMemory(NotCarriedOut):
    """A micro-batch has more samples than fit."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is trained: `weights` (ranks, parameters) before, inputs `x` (samples, width), targets `y` (samples,).

    `fits`: samples of a micro-batch at most. `rate`: of gradient descent.
    """

    weights: np.ndarray
    x: np.ndarray
    y: np.ndarray
    fits: int
    rate: float = 0.5


@dataclass(frozen=True, eq=False)
class Trained:
    """What came of it: `weights` (ranks, parameters); how often all ranks called a collective; `busiest`, the samples
    of the busiest rank in each update, summed."""

    weights: np.ndarray
    all_reduces: int
    broadcasts: int
    busiest: int


def gradient(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """That of the mean loss over samples; NaN where there are none, as in PyTorch."""
    if not len(x):
        return np.full(weights.shape, np.nan)
    width = x.shape[1]
    hidden = len(weights) // (width + 1)
    first, second = weights[: width * hidden].reshape(width, hidden), weights[width * hidden :]
    between = np.tanh(x @ first)
    error = 2 * (between @ second - y) / len(x)
    back = np.outer(error, second) * (1 - between**2)
    return np.concatenate([(x.T @ back).ravel(), between.T @ error])


def one_process(task: Task, batches: Iterable[np.ndarray]) -> np.ndarray:
    """The weights of a single process that starts from those of rank 0, after an update by each whole batch."""
    weights = task.weights[0].copy()
    for batch in batches:
        weights -= task.rate * gradient(weights, task.x[batch], task.y[batch])
    return weights


class _Worker:
    """One rank at work: its weights, its gradient, and the samples that it took for each update."""

    def __init__(self, number: int, task: Task, plan: list):
        self.number, self.task, self._left = number, task, iter(plan)
        self.weights, self.gradient = task.weights[number].copy(), np.zeros(task.weights.shape[1])
        self.samples = [0]

    def until_a_collective(self) -> list | None:
        """Work on; the collective that this rank now waits in, or None at its end."""
        for asked in self._left:
            if asked[0] in COLLECTIVES:
                return asked
            self._do(asked)
        return None

    def _do(self, asked: list) -> None:
        match asked:
            case ["clear"]:
                self.gradient = np.zeros_like(self.gradient)
            case ["update"]:
                self.weights = self.weights - self.task.rate * self.gradient
                self.samples.append(0)
            case ["backward", list(samples), float(weight)] if all(map(is_whole, samples)):
                self._backward(samples, weight)
            case _:
                raise NotCarriedOut(f"rank {self.number} asks for {str(asked)[:60]}, which is no part of training")

    def _backward(self, samples: list[int], weight: float) -> None:
        if len(samples) > self.task.fits:
            raise OutOfMemory(f"rank {self.number} takes {len(samples)} samples at once, and {self.task.fits} fit")
        if any(not 0 <= sample < len(self.task.x) for sample in samples):
            raise Outside(f"rank {self.number} takes a sample that does not exist: there are {len(self.task.x)}")
        found = gradient(self.weights, self.task.x[samples], self.task.y[samples])
        self.gradient = self.gradient + weight * found
        self.samples[-1] += len(samples)


def trained(recording: object, task: Task) -> Trained:
    """Carry out a recording. Raises NotCarriedOut, in one of its kinds."""
    workers = [_Worker(n, task, plan) for n, plan in enumerate(plans_in(recording, len(task.weights)))]
    counts = dict.fromkeys(COLLECTIVES, 0)
    while any(waiting := [worker.until_a_collective() for worker in workers]):
        kinds = {None if asked is None else str(asked) for asked in waiting}
        if len(kinds) > 1:
            words = [f"rank {n} {'has ended' if asked is None else 'waits in ' + str(asked[0])}"
                     for n, asked in enumerate(waiting)]  # fmt: skip
            raise Stuck(f"a collective needs all ranks: {', '.join(words[:4])}")
        asked = waiting[0]
        assert asked is not None  # all wait in it
        counts[asked[0]] += 1
        _together(workers, asked)
    rounds = max(len(worker.samples) for worker in workers)
    busiest = sum(max(w.samples[at] if at < len(w.samples) else 0 for w in workers) for at in range(rounds))
    return Trained(np.stack([worker.weights for worker in workers]), counts["all_reduce"], counts["broadcast"], busiest)


def _together(workers: list[_Worker], asked: list) -> None:
    if asked == ["all_reduce"]:
        mean = np.mean([worker.gradient for worker in workers], axis=0)
        for worker in workers:
            worker.gradient = mean.copy()
        return
    source = asked[1] if len(asked) == 2 else None
    if not is_whole(source) or not 0 <= source < len(workers):
        raise Outside(f"there is no rank {str(source)[:20]} to broadcast from")
    for worker in workers:
        worker.weights = workers[source].weights.copy()
