"""Write down what a function does with tensors and kernels, as a `Program`.

PyTorch's dispatcher says which operators run, and the virtual GPU which kernels are launched on which memory. A tensor
that was not seen before is an input, or a part of one, if it holds the same numbers, and otherwise a constant; so
inputs should be random. What NumPy computes in between can't be seen: its results are constants.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.checking.kernel_as_json import Portable, packed
from helpers.checking.tensor_program import CONSTANT, INPUT, LAUNCH, NotReplayable, Program, too_many
from helpers.checking.values_as_json import NotPlain, plain
from vgpu.base.errors import Unsupported
from vgpu.standins import calls

_Sizes = int | tuple[int, ...] | list[int]
MOST_KERNELS = 16
LEAST_PART = 8
"""Numbers that it takes to know a part of an input."""
_WHERE = ("device", "layout", "memory_format", "non_blocking", "pin_memory")
"""Arguments of operators that say where a tensor lies, and not what it holds."""


class Kernels:
    """The different kernels of several programs, as they can be run elsewhere, by their numbers."""

    def __init__(self) -> None:
        self.packed: list[Portable] = []
        self._numbers: dict[str, int] = {}

    def number(self, kernel: Any, args: tuple) -> int:
        portable = packed(kernel, tuple(map(_sample, args)))
        key = json.dumps(portable.as_json(), sort_keys=True)
        if key not in self._numbers:
            if len(self.packed) == MOST_KERNELS:
                raise NotReplayable(f"it launches more than {MOST_KERNELS} different kernels")
            self._numbers[key] = len(self.packed)
            self.packed.append(portable)
        return self._numbers[key]


def _sample(value: Any) -> Any:
    """An argument of the same type, without gaps in its memory."""
    from vgpu.standins import cupy as cp

    return cp.zeros((1,) * len(value.shape), value.dtype) if _is_array(value) else value


def traced(function: Callable, arguments: tuple, kernels: Kernels) -> Program:
    """Call the function, and return what it did; raises what the function raises, and NotReplayable."""
    from torch.utils._python_dispatch import TorchDispatchMode

    trace = _Trace(arguments, kernels)

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(self, operator: Any, types: object, args: tuple = (), kwargs: dict | None = None) -> Any:
            with self:  # in inference mode, operators that consist of simpler ones come whole
                if (result := operator.decompose(*args, **(kwargs or {}))) is not NotImplemented:
                    return result
            return trace.operator(operator, args, kwargs or {})

    with calls.LAUNCHED.hearing(trace.launch), Listening():
        result = function(*(np.array(each) for each in arguments))
    return trace.program(result)


class _Trace:
    def __init__(self, arguments: tuple, kernels: Kernels):
        self._arguments, self._kernels = arguments, kernels
        self._steps: list[dict] = []
        self._constants: list[np.ndarray] = []
        self._views: list[np.ndarray] = []  # by number: the memory of each value
        self._numbers: dict[tuple, int] = {}
        self._alive: list = []  # or their addresses would be used again
        self._launch: tuple | None = None

    # --- operators

    def operator(self, operator: Any, args: tuple, named: dict) -> Any:
        import torch

        self._settle()
        name = operator._schema.name.removeprefix("aten::")
        step = {"do": name, "args": [self._coded(each) for each in args]}
        coded = {key: self._coded(value) for key, value in named.items() if key not in _WHERE}
        if coded := {key: value for key, value in coded.items() if value is not None}:
            step["named"] = coded
        result = operator(*args, **named)
        made = [each for each in (result if isinstance(result, tuple | list) else [result]) if each is not None]
        if made and all(isinstance(each, torch.Tensor) for each in made):
            views = [_of_tensor(each) for each in made]
            if name.startswith(("empty", "new_empty")):
                view = views[0]
                view.view(np.uint8).fill(0xFF) if view.flags.c_contiguous and view.ndim else None
            same = name.endswith("_") and "value" in (step["args"] or [{}])[0]
            step["out"] = step["args"][0]["value"] if same else list(map(self._new, views, made))
            self._steps.append(step)
        return result

    def _coded(self, value: Any) -> Any:
        import torch

        if isinstance(value, torch.Tensor):
            return {"value": self._value(_of_tensor(value), value)}
        if isinstance(value, tuple | list):
            return [self._coded(each) for each in value]
        if isinstance(value, torch.dtype):
            return str(value).removeprefix("torch.")
        return plain(value) if isinstance(value, bool | int | float) else None  # a device, a layout, a memory format

    # --- launches

    def launch(self, kernel: Any, grid: _Sizes, block: _Sizes, args: tuple, shared_bytes: int) -> None:
        """Take note of a launch that is about to run."""
        self._settle()
        if shared_bytes:
            raise NotReplayable("launches with dynamic shared memory can't be run again")
        coded, arrays = [], {}
        for position, value in enumerate(args):
            if not _is_array(value):
                coded.append(_scalar(value))
                continue
            view = _of_array(value)
            if not view.flags.c_contiguous and type(kernel).__name__ == "RawKernel":
                raise NotReplayable(
                    f"`{kernel.name}` is given an array whose memory has gaps: contiguous() closes them"
                )
            coded.append({"value": self._value(view, value)})
            arrays[position] = view
        step = {"do": LAUNCH, "args": coded, "grid": _sizes(grid), "block": _sizes(block)}
        self._launch = kernel, args, step, {at: (view, view.copy()) for at, view in arrays.items()}

    def _settle(self) -> None:
        """Complete the last launch: which of its arrays hold something else now?"""
        if self._launch is None:
            return
        (kernel, args, step, arrays), self._launch = self._launch, None
        writes = [at for at, (view, before) in arrays.items() if view.tobytes() != before.tobytes()]
        if writes:
            step |= {"kernel": self._kernels.number(kernel, args), "writes": writes}
            self._steps.append(step)

    # --- values

    def _value(self, view: np.ndarray, owner: object) -> int:
        """The number of the value that lies in this memory."""
        number = self._numbers.get(_place(view))
        if number is None:
            number = self._same_memory(view, owner)
        return self._outside(view, owner) if number is None else number

    def _same_memory(self, view: np.ndarray, owner: object) -> int | None:
        """A value in the same memory that has another shape."""
        if not view.flags.c_contiguous:
            return None
        for number, other in enumerate(self._views):
            same = (_address(other), other.nbytes, other.dtype) == (_address(view), view.nbytes, view.dtype)
            if same and other.flags.c_contiguous:
                return self._step("view", [{"value": number}, list(view.shape)], view, owner)
        return None

    def _outside(self, view: np.ndarray, owner: object) -> int:
        """The number of a new value: an input, by what it holds, or a constant."""
        for number, given in enumerate(self._arguments):
            if _holds(view, given):
                return self._step(INPUT, [number], view, owner)
        constant = view.size and (view == view.flat[0]).all()
        if not constant and (part := self._part_of_an_input(view)) is not None:
            number, first = part
            given = self._arguments[number]
            whole = self._step(INPUT, [number], np.array(given), given)
            flat = self._step("view", [{"value": whole}, [given.size]], np.empty(0), view)
            some = self._step("slice", [{"value": flat}, 0, first, first + view.size], np.empty(0), view)
            return self._step("view", [{"value": some}, list(view.shape)], view, owner)
        if constant:
            args, named = [list(view.shape), plain(view.flat[0].item())], {"dtype": view.dtype.name}
            return self._step("full", args, view, owner, named)
        number = next((at for at, each in enumerate(self._constants) if _holds(view, each)), len(self._constants))
        if number == len(self._constants):
            self._constants.append(np.array(view, order="C"))
            if words := too_many(self._constants):
                raise NotReplayable(words)
        return self._step(CONSTANT, [number], view, owner)

    def _part_of_an_input(self, view: np.ndarray) -> tuple[int, int] | None:
        """The number of an input, and the element at which it holds the numbers of `view` in a row."""
        for number, given in enumerate(self._arguments):
            if LEAST_PART <= view.size < given.size and view.dtype == given.dtype:
                first, rest = divmod(given.tobytes().find(view.tobytes()), given.itemsize)
                if first >= 0 and not rest:
                    return number, first
        return None

    def _step(self, do: str, args: list, view: np.ndarray, owner: object, named: dict | None = None) -> int:
        number = self._new(view, owner)
        self._steps.append({"do": do, "args": args, "named": named or {}, "out": number})
        return number

    def _new(self, view: np.ndarray, owner: object) -> int:
        self._views.append(view)
        self._alive.append(owner)
        self._numbers[_place(view)] = len(self._views) - 1
        return len(self._views) - 1

    # --- what is returned

    def program(self, result: object) -> Program:
        self._settle()
        return Program(self._steps, self._constants, self._result(result))

    def _result(self, value: Any) -> object:
        if isinstance(value, list):
            return [self._result(each) for each in value]
        if type(value) is tuple:
            return {"tuple": [self._result(each) for each in value]}
        if _is_array(value):
            value = value.get()
        if not isinstance(value, np.ndarray):
            return plain(value)
        return {"value": self._made(value)}

    def _made(self, array: np.ndarray) -> int:
        """The value that an array is, or holds a copy of, or, of scores, the places of the greatest."""
        if (number := self._numbers.get(_place(array))) is not None:
            return number
        for number in reversed(range(len(self._views))):
            if _holds(array, self._views[number]):
                return number
        for number in reversed(range(len(self._views))):
            scores = self._views[number]
            if array.dtype.kind == "i" and scores.ndim == 2 and np.array_equal(scores.argmax(1), array):
                return self._step("argmax", [{"value": number}, 1], array, array)
        return self._value(array, array)


# --- memory -----------------------------------------------------------------------------------------------------------


def _is_array(value: object) -> bool:
    return hasattr(value, "__cuda_array_interface__") and hasattr(value, "get")


def _of_tensor(tensor: Any) -> np.ndarray:
    """The tensor's memory."""
    return tensor.detach().resolve_conj().resolve_neg().numpy()


class _Memory:
    def __init__(self, described: dict):
        self.__array_interface__ = {key: described[key] for key in ("data", "shape", "typestr", "version")}
        self.__array_interface__["strides"] = described.get("strides")


def _of_array(array: Any) -> np.ndarray:
    """The memory of one of the virtual GPU's arrays, which is the host's."""
    return np.asarray(_Memory(array.__cuda_array_interface__))


def _address(view: np.ndarray) -> int:
    return view.__array_interface__["data"][0]


def _place(view: np.ndarray) -> tuple:
    return _address(view), view.shape, view.dtype.str, None if view.flags.c_contiguous else view.strides


def _holds(view: np.ndarray, other: np.ndarray) -> bool:
    same_kind = isinstance(other, np.ndarray) and view.shape == other.shape and view.dtype == other.dtype
    return same_kind and view.tobytes() == other.tobytes()


def _scalar(value: object) -> object:
    try:
        return plain(value)
    except NotPlain as error:
        raise Unsupported(str(error)) from None


def _sizes(sizes: _Sizes) -> list[int]:
    return [int(size) for size in (sizes if isinstance(sizes, tuple | list) else (sizes,))]
