"""Triton kernels compiled for Hopper: products of warpgroups, tensor maps, warp specialisation, clusters."""

# ruff: noqa: F811 (the fixtures of test_triton.py are imported, and then named as arguments)

import importlib.util

import numpy as np
import pytest

if importlib.util.find_spec("triton") is None:
    pytest.skip("needs Triton; test_triton.py says how to install it", allow_module_level=True)

import torch

from vgpu import device
from vgpu.base.errors import ArgumentError, Unsupported
from vgpu.standins.triton import activate

triton = activate()

import triton.language as tl  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

from vgpu.tests.test_triton import close, random, run  # noqa: E402, F401

HALF, E4M3, E5M2 = torch.float16, torch.float8_e4m3fn, torch.float8_e5m2


@pytest.fixture(autouse=True)
def hopper():
    device("H100")
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    yield
    device.reset()


@triton.jit
def product(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, MAPS: tl.constexpr, WARPS: tl.constexpr,
):  # fmt: skip
    """C = A Bᵀ, by tensor maps that the host made, or this kernel does."""
    if MAPS:
        a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
        b = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
        c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WARPS):
        total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
    c.store([row, column], total.to(tl.float16))


def launched(run, a, b, tile, here=False, warps=False, **meta):
    """The product, by maps that are made `here`, in the kernel, or on the host."""
    (m, k), n, c = a.shape, b.shape[0], torch.zeros(a.shape[0], b.shape[0], dtype=HALF)
    bm, bn, bk = tile
    boxes = ((a, (bm, bk)), (b, (bn, bk)), (c, (bm, bn)))
    given = (a, b, c) if here else [TensorDescriptor.from_tensor(x, list(box)) for x, box in boxes]
    grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
    run(product, grid, *given, m, n, k, *tile, here, warps, **meta)
    close(c, (a.float() @ b.float().T).half(), 2e-3)


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("dtype", [HALF, torch.bfloat16, E4M3, E5M2])
def test_products_by_tensor_maps(run, random, dtype, here):
    launched(run, random(80, 96, dtype=dtype), random(48, 96, dtype=dtype), (64, 32, 32), here)


def compiled_run(kernel, grid, *args, **meta):
    compiled_run.ptx = kernel[grid](*args, **meta).asm["ptx"]


@pytest.mark.parametrize("here", [False, True])
def test_warp_specialisation(random, here):
    a, b = random(200, 192, dtype=HALF), random(136, 192, dtype=HALF)
    launched(compiled_run, a, b, (64, 128, 64), here, True)
    assert all(word in compiled_run.ptx for word in ("wgmma.mma_async", "cp.async.bulk.tensor", "setmaxnreg"))
    assert ("tensormap.replace" in compiled_run.ptx) == here


@pytest.mark.parametrize("here", [False, True])
def test_programs_of_two_blocks(random, here):
    launched(compiled_run, random(200, 96, dtype=HALF), random(136, 96, dtype=HALF), (128, 128, 32), here, num_ctas=2)
    assert ".reqnctapercluster 2" in compiled_run.ptx


@triton.jit
def window(x, y, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + place, x.load([16, -4]))


@pytest.mark.parametrize(("padding", "outside"), [("zero", 0.0), ("nan", np.nan)])
def test_padding(run, random, padding, outside):
    x, y, wanted = random(24, 36), torch.empty(16, 64), torch.full((16, 64), outside)
    run(window, (1,), TensorDescriptor.from_tensor(x, [16, 64], padding=padding), y, 16, 64)
    wanted[:8, 4:40] = x[16:]
    torch.testing.assert_close(y, wanted, rtol=0, atol=0, equal_nan=True)


