"""What CuTe DSL's compiler makes: PTX with the user's lines, for the modelled GPU, and code for the host.

The compiled module of MLIR holds machine code only, which nothing here can run. So the PTX is kept beside it, as an
attribute of the module, and goes wherever CuTe DSL's caches take the module.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from cutlass._mlir import ir
from cutlass.base_dsl.compiler import Compiler
from cutlass.base_dsl.env_manager import EnvironmentVarManager

from vgpu.hardware.device import current
from vgpu.standins.cute.hidden import in_place_of
from vgpu.standins.cute.runtime import Host

_PTX = "vgpu.ptx"


def architecture(manager: Any) -> str:
    """What is compiled for, such as "sm_90a": CUTE_DSL_ARCH, or the modelled GPU's."""
    return manager._arch if manager._arch is not None else current().own_arch


def activate() -> None:
    """Let the compiler keep PTX, and let the host's code find the functions of `runtime`."""
    compiling, jitting = Compiler.compile, Compiler.jit

    @in_place_of(compiling)
    def compiled(self: Any, module: Any, pipeline: str, *args: Any, **named: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            made = compiling(self, module, _keeping(pipeline, f"{folder}/kernels"), *args, **named)
            texts = [path.read_text() for path in Path(folder).glob("*.ptx")]
        if texts:
            with made.context:
                made.operation.attributes[_PTX] = ir.StringAttr.get("\n".join(texts))
        return made

    @in_place_of(jitting)
    def jitted(self: Any, module: Any, *args: Any, **named: Any) -> Any:
        engine = jitting(self, module, *args, **named)
        found = module.operation.attributes
        engine.virtual = Host(ir.StringAttr(found[_PTX]).value if _PTX in found else "")
        engine.virtual.register(engine.raw_register_runtime)
        return engine

    Compiler.compile, Compiler.jit = compiled, jitted
    EnvironmentVarManager.arch = property(architecture, EnvironmentVarManager.arch.fset)
    # A file may hold a module that was compiled for a GPU, without its PTX.
    for setting in ("disable_file_caching", "lineinfo"):
        setattr(EnvironmentVarManager, setting, property(lambda self: True, lambda self, value: None))


def _keeping(pipeline: str, path: str) -> str:
    """The compiler's passes, with a file for the PTX."""
    return f"{pipeline.removesuffix('})')} dump-ptx-path='{path}'}})"
