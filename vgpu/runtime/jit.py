"""LLVM IR text to callable machine code, for the CPU this process runs on.

The environment variable VGPU_CPU names another one that this CPU understands too, as LLVM spells it: `haswell`
makes code without AVX-512 on a machine that has it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from vgpu.base import on_disk, steady
from vgpu.base.errors import Unsupported
from vgpu.base.settings import setting

_lock = steady.lock(rank=3)
_engine: Any = None
_machine: Any = None
_wide = False  # whether the CPU has AVX-512
_target: tuple[str, ...] = ()  # what machine code depends on beside its text
_defined: set[str] = set()  # the names of the functions that there are
_signatures: dict[str, str] = {}  # … and what they take and give, as `demand.signatures` writes it
_kernels: dict[str, int] = {}  # hashes of kernels' texts and where their code is


def _start() -> Any:
    """Create the execution engine, once a process."""
    global _engine, _machine, _wide, _target
    if _engine is not None:
        return _engine
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    name, features, _wide = _cpu()
    _machine = target.create_target_machine(cpu=name, features=features, opt=2, reloc="default", codemodel="jitdefault")
    _target = _machine.triple, name, features
    _engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine)
    return _engine


def _cpu() -> tuple[str, str, bool]:
    """Name of the CPU to make code for, its features as LLVM writes them, and whether AVX-512 is among them."""
    if chosen := setting("CPU"):
        return chosen, "", False
    features = llvm.get_host_cpu_features()
    wide = bool(features.get("avx512f"))
    if wide:  # LLVM would rather use half of each register
        features["prefer-256-bit"] = False
    return llvm.get_host_cpu_name(), features.flatten(), wide


def _optimise(module: Any, thoroughly: bool = False) -> None:
    """What is worth its time for a kernel; `thoroughly` for what all kernels call."""
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    builder = llvm.create_pass_builder(_machine, options)
    manager = llvm.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_simplify_cfg_pass()
    manager.add_instruction_combine_pass()
    if thoroughly:
        manager.add_jump_threading_pass()
    manager.run(module, builder)


def _object(text: str, thoroughly: bool = False) -> bytes:
    """The machine code of a module of LLVM IR as an object file; RuntimeError where the text has no meaning."""
    with llvm.parse_assembly(text) as module:
        module.triple, module.data_layout = _machine.triple, str(_machine.target_data)
        module.verify()
        _optimise(module, thoroughly)
        return _emit(module)


def _emit(module: Any) -> bytes:
    return _machine.emit_object(module)


def compile_ir(text: str, functions: tuple[str, ...]) -> dict[str, int]:
    """Compile a module of LLVM IR; give the addresses of its functions. The code lives as long as the process."""
    return steady.run_uninterrupted(_compile_ir, text, functions)


def _compile_ir(text: str, functions: tuple[str, ...]) -> dict[str, int]:
    with _lock:
        from vgpu.runtime.demand import called, defined, signatures

        engine = _start()
        try:
            made = on_disk.kept("code", ("llvmlite",), (*_target, text), lambda: _object(text))
        except RuntimeError as error:
            raise Unsupported(f"the kernel's PTX has no meaning in machine code: {str(error).strip()}") from error
        wanted, own = called(text), defined(text)
        _make(engine, wanted)
        # LLVM ends the whole process for a name without a definition.
        if missing := {name for name in wanted if name.startswith("wb_")} - _defined - own:
            raise Unsupported(f"the virtual GPU's runtime has no {', '.join(sorted(missing))}: a fault worth a report.")
        # LLVM links by name alone: a function called with other arguments would take for them what happens to be there.
        taken = signatures(text.partition("\ndefine ")[0])
        if other := [name for name, given in taken.items() if _signatures.get(name, given) != given]:
            raise Unsupported(
                f"the virtual GPU calls its runtime's {', '.join(other)} wrongly: a fault worth a report."
            )
        _add(engine, made)
        engine.finalize_object()
        _defined.update(own)
        return {name: engine.get_function_address(name) for name in functions}


def _add(engine: Any, made: bytes) -> None:
    engine.add_object_file(llvm.ObjectFileRef.from_data(made))


def compile_kernel(text: str, name: str) -> int:
    """The address of the one function of a module, called `name` there: the same text gives the same code.

    So a kernel that is defined again, as by a notebook's cell that is run again, is not compiled again.
    """
    key = hashlib.sha256(text.encode()).hexdigest()
    return _kernels[key] if key in _kernels else steady.run_uninterrupted(_compile_kernel, key, text, name)


def _compile_kernel(key: str, text: str, name: str) -> int:
    with _lock:
        if key not in _kernels:
            own = f"{name}_{key}"  # one of its own in the engine, and the same in every process
            _kernels[key] = _compile_ir(text.replace(f"@{name}(", f"@{own}("), (own,))[own]
        return _kernels[key]


def _make(engine: Any, wanted: set[str]) -> None:
    """Link those functions of the runtime that are wanted, and what they call, where that has not been done yet.

    Each is a module of its own, so that it is the same one whatever else was wanted before, and is found again.
    """
    waiting, parts = sorted(wanted - _defined), []
    seen = _defined | wanted
    made = set(_defined)
    while waiting:
        name = waiting.pop()
        # What is made on demand may be one module of many functions that belong together.
        if name in made or name.startswith("llvm.") or (part := _part(name)) is None:
            continue
        parts.append(part)
        made.update(part.defined)
        waiting += [each for each in part.called if each not in seen]
        seen.update(part.called)
    for part in parts:
        _add(engine, part.code)
        _defined.update(part.defined)
        _signatures.update(part.signatures)


@dataclass(frozen=True)
class _Part:
    """Machine code of the runtime: the functions in it, and those that it calls."""

    defined: list[str]
    called: list[str]
    signatures: dict[str, str]
    code: bytes


def _part(name: str) -> _Part | None:
    """The module of a function of the runtime, or None for another name; the runtime is written only to make it."""

    def make() -> bytes:
        from vgpu import runtime
        from vgpu.runtime import demand

        here = demand.functions(_wide)
        if not (text := here.module(name) or runtime.later(name)):
            return b""
        known = (*(sorted(names(text) - here.inlined) for names in (demand.defined, demand.called)),)
        return json.dumps([*known, demand.signatures(text)]).encode() + b"\n" + _object(text, thoroughly=True)

    known, _, code = on_disk.kept("runtime", ("llvmlite",), (*_target, name), make).partition(b"\n")
    if not known:
        return None
    defined, called, signatures = json.loads(known)
    return _Part(defined, called, signatures, code)


def address(function: str) -> int:
    """The address of a function of the runtime."""
    return steady.run_uninterrupted(_address, function)


def _address(function: str) -> int:
    with _lock:
        engine = _start()
        _make(engine, {function})
        engine.finalize_object()
        return engine.get_function_address(function)


def cpu() -> str:
    """The CPU that code is made for, and the widest vector instructions it has."""
    if chosen := setting("CPU"):
        return f"{chosen} (chosen)"
    features = llvm.get_host_cpu_features()
    widest = next((name for name in ("avx512f", "avx2", "sve", "neon") if features.get(name)), "baseline")
    return f"{llvm.get_host_cpu_name()} ({widest})"
