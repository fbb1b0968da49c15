"""Wrong answers to every exercise, and the name of the mistake that each must be told."""

ROWS = [
    # key, what is wrong, source, name of the mistake
    ("ch00.relu", "empty", "def relu(x, out):\n    i = cuda.grid(1)", "nothing is written yet"),
    (
        "ch00.relu",
        "no guard",
        "def relu(x, out):\n    i = cuda.grid(1)\n    out[i] = max(x[i], 0.0)",
        "no guard",
    ),
    (
        "ch00.relu",
        "thread index only",
        "def relu(x, out):\n    i = cuda.threadIdx.x\n    if i < x.size:\n        out[i] = max(x[i], 0.0)",
        "every block does the work of block 0",
    ),
    (
        "ch00.relu",
        "absolute value",
        "def relu(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = abs(x[i])",
        "that is the absolute value",
    ),
    (
        "ch00.relu",
        "copy",
        "def relu(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = x[i]",
        "negative numbers come through",
    ),
    (
        "ch00.relu",
        "value in the guard",
        "def relu(x, out):\n    i = cuda.grid(1)\n    if i < x.size and x[i] > 0:\n        out[i] = x[i]",
        "negative numbers leave their element unwritten",
    ),
    ("ch00.leaky", "empty", "{}", "nothing is written yet"),
    ("ch00.leaky", "syntax", "{ out[0] = ; }", "it does not compile"),
    ("ch00.leaky", "no guard", "{ INDEX out[i] = x[i] > 0 ? x[i] : slope * x[i]; }", "no guard"),
    (
        "ch00.leaky",
        "max",
        "{ INDEX if (i < n) out[i] = fmaxf(x[i], slope * x[i]); }",
        "that is max(x, slope * x)",
    ),
    ("ch00.leaky", "plain", "{ INDEX if (i < n) out[i] = fmaxf(x[i], 0); }", "the slope is not used"),
    (
        "ch00.leaky",
        "other side",
        "{ INDEX if (i < n) out[i] = x[i] > 0 ? slope * x[i] : x[i]; }",
        "the slope is on the wrong side",
    ),
    (
        "ch00.leaky",
        "thread index only",
        "{ int i = threadIdx.x; if (i < n) out[i] = x[i] > 0 ? x[i] : slope * x[i]; }",
        "every block does the work of block 0",
    ),
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
        "ch04.halve",
        "x is the row",
        "def halve(x, out):\n    i, j = cuda.grid(2)\n    if i < x.shape[0] and j < x.shape[1]:\n"
        "        out[i, j] = x[i, j] / 2",
        "x is the row",
    ),
    (
        "ch04.halve",
        "no guard",
        "def halve(x, out):\n    j, i = cuda.grid(2)\n    out[i, j] = x[i, j] / 2",
        "no guard",
    ),
    (
        "ch04.halve",
        "guard swapped",
        "def halve(x, out):\n    j, i = cuda.grid(2)\n"
        "    if i < min(x.shape) and j < min(x.shape):\n        out[i, j] = x[i, j] / 2",
        "the guard swaps rows and columns",
    ),
    (
        "ch04.grey",
        "interleaved",
        "{ INDEX if (i < n) out[i] = 0.25f * planes[3*i] + 0.5f * planes[3*i+1] + 0.25f * planes[3*i+2]; }",
        "still read as interleaved colours",
    ),
    (
        "ch04.grey",
        "no guard",
        "{ INDEX out[i] = 0.25f * planes[i] + 0.5f * planes[n+i] + 0.25f * planes[2*n+i]; }",
        "no guard",
    ),
    (
        "ch04.grey",
        "runs",
        "{ INDEX for (int j = 8 * i; j < min(n, 8 * i + 8); ++j)"
        " out[j] = 0.25f * planes[j] + 0.5f * planes[n+j] + 0.25f * planes[2*n+j]; }",
        "each thread has a run of pixels",
    ),
    ("ch04.float4", "empty", "{}", "nothing is written yet"),
    (
        "ch04.float4",
        "no tail",
        "{ INDEX if (4*i+3 < n) ((float4*)out)[i] = ((const float4*)in)[i]; }",
        "right only for multiples of 4",
    ),
    (
        "ch04.float4",
        "guard in floats",
        "{ INDEX if (i < n) ((float4*)out)[i] = ((const float4*)in)[i]; }",
        "the guard counts floats, the index counts float4s",
    ),
    (
        "ch04.float4",
        "scalar loads",
        "{ INDEX for (int j = 4 * i; j < min(n, 4 * i + 4); ++j) out[j] = in[j]; }",
        "four small loads, not one wide one",
    ),
]

HEADS = {
    "ch00.leaky": "leaky_relu(const float* x, float* out, float slope, int n)",
    "ch02.bias": "add_bias(const float* in, const float* bias, float* out, int rows, int columns)",
    "ch04.grey": "grey(const float* planes, float* out, int n)",
    "ch04.float4": "copy4(const float* in, float* out, int n)",
}
SHORT = {
    "INDEX": "int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "XY": "int x = blockIdx.x * blockDim.x + threadIdx.x; int y = blockIdx.y * blockDim.y + threadIdx.y;",
}


def source(key: str, language: str, text: str) -> str:
    """The whole source of a row: heads and decorators added."""
    if language == "cuda":
        for name, long in SHORT.items():
            text = text.replace(name, long)
        return f'extern "C" __global__ void {HEADS[key]}\n{text}\n'
    return f"@cuda.jit\n{text}\n" if language == "numba" else text + "\n"
