"""What one case of each kind does: a seed goes in, and what came of it comes out as a dictionary."""

from __future__ import annotations

import random
import struct
import traceback

import numpy as np

from helpers.vgpu import launch, memory, ptx, reference
from helpers.vgpu.compile import cuda_c_to_ptx
from helpers.vgpu.errors import KernelError, VirtualGPUError
from tests.vgpu import random_kernels, test_isa
from tests.vgpu.fuzz import mutate
from tests.vgpu.fuzz import programs as random_programs

REFUSALS = (VirtualGPUError, ptx.PTXSyntaxError)


def outcome(function) -> dict:
    """Call `function` and sort what happens: its own answer, a refusal, a fault of the kernel, or a fault of ours."""
    try:
        return function()
    except KernelError as error:
        return {"outcome": "fault", "detail": type(error).__name__}
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
    """A random kernel in CUDA C++ without a race, in order and under random schedules, on two and on one thread."""
    source = random_kernels.source(seed, wide=True)
    blocks, threads = 5, 64

    def run():
        (kernel,) = launch.load(cuda_c_to_ptx(source).ptx, language="cuda").values()
        given = memory.array(64, np.uint32)
        given[:] = np.random.default_rng(seed).integers(0, 2**32, 64, dtype=np.uint32)
        results = []
        plans = [{}, {"threads": 2}, *({"schedule": "random", "seed": 3 * seed + i} for i in range(4))]
        for options in plans:
            out = memory.array(blocks * threads + 320, np.uint32)
            out[:] = 0
            params = [struct.pack("<Q", a.ctypes.data) for a in (given, out)] + [struct.pack("<I", seed % 97)]
            launch.launch(kernel, blocks, threads, params, **options)
            results.append(np.array(out))
        out[:] = 0
        reference.run(kernel, None, blocks, threads, params)
        results.append(np.array(out))
        for options, other in zip([*plans, "the reference"], results, strict=True):
            if not np.array_equal(results[0], other):
                at = int(np.flatnonzero(results[0] != other)[0])
                detail = f"in order word {at} is {results[0][at]:#x}, with {options} {other[at]:#x}"
                return {"outcome": "differs", "detail": detail}
        return {"outcome": "agreed" if results[0].any() else "empty", "detail": ""}

    return outcome(run)


def _edges() -> list[int]:
    return [value for kind in ("f32", "f64", "u64", "s32", "f16") for value in test_isa.edges(kind)]


def _reference(kernel, blocks, threads, params) -> None:
    reference.run(kernel, None, blocks, threads, params)


def _plain(kernel, blocks, threads, params) -> None:
    launch.launch(kernel, blocks, threads, params)


def _counted(kernel, blocks, threads, params) -> None:
    launch.launch(kernel, blocks, threads, params, observe=True, threads=2)


KINDS = {"programs": programs, "noise": noise, "mutated": mutated, "schedules": schedules}
