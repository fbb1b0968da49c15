"""Tensors that are passed to CuTe DSL: kernels use their memory in place, and errors name them.

CuTe DSL sees every tensor by DLPack, as a `_Tensor` of its own. Its memory is known here as long as that lives.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from cutlass.base_dsl.dsl import BaseDSL
from cutlass.base_dsl.jit_executor import ExecutionArgs
from cutlass.cute.runtime import _Tensor, from_dlpack

from vgpu.standins.cute.hidden import in_place_of
from vgpu.standins.cute.runtime import ARRAYS
from vgpu.storage import memory
from vgpu.storage.memory import ArrayInfo


def activate() -> None:
    """Lend the memory of each tensor when its address is taken, and note the tensors of each call by name."""
    making, pointers = _Tensor.__init__, _Tensor.__c_pointers__

    @in_place_of(making)
    def made(self: Any, *args: Any, **named: Any) -> None:
        making(self, *args, **named)
        _on_device(self._dlpack_data)

    @in_place_of(pointers)
    def lending(self: Any) -> list[int]:
        if not hasattr(self, "_virtual_memory"):
            self._virtual_memory = _lent(self)
        return pointers(self)

    _Tensor.__init__, _Tensor.__c_pointers__ = made, lending
    ExecutionArgs.generate_execution_args = _noting(
        ExecutionArgs.generate_execution_args, lambda self, args, named: zip(self._meta.all_names, args, strict=False)
    )
    BaseDSL.generate_mlir_function_types = _noting(
        BaseDSL.generate_mlir_function_types, lambda self, function, name, args, named, signature, *_: (
            *zip(signature.parameters, args, strict=False), *named.items()
        )
    )  # fmt: skip


def _on_device(capsule: object) -> None:
    """Say in a `DLManagedTensor` that the memory is a GPU's: to other memory CuTe DSL makes no global pointers."""
    address = _address_in(capsule, b"dltensor")
    ctypes.c_int32.from_address(address + ctypes.sizeof(ctypes.c_void_p)).value = _CUDA


_CUDA = 2  # kDLCUDA, the kind of device after the pointer to the data
_address_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _noting(marshal: Callable[..., Any], named: Callable[..., Iterable[tuple[str, Any]]]) -> Callable[..., Any]:
    """A method that makes the arguments of a call, and also notes the arrays among them for the launches within."""

    @in_place_of(marshal)
    def wrapper(self: Any, *args: Any) -> Any:
        ARRAYS.set(tuple(_described(named(self, *args))))
        return marshal(self, *args)

    return wrapper


def _described(arguments: Iterable[tuple[str, Any]]) -> Iterator[ArrayInfo]:
    """The tensors among a call's arguments."""
    for name, value in arguments:
        if not isinstance(value, _Tensor) and hasattr(value, "__dlpack__"):
            value = from_dlpack(value)
        if type(value) is _Tensor:
            low, nbytes, strides = _extent(value)
            yield ArrayInfo(name, low, nbytes, str(value.element_type), tuple(value.shape), strides)


def _extent(tensor: Any) -> tuple[int, int, tuple[int, ...]]:
    """Address, bytes, and strides in bytes. Elements of parts of a byte count as whole ones."""
    item = max(tensor.element_type.width // 8, 1)
    strides = tuple(item * step for step in tensor.stride)
    ends = (step * (count - 1) for step, count in zip(strides, tensor.shape, strict=True))
    return tensor.data_ptr, 0 if 0 in tensor.shape else sum(ends) + item, strides


def _lent(tensor: Any) -> memory.Allocation | None:
    """The memory of a tensor as an allocation of the virtual GPU."""
    low, nbytes, _ = _extent(tensor)
    if not nbytes:
        return None
    return memory.adopt(np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(low)))
