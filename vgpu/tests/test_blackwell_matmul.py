"""The matrix product for Blackwell in examples/: its results, its counters, and what the sanitizer says of mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vgpu.hardware.device import current, device
from vgpu.standins import cupy as cp
from vgpu.standins.tensor_map import tensor_map
from vgpu.tests.test_bulk_copies import mapped, on_device
from vgpu.tests.test_tensor_memory import BASE, BLACKWELL, COPY, CP
from vgpu.tests.test_warpgroup import found_in

SOURCE = (Path(__file__).resolve().parents[2] / "examples" / "blackwell_matmul.cu").read_text()
SHARED = 4 * 32768


def matmul(engine, source=SOURCE, m=128, n=256, k=320, **options):
    """Run the kernel: the right result, its own, and what `launch` gives."""
    generator = np.random.default_rng(20)
    a, b = (on_device(generator.integers(-3, 4, (rows, k)).astype(np.float16)) for rows in (m, n))
    c = on_device(np.zeros((m, n), np.float32))
    maps = [mapped(x, (128, 64), swizzle=128) for x in (a, b)]
    kernel = engine.c(source, **BLACKWELL)
    found = kernel((n // 128, m // 128), 128, *maps, c, n, k, shared_bytes=SHARED, **options)
    return a.astype(np.float32) @ b.astype(np.float32).T, c, found


def test_the_product(compiled):
    expected, c, _ = matmul(compiled, m=256)
    assert (c == expected).all()


def test_the_product_interpreted(interpreted):
    expected, c, _ = matmul(interpreted, n=128, k=128)
    assert (c == expected).all()


def test_random_schedules(compiled):
    for seed in range(3):
        expected, c, _ = matmul(compiled, n=128, schedule="random", seed=seed)
        assert (c == expected).all()


def test_as_cupy_runs_it():
    before = current()
    try:
        device("B200")
        a, b = (cp.asarray(np.random.default_rng(i).integers(-3, 4, (128, 64)).astype(np.float16)) for i in (1, 2))
        c = cp.zeros((128, 128), cp.float32)
        kernel = cp.RawKernel(SOURCE, "matmul", ("-arch=sm_100a",))
        kernel.max_dynamic_shared_size_bytes = SHARED
        maps = [tensor_map(x, (128, 64), swizzle=128) for x in (a, b)]
        kernel((1, 1), (128,), (*maps, c, np.int32(128), np.int32(64)), shared_mem=SHARED)
        assert (cp.asnumpy(c) == cp.asnumpy(a).astype(np.float32) @ cp.asnumpy(b).astype(np.float32).T).all()
    finally:
        device(before)


def test_counters(compiled):
    """Two blocks with five steps of four products; every warp reads its lanes of D in 16 loads of 8 columns."""
    found = matmul(compiled, observe=True)[2]
    products = 2 * 5 * 4
    assert found["tensor_umma"] == found["tensor_instructions"] == products
    assert found["flops_tensor_fp16"] == 2 * 128 * 128 * 16 * products
    assert found["tensor_memory_loads"] == 2 * 4 * 16
    assert found["tensor_memory_load_bytes"] == 2 * 128 * 128 * 4
    assert found["tensor_memory_stores"] == found["tensor_memory_copies"] == 0
    assert found["bulk_load_bytes"] == 2 * 5 * 2 * 128 * 128
    assert found["shared_store_requests"] == 0


def test_counters_of_copies_and_stores(compiled):
    source = COPY.replace("INSTRUCTION", CP.format("64x128b.warpx2::02_13", 0))
    given = np.zeros(4096, np.uint32), np.uint64(BASE), np.zeros((32, 128), np.uint32)
    found = compiled.c(source, **BLACKWELL)(1, 128, *given, observe=True)
    assert (found["tensor_memory_copies"], found["tensor_memory_copy_bytes"]) == (1, 64 * 16)
    assert (found["tensor_memory_stores"], found["tensor_memory_store_bytes"]) == (4 * 32, 4 * 32 * 128)


# ---------------------------------------------------------------- the sanitizer

WAIT = 'asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");\n'
MISTAKES = {
    "none": ([], set()),
    "sums read without a wait for the products": ([("wait(&done, 0);", "__syncthreads();")], {"tensor_pending"}),
    "only the first products committed": (
        [("        commit(&done);", ""), ("commit(empty + s);", "commit(empty + s); if (i == 0) commit(&done);")],
        {"tensor_pending"},
    ),
    "registers used before the load's wait": ([(WAIT, "")], {"load_pending"}),
}


@pytest.mark.parametrize(("changes", "kinds"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_found(compiled, monkeypatch, changes, kinds):
    source = SOURCE
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    found = found_in(monkeypatch, lambda: matmul(compiled, source, n=128))
    assert {f.kind for f in found} == kinds
    assert all("`tcgen05`" in f.what or "`st`" in f.what for f in found)


def test_faults_are_findings(compiled, monkeypatch):
    source = SOURCE.replace("warp << 21", "warp << 20")
    found = found_in(monkeypatch, lambda: matmul(compiled, source, n=128, k=64))
    assert [f.kind for f in found] == ["out_of_bounds"]
    assert "this warp has lanes 32 to 63" in found[0].what


FENCE = 'asm volatile("fence.proxy.async;" ::: "memory");'
STORED = 'asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");'
COPY_MISTAKES: dict[str, tuple[str, set[str]]] = {
    "none": ("", set()),
    "no proxy fence": (FENCE, {"product_fence"}),
    "no wait for stores": (STORED, {"tensor_stored"}),
}


@pytest.mark.parametrize(("left_out", "kinds"), COPY_MISTAKES.values(), ids=COPY_MISTAKES)
def test_what_is_found_around_copies(compiled, monkeypatch, left_out, kinds):
    source = COPY.replace("INSTRUCTION", CP.format("32x128b.warpx4", 0))
    assert left_out in source
    source = source.replace(left_out, "") if left_out else source
    given = np.zeros(4096, np.uint32), np.uint64(BASE), np.zeros((32, 128), np.uint32)
    found = found_in(monkeypatch, lambda: compiled.c(source, **BLACKWELL)(1, 128, *given))
    assert {f.kind for f in found} == kinds
