"""Wrong answers to the exercises of chapter 02."""

HEADS = {
    "ch02.bias": "add_bias(const float* in, const float* bias, float* out, int rows, int columns)",
}
ROWS = [
    # key, what is wrong, source, name of the mistake
    ("ch02.blocks", "down", "def blocks(n, threads):\n    return n // threads", "rounded down"),
    (
        "ch02.blocks",
        "one more",
        "def blocks(n, threads):\n    return n // threads + 1",
        "one block too many when it fits exactly",
    ),
    (
        "ch02.blocks",
        "round",
        "def blocks(n, threads):\n    return round(n / threads)",
        "rounded to the nearest",
    ),
    ("ch02.blocks", "raises", "def blocks(n, threads):\n    return n // 0", "it stops with an error"),
    ("ch02.bias", "empty", "{}", "nothing is written yet"),
    (
        "ch02.bias",
        "x is the row",
        "{ XY if (x < rows && y < columns) out[x * columns + y] = in[x * columns + y] + bias[y]; }",
        "x is taken for the row",
    ),
    (
        "ch02.bias",
        "pitch",
        "{ XY if (x < columns && y < rows) out[y * rows + x] = in[y * rows + x] + bias[x]; }",
        "a row is taken to be as long as there are rows",
    ),
    (
        "ch02.bias",
        "down the columns",
        "{ XY if (x < columns && y < rows) out[x * rows + y] = in[x * rows + y] + bias[x]; }",
        "the elements are counted down the columns",
    ),
    (
        "ch02.bias",
        "one direction guarded",
        "{ XY if (x < columns) out[y * columns + x] = in[y * columns + x] + bias[x]; }",
        "no guard in one direction",
    ),
    (
        "ch02.bias",
        "or for and",
        "{ XY if (x < columns || y < rows) out[y * columns + x] = in[y * columns + x] + bias[x]; }",
        "no guard in one direction",
    ),
    ("ch02.stride", "empty", "def square(x, out):\n    i = cuda.grid(1)", "nothing is written yet"),
    (
        "ch02.stride",
        "no loop",
        "def square(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = x[i] * x[i]",
        "one element a thread",
    ),
    (
        "ch02.stride",
        "block stride",
        "def square(x, out):\n    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):\n"
        "        out[i] = x[i] * x[i]",
        "the step is too short",
    ),
    (
        "ch02.stride",
        "runs",
        "def square(x, out):\n    run = (x.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)\n"
        "    first = run * cuda.grid(1)\n    for i in range(first, min(first + run, x.size)):\n"
        "        out[i] = x[i] * x[i]",
        "each thread has a run of its own",
    ),
    (
        "ch02.stride",
        "no end",
        "def square(x, out):\n    for i in range(cuda.grid(1), x.size + 128, cuda.gridsize(1)):\n"
        "        out[i] = x[i] * x[i]",
        "no guard",
    ),
    (
        "ch02.stride",
        "one thread",
        "def square(x, out):\n    if cuda.grid(1) == 0:\n        for i in range(x.size):\n"
        "            out[i] = x[i] * x[i]",
        "few threads do all the work",
    ),
    ("ch02.blocks", "a fraction", "def blocks(n, threads):\n    return n / threads", "a fraction of a block"),
    (
        "ch02.blocks",
        "threads",
        "def blocks(n, threads):\n    return -(-n // threads) * threads",
        "threads counted, not blocks",
    ),
    ("ch02.blocks", "warps", "def blocks(n, threads):\n    return -(-n // 32)", "warps counted, not blocks"),
    (
        "ch02.bias",
        "bias[y]",
        "{ XY if (x < columns && y < rows) out[y * columns + x] = in[y * columns + x] + bias[y]; }",
        "the bias of the row",
    ),
    (
        "ch02.bias",
        "no bias",
        "{ XY if (x < columns && y < rows) out[y * columns + x] = in[y * columns + x]; }",
        "the bias is left out",
    ),
    (
        "ch02.bias",
        "one block",
        "{ int x = threadIdx.x, y = threadIdx.y; if (x < columns && y < rows)"
        " out[y * columns + x] = in[y * columns + x] + bias[x]; }",
        "a part of the matrix is never written",
    ),
    (
        "ch02.stride",
        "all from 0",
        "def square(x, out):\n    for i in range(x.size):\n        out[i] = x[i] * x[i]",
        "every thread does everything",
    ),
    (
        "ch02.stride",
        "from the thread in its block",
        "def square(x, out):\n    for i in range(cuda.threadIdx.x, x.size, cuda.gridsize(1)):\n"
        "        out[i] = x[i] * x[i]",
        "every block begins at the front",
    ),
    (
        "ch02.stride",
        "two grids a step",
        "def square(x, out):\n    for i in range(cuda.grid(1), x.size, 2 * cuda.gridsize(1)):\n"
        "        out[i] = x[i] * x[i]",
        "the step is too long",
    ),
]
