"""LLVM IR text to callable machine code, for the CPU this process runs on.

The environment variable VGPU_CPU names another one that this CPU understands too, as LLVM spells it: `haswell`
makes code without AVX-512 on a machine that has it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from vgpu.base import on_disk, records, steady
from vgpu.base.errors import Unsupported
from vgpu.base.settings import setting

VECTORS = {"avx512": "avx512f", "avx2": "avx2"}  # what the runtime is written for, by LLVM's name of the feature
WITH_AVX2 = ("haswell", "broadwell", "skylake", "x86-64-v3", "znver1", "znver2", "znver3")  # of those one may choose

_lock = steady.lock(rank=3)
_engine: Any = None
_machine: Any = None
_vectors = ""  # what the CPU has of "avx512", "avx2" and ""
_target: tuple[str, ...] = ()  # what machine code depends on beside its text
_defined: set[str] = set()  # the names of the functions that there are
_signatures: dict[str, str] = {}  # … and what they take and give, as `demand.signatures` writes it
_kernels: dict[str, int] = {}  # names of kernels' functions, which have hashes of their texts, and where they are


def _start() -> Any:
    """Create the execution engine, once a process."""
    global _engine, _machine, _vectors, _target
    if _engine is not None:
        return _engine
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    name, features, _vectors = _cpu()
    _machine = target.create_target_machine(cpu=name, features=features, opt=2, reloc="default", codemodel="jitdefault")
    _target = _machine.triple, name, features
    _engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine)
    return _engine


def _cpu() -> tuple[str, str, str]:
    """Name of the CPU to make code for, its features as LLVM writes them, and its vector instructions."""
    if chosen := setting("CPU"):
        return chosen, "", "avx2" if chosen in WITH_AVX2 else ""
    features = llvm.get_host_cpu_features()
    vectors = next((name for name, feature in VECTORS.items() if features.get(feature)), "")
    if vectors == "avx512":  # LLVM would rather use half of each register
        features["prefer-256-bit"] = False
    return llvm.get_host_cpu_name(), features.flatten(), vectors


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
        return _link(written(text), lambda: text, functions)


@dataclass(frozen=True)
class Written:
    """What must be known of a module of LLVM IR to link its machine code, where that is kept."""

    digest: str
    defined: frozenset[str]
    called: frozenset[str]
    signatures: dict[str, str]  # of functions of the runtime, as the module declares or defines them


def written(text: str, inlined: Set[str] = frozenset()) -> Written:
    """What must be known of this module; `inlined` are functions that are of no use to others."""
    from vgpu.runtime import demand

    defined, called = (frozenset(names(text) - inlined) for names in (demand.defined, demand.called))
    return Written(hashlib.sha256(text.encode()).hexdigest(), defined, called, demand.signatures(text))


def _link(known: Written, text: Callable[[], str], functions: tuple[str, ...]) -> dict[str, int]:
    """Compile a module, whose text is only asked for where its machine code isn't kept; its functions' addresses."""
    engine = _start()
    try:
        made = on_disk.kept("code", ("llvmlite",), (*_target, known.digest), lambda: _object(text()))
    except RuntimeError as error:
        raise Unsupported(f"the kernel's PTX has no meaning in machine code: {str(error).strip()}") from error
    _make(engine, set(known.called))
    # LLVM ends the whole process for a name without a definition.
    if missing := {name for name in known.called if name.startswith("wb_")} - _defined - known.defined:
        raise Unsupported(f"the virtual GPU's runtime has no {', '.join(sorted(missing))}: a fault worth a report.")
    # LLVM links by name alone: a function called with other arguments would take for them what happens to be there.
    if other := [name for name, given in known.signatures.items() if _signatures.get(name, given) != given]:
        raise Unsupported(f"the virtual GPU calls its runtime's {', '.join(other)} wrongly: a fault worth a report.")
    _add(engine, made)
    engine.finalize_object()
    _defined.update(known.defined)
    return {name: engine.get_function_address(name) for name in functions}


def _add(engine: Any, made: bytes) -> None:
    engine.add_object_file(llvm.ObjectFileRef.from_data(made))


def compile_kernel(text: str, name: str) -> int:
    """The address of the one function of a module, called `name` there: the same text gives the same code.

    So a kernel that is defined again, as by a notebook's cell that is run again, is not compiled again.
    """
    own, text = named(text, name)
    return link_kernel(own, written(text), lambda: text)


def named(text: str, name: str) -> tuple[str, str]:
    """What a kernel's function is called in the engine, where no other is, and its module with this name."""
    own = f"{name}_{hashlib.sha256(text.encode()).hexdigest()}"  # the same in every process
    return own, text.replace(f"@{name}(", f"@{own}(")


def link_kernel(own: str, known: Written, text: Callable[[], str]) -> int:
    """The address of a kernel's function; `text()` is its module, and only called where its code isn't kept."""
    return _kernels[own] if own in _kernels else steady.run_uninterrupted(_link_kernel, own, known, text)


def _link_kernel(own: str, known: Written, text: Callable[[], str]) -> int:
    with _lock:
        if own not in _kernels:
            _kernels[own] = _link(known, text, (own,))[own]
        return _kernels[own]


def _make(engine: Any, wanted: set[str]) -> None:
    """Link those functions of the runtime that are wanted, and what they call, where that has not been done yet.

    Each is a module of its own, so that it is the same one whatever else was wanted before, and is found again.
    """
    waiting, parts = sorted(wanted - _defined), []
    seen, made = _defined | wanted, set(_defined)
    while waiting:
        name = waiting.pop()
        # What is made on demand may be one module of many functions that belong together.
        if name in made or name.startswith("llvm.") or (part := _part(name)) is None:
            continue
        parts.append(part)
        made |= part[0].defined
        waiting += sorted(part[0].called - seen)
        seen |= part[0].called
    for known, code in parts:
        _add(engine, code)
        _defined.update(known.defined)
        _signatures.update(known.signatures)


def _part(name: str) -> tuple[Written, bytes] | None:
    """The module of a function of the runtime, or None for another name; the runtime is written only to make it."""

    def make() -> tuple[Written, bytes] | None:
        from vgpu import runtime
        from vgpu.runtime import demand

        here = demand.functions(_vectors)
        text = here.module(name) or runtime.later(name, _vectors)
        return (written(text, here.inlined), _object(text, thoroughly=True)) if text else None

    return on_disk.kept("runtime", ("llvmlite",), (*_target, name), make, records.dump, records.load)


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
