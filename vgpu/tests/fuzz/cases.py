"""What one case of each kind does: a seed goes in, and what came of it comes out as a dictionary."""

from __future__ import annotations

import random
import struct
import traceback

import numpy as np

from vgpu import ptx, reference
from vgpu.base.errors import KernelError, VirtualGPUError
from vgpu.compile import cuda_c_to_ptx
from vgpu.launch import launch
from vgpu.storage import memory
from vgpu.tests import test_isa
from vgpu.tests.fuzz import mutate, waiting
from vgpu.tests.fuzz import programs as random_programs
from vgpu.tools.sanitize import run as watched

REFUSALS = (VirtualGPUError, ptx.PTXSyntaxError)


def outcome(function) -> dict:
    """Call `function` and sort what happens: its own answer, a refusal, a fault of the kernel, or a fault of ours."""
    try:
        return function()
    except KernelError as error:
        return {"outcome": "fault", "detail": f"{type(error).__name__}: {str(error)[:300]}"}
    except REFUSALS as error:
        if error.__cause__ is not None and not isinstance(error.__cause__, REFUSALS):
            return {"outcome": "stumbled", "detail": str(error)[:300]}
        return {"outcome": "refused", "detail": type(error).__name__}
    except MemoryError:
        return {"outcome": "refused", "detail": "MemoryError"}
    except Exception:
        return {"outcome": "internal", "detail": "".join(traceback.format_exc().splitlines(keepends=True)[-8:])}


def arguments() -> tuple[list[bytes], np.ndarray]:
    given, out = memory.array(256, np.uint32), memory.array(512, np.uint32)
    given[:] = np.random.default_rng(5).integers(0, 2**32, 256, dtype=np.uint32)
    out[:] = 0
    return [struct.pack("<Q", a.ctypes.data) for a in (given, out)] + [struct.pack("<I", 13)], (given, out)


def noise(seed: int) -> dict:
    """Random bytes, and random words of PTX, to the parser."""
    chance = random.Random(seed)
    if chance.random() < 0.5:
        text = bytes(chance.randrange(256) for _ in range(chance.randrange(400))).decode("latin-1")
    else:
        words = mutate.words()
        text = " ".join(chance.choice(words) for _ in range(chance.randrange(200)))
    return outcome(lambda: ptx.parse(text) and {"outcome": "parsed", "detail": ""})


def mutated(seed: int) -> dict:
    """Damaged PTX, compiled and launched."""
    text = mutate.mutated(seed)

    def run():
        kernels = launch.load(text, language="cuda")
        params, keep = arguments()
        for kernel in kernels.values():
            launch.launch(kernel, 2, 64, params, timeout=1, observe=seed % 2 == 0)
        del keep
        return {"outcome": "ran" if kernels else "empty", "detail": ""}

    return outcome(run)


def programs(seed: int) -> dict:
    """A random program of the table's rows on both engines, and compiled twice, without and with counters."""
    text = random_programs.source(seed)
    blocks, threads = random_programs.BLOCKS, random_programs.THREADS

    def run():
        (kernel,) = launch.load(text, language="cuda").values()
        results = []
        for engine in (_reference, _plain, _counted):
            given = memory.array(128, np.uint64)
            chance = np.random.default_rng(seed)
            given[:] = chance.integers(0, 2**64, 128, dtype=np.uint64)
            given[::3] = np.resize(np.array(_edges(), np.uint64), len(given[::3]))
            out = memory.array(64 + blocks * threads * random_programs.SLOTS, np.uint64)
            out[:] = 0
            params = [struct.pack("<Q", a.ctypes.data) for a in (given, out)] + [struct.pack("<I", 13)]
            engine(kernel, blocks, threads, params)
            results.append(np.array(out))
        for name, other in zip(("plain", "counted"), results[1:], strict=True):
            if not np.array_equal(results[0], other):
                at = int(np.flatnonzero(results[0] != other)[0])
                detail = f"{name} code gives {other[at]:#x} at word {at}, the reference {results[0][at]:#x}"
                return {"outcome": "differs", "detail": detail}
        return {"outcome": "agreed" if results[0].any() else "empty", "detail": ""}

    return outcome(run)


def schedules(seed: int) -> dict:
    """A random kernel in CUDA C++ without a race, whose threads wait for one another, under many schedules.

    In order on one and two threads, in the interpreter, and at random in both engines; the sanitizer finds nothing.
    """
    text = waiting.source(seed)
    blocks, threads = 3, 64

    def run():
        ptx_text = cuda_c_to_ptx(text, arch="compute_90").ptx
        (kernel,) = launch.load(ptx_text, language="cuda", filename="kernel.cu", source=text).values()
        given = memory.array(64, np.uint32)
        given[:] = np.random.default_rng(seed).integers(0, 2**32, 64, dtype=np.uint32)
        out = memory.array(blocks * threads + 320, np.uint32)
        params = [struct.pack("<Q", a.ctypes.data) for a in (given, out)] + [struct.pack("<I", seed % 97)]
        chances = [{"schedule": "random", "seed": 3 * seed + i} for i in range(4)]
        plans = [(launch.launch, options) for options in ({}, {"threads": 2}, *chances)]
        plans += [(reference.run, {}), *([(reference.run, chances[0])] if seed % 3 == 0 else [])]  # which is slow
        first = None
        for engine, options in plans:
            out[:] = 0
            where = {"module": None} if engine is reference.run else {}
            engine(kernel, grid=blocks, block=threads, params=params, **where, **options)
            first = np.array(out) if first is None else first
            if not np.array_equal(first, out):
                at = int(np.flatnonzero(first != out)[0])
                detail = f"in order word {at} is {first[at]:#x}, with {engine.__module__} {options} {out[at]:#x}"
                return {"outcome": "differs", "detail": detail}
        out[:] = 0
        prepared = launch.Prepared(kernel, params, [])
        found = watched.run(prepared, blocks, threads, 0, False, 30, seed=seed if seed % 2 else None)
        if not found.ok:
            return {"outcome": "differs", "detail": f"the sanitizer finds {found!r}"[:1500]}
        return {"outcome": "agreed" if first.any() else "empty", "detail": ""}

    return _known_to_end(outcome(run))


def _known_to_end(found: dict) -> dict:
    """These kernels make no mistake: a fault is one of ours."""
    return {**found, "outcome": "differs"} if found["outcome"] == "fault" else found


def _edges() -> list[int]:
    return [value for kind in ("f32", "f64", "u64", "s32", "f16") for value in test_isa.edges(kind)]


def _reference(kernel, blocks, threads, params) -> None:
    reference.run(kernel, None, blocks, threads, params)


def _plain(kernel, blocks, threads, params) -> None:
    launch.launch(kernel, blocks, threads, params)


def _counted(kernel, blocks, threads, params) -> None:
    launch.launch(kernel, blocks, threads, params, observe=True, threads=2)


KINDS = {"programs": programs, "noise": noise, "mutated": mutated, "schedules": schedules}
