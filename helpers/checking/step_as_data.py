"""A training step of a GAN as data: the operations on tensors that it calls, recorded once and replayed elsewhere.

`recorded` calls a `train_step` on two networks of one matrix each, and notes every operation of PyTorch that takes
part: (name, arguments, keyword arguments, whether gradients were enabled). `replayed` carries such a list, of unknown
origin, out on weights and images of the caller's choice, with PyTorch's own autograd. So it shows what the step itself
does to weights that its author has not seen. `OPERATIONS` holds everything that can be called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta, Struct

from helpers.checking.values_as_json import Record, read

GENERATOR, DISCRIMINATOR, REAL, LATENTS = range(4)
"""The tensors that a step is given, by number; later ones are numbered as they are made."""
MOST_CALLS = 300
MOST_VALUES = 4096
"""Values of one tensor."""
MOST_PIECES = 64
"""Tensors that one operation may give, such as a split."""

_EITHER = (
    "add sub mul div true_divide rsub neg mean sum log log1p exp expm1 sigmoid tanh relu abs square pow sqrt clamp "
    "minimum maximum logaddexp reshape squeeze unsqueeze flatten chunk split detach clone softplus"
)
_METHODS = (
    "backward requires_grad_ view __getitem__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ "
    "__rtruediv__ __rdiv__ __pow__ __neg__ data.__get__ requires_grad.__set__ grad.__set__"
)
_FUNCTIONS = "cat stack ones_like zeros_like full_like where autograd.grad"
_LOSSES = (
    "linear binary_cross_entropy_with_logits binary_cross_entropy softplus logsigmoid sigmoid relu leaky_relu mse_loss"
)
OPERATIONS = frozenset(
    f"torch.{room}{name}"
    for rooms, names in (
        (("", "Tensor."), _EITHER),
        (("Tensor.",), _METHODS),
        (("",), _FUNCTIONS),
        (("nn.functional.",), _LOSSES),
    )
    for room in rooms
    for name in names.split()
)
"""Names as `torch.overrides.resolve_name` gives them."""
OPTIMISER = ("zero_grad", "step")


class NotRecorded(ValueError):
    """A training step that can't be replayed; the message says why."""


if TYPE_CHECKING:  # mypy can't read a computed Literal
    _Name = str
else:
    _Name = Literal[(*sorted(OPERATIONS), *OPTIMISER)]


class _Call(Struct, array_like=True, forbid_unknown_fields=True):
    name: _Name
    args: list
    named: dict[str, object]
    gradients: bool  # whether they were enabled


class _Step(Record, frozen=True):
    calls: Annotated[list[_Call], Meta(max_length=MOST_CALLS)]


def _tensors_in(out: object) -> list:
    import torch

    return [each for each in (out if isinstance(out, tuple | list) else (out,)) if isinstance(each, torch.Tensor)]


# --- where its author runs --------------------------------------------------------------------------------------------


def recorded(train_step: Callable, images: int, latent: int, pixels: int) -> list[tuple]:
    """The operations of `train_step(generator, discriminator, g_optimiser, d_optimiser, real, latents)`.

    Raises NotRecorded where the step calls an operation that can't be replayed.
    """
    import torch

    recorder = _recorder()()
    networks = [_network(recorder, which, *shape) for which, shape in enumerate(((latent, pixels), (pixels, 1)))]
    optimisers = [_Optimiser(recorder, which, network.weight) for which, network in enumerate(networks)]
    given = torch.randn(images, pixels), torch.randn(images, latent)
    for tensor in (*(network.weight for network in networks), *given):
        recorder.number(tensor)
    with recorder:
        train_step(*networks, *optimisers, *given)
    return recorder.calls


