"""The layout of a kernel's variables: offsets in parameters, shared and local memory, addresses of module variables.

The first three functions only compute from the parsed text; `load_variables` allocates. Both engines use all four, so
that a variable has the same address in both.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vgpu.base.errors import Unsupported
from vgpu.ptx import Call, Function, Instruction, Mem, Module, Parameter, Sym, Variable, Vec
from vgpu.storage import memory

DYNAMIC_ALIGNMENT = 16
# Shared memory begins at a multiple of this, so that banks, sectors and swizzling depend on offsets only. A matrix
# descriptor holds 18 bits of an address, which kernels may also take from a generic one: on a GPU they are the same.
SHARED_ALIGNMENT, DESCRIBED_ALIGNMENT = 1024, 1 << 18
MOST_LOCAL = 512 << 10  # bytes of a thread's local memory ("CUDA C++ Programming Guide", compute capabilities)
STACK_BYTES = 16384  # a thread's stack for functions that stay functions; `cudaLimitStackSize` is 1024 at first


def parameter_layout(function: Function) -> tuple[dict[str, int], int]:
    """Offset in bytes of each parameter by name, in order, and the size of all of them together."""
    return _place(function.parameters)


def local_layout(function: Function) -> tuple[dict[str, int], int]:
    """Offset in bytes of each .local variable of one function, and the bytes one thread needs for them.

    The size is a multiple of 16, so that the frames of functions that call each other can be stacked.
    """
    return place_locals(v for v in function.variables.values() if v.space == "local")


def place_locals(variables: Iterable[Variable]) -> tuple[dict[str, int], int]:
    """Offset in bytes of each of one function's .local variables, and a multiple of 16 that holds them all."""
    found, size = _place(variables)
    if size > MOST_LOCAL:
        raise Unsupported(f"Local arrays of {size} bytes in one function: a thread may have {MOST_LOCAL} at most.")
    return found, align_up(size, DYNAMIC_ALIGNMENT)


def frame_bytes(signature: tuple[tuple[int, ...], tuple[int, ...]], local_bytes: int) -> int:
    """Bytes of a thread's stack for one call: the return address, parameters and results of these sizes, and locals."""
    passed = sum(align_up(nbytes, 4) for sizes in signature for nbytes in sizes)
    return align_up(8 + passed + local_bytes, DYNAMIC_ALIGNMENT)


def shared_layout(module: Module, function: Function) -> tuple[dict[str, int], int, int]:
    """Offset in bytes of each .shared variable the kernel uses, the static size, and where the dynamic part
    begins.

    Static variables come in the order of their declarations, those of the module first; variables of
    functions that the kernel calls count too. Every `.extern .shared` array begins at the dynamic offset, a
    multiple of 16 and of the alignments that these arrays are declared with.
    """
    functions = reachable(module, function)
    named = {symbol for each in functions for symbol in symbols(each)}
    variables: dict[str, Variable] = {name: v for name, v in module.variables.items() if name in named}
    for each in functions:
        variables.update(each.variables)
    shared = [v for v in variables.values() if v.space == "shared"]
    found, static = _place(v for v in shared if not v.external)
    dynamic = align_up(static, max([DYNAMIC_ALIGNMENT, *(v.align for v in shared if v.external)]))
    found.update((v.name, dynamic) for v in shared if v.external)
    return found, static, dynamic


def reachable(module: Module, function: Function) -> list[Function]:
    """The function and all it may call, itself first; through a function pointer it may call any function."""
    found: dict[str, Function] = {}
    waiting = [function]
    while waiting:
        caller = waiting.pop()
        if caller.name in found:
            continue
        found[caller.name] = caller
        for symbol in symbols(caller):
            callee = module.functions.get(symbol)
            if callee is not None and callee.body is not None:
                waiting.append(callee)
        operands = (operand for instruction in instructions(caller) for operand in instruction.operands)
        if any(isinstance(operand, Call) and not isinstance(operand.target, Sym) for operand in operands):
            waiting += [g for g in module.functions.values() if g.body is not None and not g.entry]
    return list(found.values())


def instructions(function: Function) -> Iterator[Instruction]:
    """The instructions of a function, without its labels."""
    return (s for s in function.body or () if isinstance(s, Instruction))


def symbols(function: Function) -> set[str]:
    """The names of variables and functions that a function mentions."""

    def walk(operand: object) -> Iterator[str]:
        if isinstance(operand, Sym):
            yield operand.name
        elif isinstance(operand, Mem):
            yield from walk(operand.base)
        elif isinstance(operand, Vec):
            for item in operand.items:
                yield from walk(item)
        elif isinstance(operand, Call):
            yield from walk(operand.target)

    return {name for i in instructions(function) for operand in i.operands for name in walk(operand)}


def function_handles(module: Module) -> dict[str, int]:
    """The number used as the address of each function: 1, 2, 3 … in the order of the text."""
    return {name: number for number, name in enumerate(module.functions, 1)}


@dataclass(frozen=True)
class LoadedVariables:
    """The module-level .global and .const variables: addresses and sizes in bytes, by name.

    Compiled code reads the addresses from `table`, in the same order, so that the code is the same in every process.
    """

    addresses: dict[str, int] = field(repr=False)
    nbytes: dict[str, int]
    allocations: dict[str, memory.Allocation] = field(repr=False)

    @cached_property
    def table(self) -> np.ndarray:
        return np.fromiter(self.addresses.values(), np.uint64, len(self.addresses))


def load_variables(module: Module) -> LoadedVariables:
    """Allocate the module's .global and .const variables and initialise them, with zeros by default.

    Pointers in initialisers (relocations) get the address of the variable they name, or a function's handle.
    Raises `Unsupported` for a variable that the text declares `.extern`, or a pointer to something it lacks.
    """
    wanted = [v for v in module.variables.values() if v.space in ("global", "const")]
    for variable in wanted:
        if variable.external:
            raise Unsupported(
                f"The variable `{variable.name}` is declared `extern` but not defined in this source. "
                "The virtual GPU links nothing: define it in the same source."
            )
    kinds = {"global": "device", "const": memory.CONSTANT}
    allocations = {v.name: memory.allocate(v.nbytes, label=v.name, kind=kinds[v.space]) for v in wanted}
    addresses = {name: allocation.address for name, allocation in allocations.items()}
    targets = function_handles(module) | addresses
    for variable in wanted:
        data = bytearray(variable.init or b"")
        ctypes.memset(addresses[variable.name] + len(data), 0, variable.nbytes - len(data))
        for offset, symbol, addend in variable.relocations:
            if symbol not in targets:
                raise Unsupported(f"`{variable.name}` points to `{symbol}`, which has no global address.")
            data[offset : offset + 8] = (targets[symbol] + addend).to_bytes(8, "little")
        ctypes.memmove(addresses[variable.name], bytes(data), len(data))
    return LoadedVariables(addresses, {v.name: v.nbytes for v in wanted}, allocations)


def align_up(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _place(items: Iterable[Parameter | Variable]) -> tuple[dict[str, int], int]:
    found: dict[str, int] = {}
    end = 0
    for item in items:
        found[item.name] = align_up(end, item.align)
        end = found[item.name] + item.nbytes
    return found, end
