"""Triton kernels of every common kind, each as a user would write it; the tests beside it launch them."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, x + y, mask=mask)


@triton.jit
def softmax(out_ptr, x_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, scale_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        away = tl.where(at < columns, x - mean, 0.0)
        squares += away * away
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(scale_ptr + row, scale)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + at, mask=mask)
        bias = tl.load(bias_ptr + at, mask=mask)
        tl.store(out_ptr + row * columns + at, (x - mean) * scale * weight + bias, mask=mask)


@triton.jit
def layer_norm_backward(
    dx_ptr, dout_ptr, dweight_ptr, dbias_ptr, x_ptr, weight_ptr, mean_ptr, scale_ptr, columns, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0)
    dout = tl.load(dout_ptr + row * columns + at, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0)
    scale = tl.load(scale_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * scale, 0.0)
    slope = weight * dout
    first = tl.sum(normal * slope, axis=0) / columns
    second = tl.sum(slope, axis=0) / columns
    tl.store(dx_ptr + row * columns + at, (slope - normal * first - second) * scale, mask=mask)
    tl.atomic_add(dweight_ptr + at, dout * normal, mask=mask)
    tl.atomic_add(dbias_ptr + at, dout, mask=mask)


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    PRECISION: tl.constexpr = "tf32",
):  # fmt: skip
    # Programs that run together share rows of A: they come in groups of GROUP row tiles.
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * a_row + k[None, :] * a_column
    b_at = b_ptr + k[:, None] * b_row + columns[None, :] * b_column
    product = tl.zeros((BLOCK_M, BLOCK_N), tl.int32 if a_ptr.dtype.element_ty == tl.int8 else tl.float32)
    for done in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - done * BLOCK_K
        a = tl.load(a_at, mask=k[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < left, other=0.0)
        product += tl.dot(a, b, input_precision=PRECISION, out_dtype=product.dtype)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * c_row + columns[None, :] * c_column, product, mask=mask)


@triton.jit
def matmul_by_hand(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    product = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(
            b_ptr + k[:, None] * N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0
        )
        product += tl.sum(a[:, :, None] * b[None, :, :], axis=1)
    at = rows[:, None] * N + columns[None, :]
    tl.store(c_ptr + at, product, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale,
    WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length * WIDTH
    at_q = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    width = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + head + at_q[:, None] * WIDTH + width[None, :], mask=at_q[:, None] < length, other=0.0)
    highest = tl.full([BLOCK_Q], -float("inf"), tl.float32)
    weights = tl.zeros([BLOCK_Q], tl.float32)
    out = tl.zeros([BLOCK_Q, WIDTH], tl.float32)
    end = min((tl.program_id(0) + 1) * BLOCK_Q, length) if CAUSAL else length
    for start in range(0, end, BLOCK_K):
        at_k = start + tl.arange(0, BLOCK_K)
        inside = at_k < length
        k = tl.load(k_ptr + head + at_k[:, None] * WIDTH + width[None, :], mask=inside[:, None], other=0.0)
        score = tl.dot(q, tl.trans(k)) * scale
        seen = inside[None, :] & (at_q[:, None] >= at_k[None, :]) if CAUSAL else inside[None, :]
        score = tl.where(seen, score, -float("inf"))
        now = tl.maximum(highest, tl.max(score, axis=1))
        power = tl.exp(score - now[:, None])
        correction = tl.exp(highest - now)
        weights = weights * correction + tl.sum(power, axis=1)
        v = tl.load(v_ptr + head + at_k[:, None] * WIDTH + width[None, :], mask=inside[:, None], other=0.0)
        out = out * correction[:, None] + tl.dot(power.to(v.dtype), v)
        highest = now
    out = out / weights[:, None]
    tl.store(out_ptr + head + at_q[:, None] * WIDTH + width[None, :], out, mask=at_q[:, None] < length)


@triton.jit
def dropout(x_ptr, out_ptr, n, chance, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    keep = tl.rand(seed, at) > chance
    tl.store(out_ptr + at, tl.where(keep, x / (1 - chance), 0.0), mask=at < n)


@triton.jit
def histogram(x_ptr, bins_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.atomic_add(bins_ptr + x, 1, mask=at < n)


@triton.jit
def histogram_of_block(x_ptr, bins_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=at < n))


@triton.jit
def cumulate(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, mask=at < columns, other=0.0)
    tl.store(out_ptr + row + at, tl.cumsum(x, axis=0), mask=at < columns)


@triton.jit
def best(x_ptr, value_ptr, index_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@triton.jit
def sort_rows(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, TILE: tl.constexpr):
    source = tl.make_block_ptr(
        x_ptr, (rows, columns), (columns, 1), (tl.program_id(0) * TILE, tl.program_id(1) * TILE), (TILE, TILE), (1, 0)
    )
    target = tl.make_block_ptr(
        out_ptr, (columns, rows), (rows, 1), (tl.program_id(1) * TILE, tl.program_id(0) * TILE), (TILE, TILE), (1, 0)
    )
    tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, tl.trans(tile), boundary_check=(0, 1))


@triton.jit
def convolve(x_ptr, filter_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for tap in tl.static_range(TAPS):
        near = at + tap - TAPS // 2
        total += tl.load(x_ptr + near, mask=(near >= 0) & (near < n), other=0.0) * tl.load(filter_ptr + tap)
    tl.store(out_ptr + at, total, mask=at < n)


@triton.jit
def collatz(x_ptr, out_ptr, n):
    at = tl.program_id(0)
    x = tl.load(x_ptr + at)
    steps = 0
    while x != 1:
        x = tl.where(x % 2 == 0, x // 2, 3 * x + 1)
        steps += 1
    tl.store(out_ptr + at, steps)


@triton.jit
def claim(owner_ptr, winner_ptr):
    before = tl.atomic_cas(owner_ptr, 0, tl.program_id(0) + 1)
    if before == 0:
        tl.store(winner_ptr, tl.program_id(0))
    tl.atomic_max(winner_ptr + 1, tl.program_id(0))
    tl.atomic_xchg(winner_ptr + 2, 7)


@triton.jit
def mathematics(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=1.0)
    results = (tl.exp(x), tl.log(x), tl.sin(x), tl.cos(x), tl.sqrt(x), tl.rsqrt(x), tl.sigmoid(x), tl.erf(x),
               libdevice.tanh(x), libdevice.pow(x, 1.5), libdevice.atan2(x, 2.0), tl.floor(x), libdevice.log1p(x),
               tl.exp2(x), tl.log2(x), libdevice.expm1(x), libdevice.lgamma(x))  # fmt: skip
    for i in tl.static_range(17):
        tl.store(out_ptr + i * n + at, results[i], mask=mask)


@triton.jit
def convert(x_ptr, half_ptr, bfloat_ptr, small_ptr, double_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, eviction_policy="evict_last")
    tl.store(half_ptr + at, x.to(tl.float16), cache_modifier=".cs")
    tl.store(bfloat_ptr + at, x.to(tl.bfloat16), eviction_policy="evict_first")
    tl.store(small_ptr + at, x.to(tl.float8e5))
    tl.store(double_ptr + at, x.to(tl.float64))


@triton.jit
def halves(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(out_ptr + at, tl.maximum(x * y + x, y) - x)


@triton.jit
def narrate(x_ptr, LIMIT: tl.constexpr):
    tl.static_assert(LIMIT > 0)
    x = tl.load(x_ptr + tl.program_id(0))
    tl.device_print("x =", x)
    tl.device_assert(x < LIMIT, "x is too large")


@triton.jit
def swish(x):
    return x * tl.sigmoid(x)


@triton.jit
def calls(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, swish(x), mask=at < n)


@triton.jit
def unmasked(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + 1.0)


@triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at) if EVEN else tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * factor, mask=at < n)


def tiles(m, n, k, warps, stages=1):
    return triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 4}, num_warps=warps, num_stages=stages)


tuned_matmul = triton.autotune([tiles(16, 16, 16, 1), tiles(64, 64, 32, 4)], key=["M", "N", "K"])(matmul)
