"""Triton kernels that multiply matrices: `tl.dot` on tensor cores, pipelined loops, attention."""

# ruff: noqa: F811 (the fixtures of test_triton.py are imported, and then named as arguments)

import importlib.util
import math

import pytest

if importlib.util.find_spec("triton") is None:
    pytest.skip("needs Triton; test_triton.py says how to install it", allow_module_level=True)

import torch

from vgpu import record
from vgpu.base.errors import CompileError
from vgpu.standins.triton import activate
from vgpu.tools.profile import profile

triton = activate()

import triton.language as tl  # noqa: E402

from vgpu.tests import triton_kernels as kernels  # noqa: E402
from vgpu.tests.test_triton import close, random, run  # noqa: E402, F401

HALF, BFLOAT, FLOAT = torch.float16, torch.bfloat16, torch.float32


def multiply(run, a, b, c, kernel=kernels.matmul, **meta):
    tiles = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 4} if kernel is kernels.matmul else {}
    (m, k), n = a.shape, b.shape[1]
    grid = lambda given: (triton.cdiv(m, given["BLOCK_M"]) * triton.cdiv(n, given["BLOCK_N"]),)
    run(kernel, grid, a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), **tiles | meta)
    return c


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize(("m", "n", "k"), [(32, 32, 32), (48, 33, 70)])
@pytest.mark.parametrize("dtype", [HALF, BFLOAT])
def test_halves(run, random, m, n, k, dtype, stages):
    a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)
    close(multiply(run, a, b, torch.empty(m, n), num_stages=stages), a.float() @ b.float(), 1e-4)


def test_transposed_operands(run, random):
    a, b = random(64, 32, dtype=HALF).T, random(64, 64, dtype=HALF).T
    close(multiply(run, a, b, torch.empty(32, 64), num_stages=1, num_warps=2), a.float() @ b.float(), 1e-4)


@pytest.mark.parametrize(("precision", "tolerance"), [("tf32", 2e-2), ("tf32x3", 2e-5), ("ieee", 2e-5)])
def test_floats(run, random, precision, tolerance):
    a, b = random(32, 40), random(40, 32)
    found = multiply(run, a, b, torch.empty(32, 32), num_stages=1, PRECISION=precision)
    close(found, a.double() @ b.double(), tolerance)
    if precision == "tf32":
        assert not torch.allclose(found.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("stages", [1, 2])
def test_integers(run, stages):
    generator = torch.Generator().manual_seed(3)
    a, b = (torch.randint(-128, 128, shape, dtype=torch.int8, generator=generator) for shape in ((32, 64), (64, 48)))
    found = multiply(run, a, b, torch.empty(32, 48, dtype=torch.int32), num_stages=stages)
    assert torch.equal(found, a.int() @ b.int())


def test_eight_bit_floats(run, random):
    a, b = (random(32, 32).to(torch.float8_e5m2) for _ in range(2))
    close(multiply(run, a, b, torch.empty(32, 32), num_stages=1), a.float() @ b.float(), 1e-3)


@pytest.fixture
def ada():
    """Model a GPU of compute capability 8.9, the first that knows the other 8-bit float."""
    from vgpu import device

    device("RTX 4090")
    yield
    device.reset()


def test_eight_bit_floats_of_newer_gpus(ada, run, random):
    a, b = (random(32, 32).to(torch.float8_e4m3fn) for _ in range(2))
    close(multiply(run, a, b, torch.empty(32, 32), num_stages=1), a.float() @ b.float(), 1e-3)


@triton.jit
def narrow(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at).to(tl.float8e4nv))


def test_halves_become_eight_bit_floats(ada, run, random):
    x, out = random(256, dtype=HALF), torch.empty(256, dtype=torch.float8_e4m3fn)
    run(narrow, (1,), x, out, BLOCK=256)
    assert torch.equal(out.float(), x.to(torch.float8_e4m3fn).float())


def test_small_tiles(run, random):
    a, b = random(16, 48, dtype=HALF), random(48, 32, dtype=HALF)
    tiles = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "num_warps": 1}
    close(multiply(run, a, b, torch.empty(16, 32, dtype=HALF), **tiles), a.float() @ b.float(), 1e-2)


