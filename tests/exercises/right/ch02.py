"""Right answers to the exercises of chapter 02, by other routes than the solution."""

ROWS = [
    (
        "ch02.blocks",
        "neg",
        """import math
def blocks(n, threads):
    return -(-n//threads)""",
    ),
    (
        "ch02.blocks",
        "divmod",
        """import math
def blocks(n, threads):
    q, r = divmod(n, threads)
    return q + (r > 0)""",
    ),
    (
        "ch02.blocks",
        "ceil",
        """import math
def blocks(n, threads):
    return math.ceil(n/threads)""",
    ),
    (
        "ch02.blocks",
        "np ceil float",
        """import numpy as np

import math
def blocks(n, threads):
    return np.ceil(n/threads)""",
    ),
    (
        "ch02.blocks",
        "np int",
        """import numpy as np

import math
def blocks(n, threads):
    return int(np.ceil(n/threads))""",
    ),
    (
        "ch02.blocks",
        "bool",
        """import math
def blocks(n, threads):
    return n//threads + bool(n % threads)""",
    ),
    (
        "ch02.bias",
        "early",
        """extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) {int x = blockIdx.x * blockDim.x + threadIdx.x,
    y = blockIdx.y * blockDim.y + threadIdx.y; if (x >= columns || y >= rows) return;
    const int k = y * columns + x; out[k] = in[k] + bias[x]; }""",
    ),
    (
        "ch02.bias",
        "2d stride",
        """extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) { for (int r = blockIdx.y*blockDim.y+threadIdx.y; r < rows;
    r += gridDim.y*blockDim.y) for (int c = blockIdx.x*blockDim.x+threadIdx.x; c < columns;
    c += gridDim.x*blockDim.x) out[r*columns+c] = in[r*columns+c] + bias[c]; }""",
    ),
    (
        "ch02.bias",
        "flat linear",
        """extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) { int tid = (blockIdx.y*gridDim.x+blockIdx.x)*128 + threadIdx.y*16 + threadIdx.x;
    for (int k = tid; k < rows*columns;
    k += gridDim.x*gridDim.y*128) out[k] = in[k] + bias[k % columns]; }""",
    ),
    (
        "ch02.bias",
        "row pointers",
        """extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) {int x = blockIdx.x * blockDim.x + threadIdx.x,
    y = blockIdx.y * blockDim.y + threadIdx.y; if (y < rows && x < columns) {
    const float* row = in + (size_t)y*columns;
    (out + (size_t)y*columns)[x] = row[x] + __ldg(bias + x); } }""",
    ),
    (
        "ch02.bias",
        "names ij",
        """extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) { int col = threadIdx.x + blockDim.x*blockIdx.x;
    int row = threadIdx.y + blockIdx.y*8;
    if (row < rows) if (col < columns) out[row*columns+col] = bias[col] + in[row*columns+col]; }""",
    ),
    (
        "ch02.bias",
        "macro device",
        """#define IDX(r,c) ((r)*columns+(c))
__device__ inline float add(float a, float b){return a+b;}
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int rows,
    int columns) {int x = blockIdx.x * blockDim.x + threadIdx.x,
    y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[IDX(y,x)] = add(in[IDX(y,x)], bias[x]); }""",
    ),
    (
        "ch02.stride",
        "while",
        """@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    while i < x.size:
        v = x[i]
        out[i] = v*v
        i += cuda.gridsize(1)""",
    ),
    (
        "ch02.stride",
        "pow",
        """@cuda.jit
def square(x, out):
    for i in range(cuda.grid(1), len(x), cuda.gridsize(1)):
        out[i] = x[i]**2""",
    ),
    (
        "ch02.stride",
        "manual",
        """@cuda.jit
def square(x, out):
    s = cuda.blockDim.x*cuda.gridDim.x
    for i in range(cuda.blockIdx.x*cuda.blockDim.x+cuda.threadIdx.x, x.shape[0], s):
        out[i] = x[i]*x[i]""",
    ),
    (
        "ch02.stride",
        "rounds + guard",
        """@cuda.jit
def square(x, out):
    t, s = cuda.grid(1), cuda.gridsize(1)
    for r in range((x.size+s-1)//s):
        i = r*s+t
        if i < x.size:
            out[i] = x[i]*x[i]""",
    ),
    (
        "ch02.stride",
        "block halves",
        """@cuda.jit
def square(x, out):
    h = (x.size + 1)//2
    h = (h + 31)//32*32
    lo = cuda.blockIdx.x*h
    for i in range(lo + cuda.threadIdx.x, min(lo+h, x.size), 64):
        out[i] = x[i]*x[i]""",
    ),
    (
        "ch02.stride",
        "reversed",
        """@cuda.jit
def square(x, out):
    i = x.size - 1 - cuda.grid(1)
    while i >= 0:
        out[i] = x[i]*x[i]
        i -= 128""",
    ),
    (
        "ch02.place",
        "divmod",
        """def place(i, threads):
    block, thread = divmod(i, threads)
    return (block, *divmod(thread, 32))""",
    ),
    (
        "ch02.place",
        "subtracts",
        """def place(i, threads):
    block = i // threads
    thread = i - block * threads
    warp = thread >> 5
    return block, warp, thread - 32 * warp""",
    ),
    (
        "ch02.schedule",
        "multiplies",
        """extern "C" __global__ void schedule(float* lr, float base, float gamma, int every, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float rate = base;
    for (int k = every; k <= i; k += every) rate *= gamma;
    lr[i] = rate;
}""",
    ),
    (
        "ch02.schedule",
        "grid stride",
        """extern "C" __global__ void schedule(float* lr, float base, float gamma, int every, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        lr[i] = base * pow((double)gamma, i / every);
}""",
    ),
    (
        "ch02.idle",
        "both kinds",
        """def idle(n, threads):
    blocks = -(-n // threads)
    without_thread = blocks * (-threads % 32)
    return without_thread + blocks * threads - n""",
    ),
    (
        "ch02.idle",
        "counts",
        """import math
def idle(n, threads):
    return 32 * math.ceil(threads / 32) * math.ceil(n / threads) - n""",
    ),
]