@triton.jit
def scaled(
    a, a_scales, b, b_scales, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr, B: tl.constexpr
):
    m, n, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    wide: tl.constexpr = K // 2 if A == "e2m1" else K
    high: tl.constexpr = K // 2 if B == "e2m1" else K
    left = tl.load(a + m[:, None] * wide + tl.arange(0, wide)[None, :])
    right = tl.load(b + tl.arange(0, high)[:, None] * N + n[None, :])
    of_left = tl.load(a_scales + m[:, None] * (K // 32) + groups[None, :])
    of_right = tl.load(b_scales + n[:, None] * (K // 32) + groups[None, :])
    result = tl.dot_scaled(left, of_left, A, right, of_right, B)
    tl.store(c + m[:, None] * N + n[None, :], result)


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


@pytest.mark.parametrize("left", ["e4m3", "e5m2", "e2m1"])
@pytest.mark.parametrize("right", ["e4m3", "e2m1"])
def test_scaled_products(random, left, right):
    m, n, k = 64, 32, 128
    draw = np.random.default_rng(5)

    def operand(kind: str, rows: int) -> tuple[torch.Tensor, np.ndarray]:
        if kind == "e2m1":
            pairs = draw.integers(0, 256, (rows, k // 2)).astype(np.uint8)
            return torch.from_numpy(pairs), np.stack([FP4[pairs & 15], FP4[pairs >> 4]], -1).reshape(rows, k)
        values = random(rows, k, dtype={"e4m3": E4M3, "e5m2": E5M2}[kind])
        return values.view(torch.uint8), values.float().numpy()

    (a, a_values), (b, b_values) = operand(left, m), operand(right, n)
    scales = [draw.integers(124, 131, (rows, k // 32)).astype(np.uint8) for rows in (m, n)]
    c = torch.empty(m, n)
    a_scales, b_scales = map(torch.from_numpy, scales)
    scaled[(1,)](a, a_scales, b.T.contiguous(), b_scales, c, m, n, k, left, right)
    powers = [np.repeat(np.exp2(each.astype(np.float64) - 127), 32, 1) for each in scales]
    np.testing.assert_allclose(c.numpy(), (a_values * powers[0]) @ (b_values * powers[1]).T, rtol=1e-5, atol=1e-3)


@triton.jit
def added(x, y, M: tl.constexpr):
    y.atomic_add([0, 0], x.load([0, 0]))


def test_additions_by_tensor_maps(random):
    x, y = random(16, 32), random(16, 32)
    expected = x + y
    added[(1,)](*(TensorDescriptor.from_tensor(each, [16, 32]) for each in (x, y)), 16)
    assert torch.equal(y, expected)


@triton.jit
def chosen(x, y, rows, N: tl.constexpr):
    numbers = tl.load(rows + tl.arange(0, 8))
    y.scatter(x.gather(numbers, 16), tl.arange(0, 8), N)


def test_rows_that_are_gathered_and_scattered(random):
    device("B200")
    x, y, rows = random(20, 64), torch.zeros(8, 64), torch.tensor([3, 19, 4, 3, 25, 9, 2, 6], dtype=torch.int32)
    maps = [TensorDescriptor.from_tensor(each, [1, 32]) for each in (x, y)]
    compiled_run(chosen, (1,), *maps, rows, 32)
    wanted = torch.zeros(8, 64)
    wanted[:, 32:] = torch.cat([x, torch.zeros(6, 64)])[rows.long(), 16:48]  # zeros past the end
    assert torch.equal(y, wanted)
    assert "tile::gather4" in compiled_run.ptx and "tile::scatter4" in compiled_run.ptx


def test_what_is_refused(random):
    x = random(16, 32)
    rounded = TensorDescriptor(x, x.shape, x.stride(), [16, 64], round_f32_to_tf32=True)
    with pytest.raises(Unsupported, match="rounds to TF32"):
        window[(1,)](rounded, torch.empty(16, 64), 16, 64)
    crooked = x.as_strided((16, 30), (30, 1))
    with pytest.raises((ArgumentError, AssertionError), match="16"):
        window[(1,)](TensorDescriptor.from_tensor(crooked, [16, 64]), torch.empty(16, 64), 16, 64)


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("dtype", [HALF, E4M3])
def test_products_in_tensor_memory(run, random, dtype, here):
    device("B200")
    launched(run, random(128, 64, dtype=dtype), random(64, 64, dtype=dtype), (128, 64, 64), here)


def test_blackwell_multiplies_in_tensor_memory(random):
    device("B200")
    launched(compiled_run, random(200, 192, dtype=HALF), random(136, 192, dtype=HALF), (128, 128, 64))
    assert "tcgen05.mma" in compiled_run.ptx


def test_warp_specialisation_in_tensor_memory(random):
    """Warps learn in shared memory which part they have, and branch to it by its index."""
    device("B200")
    launched(compiled_run, random(136, 128, dtype=HALF), random(72, 128, dtype=HALF), (128, 64, 64), False, True)
    assert all(word in compiled_run.ptx for word in ("brx.idx", "tcgen05.mma", "setmaxnreg"))