@cache
def _recorder() -> type:
    import torch
    from torch.overrides import TorchFunctionMode, resolve_name

    class Recorder(TorchFunctionMode):
        """Notes the operations that are called while it is active."""

        def __init__(self) -> None:
            super().__init__()
            self.calls: list[tuple] = []
            self._tensors: list = []  # kept, so that no other tensor takes their ids
            self._numbers: dict[int, int] = {}
            self._paused = False

        def number(self, tensor: object) -> None:
            self._numbers[id(tensor)] = len(self._tensors)
            self._tensors.append(tensor)

        def optimiser(self, name: str, which: int, work: Callable[[], None]) -> None:
            """A call of an optimiser, whose own operations are not noted."""
            self.calls.append((name, [which], {}, True))
            self._paused = True
            work()
            self._paused = False

        def __torch_function__(
            self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
        ) -> Any:
            kwargs = kwargs or {}
            out = function(*args, **kwargs)
            if self._paused:
                return out
            name = resolve_name(function) or getattr(function, "__name__", "an operation")
            name = "torch.autograd.grad" if function is torch.autograd.grad else name  # it has no name there
            made = _tensors_in(out)
            if name in OPERATIONS:
                named = {key: self._plain(value) for key, value in kwargs.items()}
                self.calls.append((name, [self._plain(each) for each in args], named, torch.is_grad_enabled()))
                for tensor in made:
                    self.number(tensor)
            elif made and self._knows(args):
                raise NotRecorded(f"the step calls {name}, which can't be replayed")
            return out

        def _knows(self, args: tuple) -> bool:
            flat = [each for arg in args for each in (arg if isinstance(arg, tuple | list) else (arg,))]
            return any(id(each) in self._numbers for each in flat)

        def _plain(self, value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                number = self._numbers.get(id(value))
                return ("tensor", number) if number is not None else ("constant", value.detach().cpu().numpy())
            if isinstance(value, slice):
                return ("slice", value.start, value.stop, value.step)
            if isinstance(value, tuple | list):
                return [self._plain(each) for each in value]
            return value if value is None or isinstance(value, bool | int | float | str) else None

    return Recorder


def _network(recorder: Any, which: int, given: int, made: int) -> Any:
    import torch

    class Network(torch.nn.Linear):
        def zero_grad(self, set_to_none: bool = True) -> None:
            recorder.optimiser("zero_grad", which, lambda: setattr(self.weight, "grad", None))

    return Network(given, made, bias=False)


class _Optimiser:
    """Plain gradient descent of one matrix, as PyTorch's optimisers are called."""

    def __init__(self, recorder: Any, which: int, weight: Any) -> None:
        self._recorder, self._which, self._weight = recorder, which, weight

    def zero_grad(self, set_to_none: bool = True) -> None:
        self._recorder.optimiser("zero_grad", self._which, lambda: setattr(self._weight, "grad", None))

    def step(self) -> None:
        self._recorder.optimiser("step", self._which, lambda: None)


# --- where it's judged ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a step did. `weights`: of the generator and the discriminator afterwards. `passes`: how often a gradient
    went back through the generator in each step."""

    weights: tuple[np.ndarray, np.ndarray]
    passes: float


def replayed(calls: object, given: tuple[np.ndarray, ...], rate: float, rounds: int) -> Replayed:
    """Carry a recorded step out `rounds` times. given: weights of both networks (inputs, outputs), images, latents.

    Raises NotRecorded where `calls` is no such recording, and what PyTorch raises.
    """
    import torch

    step = read({"calls": calls}, _Step, NotRecorded).calls
    weights = [torch.tensor(w.T.copy(), requires_grad=True) for w in given[:2]]
    rest = [torch.tensor(each) for each in given[2:]]
    passes: list[int] = []
    weights[GENERATOR].register_hook(lambda gradient: passes.append(1))
    for _ in range(rounds):
        tensors = [*weights, *rest]
        for call in step:
            _call(call, tensors, rate)
    return Replayed(tuple(w.detach().numpy().T.copy() for w in weights), len(passes) / rounds)


def _call(call: _Call, tensors: list, rate: float) -> None:
    import torch

    if call.name in OPTIMISER:
        _optimise(call.name, call.args, tensors, rate)
        return
    args = [_value(each, tensors) for each in call.args]
    named = {key: _value(each, tensors) for key, each in call.named.items()}
    shapes = [each.shape for each in (*args, *named.values()) if isinstance(each, torch.Tensor)]
    with suppress(RuntimeError):  # operands of other shapes than can be broadcast, such as a matrix product's
        _limit(math.prod(torch.broadcast_shapes(*shapes)))
    with torch.set_grad_enabled(call.gradients):
        out = _function(call.name)(*args, **named)
    made = _tensors_in(out)
    _limit(max((each.numel() for each in made), default=0))
    if len(made) > MOST_PIECES:
        raise NotRecorded(f"an operation gives more than {MOST_PIECES} tensors")
    tensors += made


def _limit(values: int) -> None:
    if values > MOST_VALUES:
        raise NotRecorded(f"a tensor has more than {MOST_VALUES:,} values")


def _optimise(name: str, args: list, tensors: list, rate: float) -> None:
    which = args[0] if len(args) == 1 and type(args[0]) is int else None
    if which not in (GENERATOR, DISCRIMINATOR):
        raise NotRecorded("an optimiser moves the generator or the discriminator")
    weight = tensors[which]
    if name == "zero_grad":
        weight.grad = None
    elif weight.grad is not None:
        weight.data -= rate * weight.grad


@cache
def _function(name: str) -> Any:
    import torch

    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def _value(value: Any, tensors: list) -> Any:
    import torch

    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() if len(value) <= MOST_VALUES:
            return [_value(each, tensors) for each in value]
        case ("tensor", int(number)) if 0 <= number < len(tensors):
            return tensors[number]
        case ("constant", np.ndarray(size=size) as held) if size <= MOST_VALUES:
            return torch.tensor(held)
        case ("slice", None | int(), None | int(), None | int()):
            return slice(*value[1:])
    raise NotRecorded("an argument is a number, a text, a tensor, a constant or a slice")
