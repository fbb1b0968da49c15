"""The compilers: CUDA C++ and Python to PTX, PTX to machine code, and what a kernel needs of a GPU.

None of them needs a GPU or a driver, and each result is kept, by its inputs.
"""

from __future__ import annotations

from vgpu.compile.cuda_c import OLDEST, CompiledC, architecture, cuda_c_to_ptx, entries
from vgpu.compile.machine_code import MachineInstruction, machine_code
from vgpu.compile.resources import Resources, register_limit, resources

__all__ = [
    "OLDEST", "CompiledC", "MachineInstruction", "Resources", "architecture", "cuda_c_to_ptx", "entries",
    "machine_code", "register_limit", "resources",
]  # fmt: skip


def __getattr__(name: str) -> object:
    # Importing Numba takes longer than all the rest together, so it waits until a Python kernel comes.
    if name in ("CompiledPython", "numba_to_ptx"):
        from vgpu.compile import python as compile_numba

        return getattr(compile_numba, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