def test_by_hand(run, random):
    a, b, c = random(20, 18), random(18, 33), torch.empty(20, 33)
    grid = triton.cdiv(20, 16), triton.cdiv(33, 16)
    run(kernels.matmul_by_hand, grid, a, b, c, 20, 33, 18, BLOCK_M=16, BLOCK_N=16, BLOCK_K=8, num_stages=1)
    # Triton sees that this sum of products is a product of matrices, and makes it one, in TF32.
    close(c, a @ b, 2e-2)


def test_wide_rows_backward(run, random):
    # Wide enough that Triton moves values between threads by `ldmatrix`.
    columns = 700
    x, dout, weight = random(2, columns), random(2, columns), random(columns)
    x.requires_grad_()
    torch.nn.functional.layer_norm(x, (columns,), weight, eps=1e-5).backward(dout)
    dx, dweight, dbias = torch.empty(2, columns), torch.zeros(columns), torch.zeros(columns)
    given = x.detach()
    mean, scale = given.mean(dim=1), 1 / (given.var(dim=1, correction=0) + 1e-5).sqrt()
    run(
        kernels.layer_norm_backward, (2,), dx, dout, dweight, dbias, given, weight, mean, scale, columns, BLOCK=1024,
    )  # fmt: skip
    close(dx, x.grad)
    close(dbias, dout.sum(dim=0))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("length", "stages"), [(64, 1), (50, 1), (50, 2)])
def test_attention(run, random, length, causal, stages):
    heads, width = 2, 32
    q, k, v = (random(heads, length, width, dtype=HALF) for _ in range(3))
    out = torch.empty_like(q)
    grid = triton.cdiv(length, 32), heads
    scale = 1 / math.sqrt(width)
    tiles = {"WIDTH": width, "BLOCK_Q": 32, "BLOCK_K": 32}
    run(kernels.attention, grid, q, k, v, out, length, scale, CAUSAL=causal, num_stages=stages, **tiles)
    wanted = torch.nn.functional.scaled_dot_product_attention(*(x[None].float() for x in (q, k, v)), is_causal=causal)
    close(out, wanted[0], 3e-3)


def test_a_tuned_product(random):
    a, b = random(128, 64, dtype=HALF), random(64, 128, dtype=HALF)
    c = torch.empty(128, 128)
    grid = lambda given: (triton.cdiv(128, given["BLOCK_M"]) * triton.cdiv(128, given["BLOCK_N"]),)
    given = (a, b, c, 128, 128, 64, *a.stride(), *b.stride(), *c.stride())
    kernels.tuned_matmul[grid](*given)
    close(c, a.float() @ b.float(), 1e-4)
    times = {config: time[0] for config, time in kernels.tuned_matmul.configs_timings.items()}
    assert kernels.tuned_matmul.best_config is min(times, key=times.get) and len(set(times.values())) == 2


