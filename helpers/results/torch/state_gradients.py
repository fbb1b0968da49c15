"""How far back a recurrent cell can learn: the gradient of its last state by each state before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

BATCH, SCALE = 8, 0.3


def state_gradients(make: Callable[[float], Any], value: float, steps: int, *, seed: int = 0) -> list[float]:
    """Norms of the gradient of a number read off the last state, by the state 0, 1, … `steps - 1` steps before it.

    `make(value)` gives a cell as PyTorch has them: `cell(x, state)` returns the next state, a tensor or a tuple whose
    first is the hidden state; `state` is None at first; `cell.input_size` says how wide x is. It reads normal noise of
    deviation 0.3. The norm is that of all parts of a state together, as a share of the norm at the last state. Weights
    and noise are drawn from `seed`, and PyTorch's own generator is left as it was. Raises ValueError where a gradient
    is no number.
    """
    import torch

    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices), torch.enable_grad():
        torch.manual_seed(seed)
        cell = make(value)
        state, states = None, []
        for _ in range(steps):
            state = cell(SCALE * torch.randn(BATCH, cell.input_size), state)
            states.append(state if isinstance(state, tuple) else (state,))
        last = states[-1][0]
        read = (last * torch.randn(last.shape)).sum()
        parts = [part for state in states for part in state]
        gradients = torch.autograd.grad(read, parts, allow_unused=True)
    width = len(states[0])
    norms = [_norm(gradients[first : first + width]) for first in range(0, len(parts), width)]
    if not (norms[-1] > 0 and all(map(math.isfinite, norms))):
        raise ValueError(f"the gradient of this cell is no number at the value {value:g}, or zero from the start")
    return [norm / norms[-1] for norm in reversed(norms)]


def _norm(gradients: Iterable[torch.Tensor | None]) -> float:
    """The norm of several tensors together; what was not used has none."""
    return math.sqrt(sum(part.double().square().sum().item() for part in gradients if part is not None))