def test_bigger_tiles_load_less(random):
    a, b, c = random(128, 64, dtype=HALF), random(64, 128, dtype=HALF), torch.empty(128, 128)
    sectors = []
    for size in (32, 64):
        given = (a, b, c, 128, 128, 64, *a.stride(), *b.stride(), *c.stride())
        meta = {"BLOCK_M": size, "BLOCK_N": size, "BLOCK_K": 32, "GROUP": 1, "num_stages": 1}
        found = profile(kernels.matmul, (128 // size) ** 2, None, given, **meta)
        sectors.append(found["global_load_sectors"])
    # Each of the 128 / size tiles in a row of tiles loads all of A's rows that it covers, and so for B's columns.
    assert sectors == [2 * (128 // size) * 128 * 64 * 2 // 32 for size in (32, 64)]


def test_operands_of_other_kinds_are_refused_by_triton():
    @triton.jit
    def wrong(x_ptr, SIZE: tl.constexpr):
        at = tl.arange(0, SIZE)
        x = tl.load(x_ptr + at[:, None] * SIZE + at[None, :])
        tl.store(x_ptr + at[:, None] * SIZE + at[None, :], tl.dot(x, x.to(tl.float16)))

    with pytest.raises(CompileError, match=r"line \d+: .* same dtype. Got fp32 and fp16"):
        wrong[(1,)](torch.zeros(16, 16), SIZE=16)


def test_tensor_cores_in_slow_motion(random):
    a, b, c = random(32, 64, dtype=HALF), random(64, 32, dtype=HALF), torch.zeros(32, 32)
    given = (a, b, c, 32, 32, 64, *a.stride(), *b.stride(), *c.stride())
    meta = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 1, "num_warps": 2, "num_stages": 2}
    found = record(kernels.matmul, 1, None, given, **meta)
    assert {step.warp for step in found.steps} == {0, 1} and not c.any()
    copies = [step for step in found.steps if step.instruction.startswith("cp.async.c") and step.touched]
    assert {touched.access.array for step in copies for touched in step.touched} >= {"a_ptr", "b_ptr"}
    products = [step for step in found.steps if step.instruction.startswith("mma.sync")]
    assert products and all(len(step.written) == 4 and step.written[0].type == "f32" for step in products)
    stored = [touched for step in found.steps for touched in step.touched if touched.access.array == "c_ptr"]
    sums = torch.tensor(
        [v for t in stored for v in t.after if v is not None for v in (v if isinstance(v, tuple) else (v,))]
    )
    close(sums.sort().values, (a.float() @ b.float()).flatten().sort().values, 1e-4)


@triton.jit
def one_tile(
    a, b, c, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A_TURNED: tl.constexpr,
    B_TURNED: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows, columns, inner = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), ACC)
    for k in range(0, K, BK):
        if A_TURNED:
            x = tl.trans(tl.load(a + (k + inner)[:, None] * BM + rows[None, :]))
        else:
            x = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        if B_TURNED:
            y = tl.trans(tl.load(b + columns[:, None] * K + (k + inner)[None, :]))
        else:
            y = tl.load(b + (k + inner)[:, None] * BN + columns[None, :])
        total = tl.dot(x, y, total, out_dtype=ACC)
    tl.store(c + rows[:, None] * BN + columns[None, :], total)


@pytest.mark.parametrize(
    ("dtype", "tile", "turned", "form"),
    [
        (HALF, (64, 64, 64), (0, 0), "m64n64k16.f32.f16.f16"), (HALF, (128, 128, 64), (1, 0), "m64n128k16.f32.f16.f16"),
        (BFLOAT, (64, 256, 32), (1, 0), "m64n256k16.f32.bf16.bf16"), (HALF, (64, 16, 16), (0, 0), "m64n16k16.f32.f16"),
        (FLOAT, (64, 64, 32), (0, 1), "m64n64k8.f32.tf32.tf32"), (torch.int8, (64, 64, 64), (0, 1), "m64n64k32.s32.s8"),
        (torch.float8_e4m3fn, (128, 64, 128), (0, 1), "m64n64k32.f32.e4m3.e4m3"),
    ],
)  # fmt: skip
def test_products_of_warpgroups_as_triton_writes_them(monkeypatch, dtype, tile, turned, form):
    """Triton's code for Hopper: its descriptors with every swizzle, K-major and MN-major."""
    monkeypatch.setattr(triton.knobs.runtime, "override_arch", "sm90")
    (bm, bn, bk), (a_turned, b_turned) = tile, turned
    a, b = torch.randint(-2, 3, (bm, 128)), torch.randint(-2, 3, (128, bn))
    whole = dtype == torch.int8
    c = torch.zeros(bm, bn, dtype=torch.int32 if whole else FLOAT)
    x, y = ((t.T if is_turned else t).contiguous().to(dtype) for t, is_turned in ((a, a_turned), (b, b_turned)))
    kernel = one_tile[(1,)](
        x, y, c, K=128, BM=bm, BN=bn, BK=bk, A_TURNED=a_turned, B_TURNED=b_turned,
        ACC=tl.int32 if whole else tl.float32, num_warps=4,
    )  # fmt: skip
    assert f"wgmma.mma_async.sync.aligned.{form}" in kernel.asm["ptx"]
    assert (c == a @ b).all()
