"""Wrong answers to the exercises of chapter 04."""

HEADS = {
    "ch04.grey": "grey(const float* planes, float* out, int n)",
    "ch04.float4": "copy4(const float* in, float* out, int n)",
}
ROWS = [
    # key, what is wrong, source, name of the mistake
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
        "ch04.halve",
        "guard swapped outright",
        "def halve(x, out):\n    j, i = cuda.grid(2)\n"
        "    if j < x.shape[0] and i < x.shape[1]:\n        out[i, j] = x[i, j] / 2",
        "the guard swaps rows and columns",
    ),
    (
        "ch04.halve",
        "the last row and column left out",
        "def halve(x, out):\n    j, i = cuda.grid(2)\n"
        "    if i < x.shape[0] and j < x.shape[1] - 1:\n        out[i, j] = x[i, j] / 2",
        "the guard leaves elements out",
    ),
    (
        "ch04.halve",
        "in place",
        "def halve(x, out):\n    j, i = cuda.grid(2)\n"
        "    if i < x.shape[0] and j < x.shape[1]:\n        x[i, j] = x[i, j] / 2",
        "nothing is written yet",
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
    (
        "ch04.halve",
        "a lane for each row",
        "def halve(x, out):\n    j, i = cuda.grid(2)\n    if j == 0 and i < x.shape[0]:\n"
        "        for k in range(x.shape[1]):\n            out[i, k] = x[i, k] / 2",
        "one lane works, the others watch",
    ),
    (
        "ch04.grey",
        "a lane for each block",
        "{ int first = blockIdx.x * blockDim.x; if (threadIdx.x == 0) for (int i = first; i < min(n, first + 128); ++i)"
        " out[i] = 0.25f * planes[i] + 0.5f * planes[n+i] + 0.25f * planes[2*n+i]; }",
        "one lane works, the others watch",
    ),
    (
        "ch04.grey",
        "neighbours",
        "{ INDEX if (i < n) out[i] = 0.25f * planes[i] + 0.5f * planes[i+1] + 0.25f * planes[i+2]; }",
        "one plane's neighbours taken for colours",
    ),
    (
        "ch04.grey",
        "a mean",
        "{ INDEX if (i < n) out[i] = (planes[i] + planes[n+i] + planes[2*n+i]) / 3; }",
        "the weights are mixed up",
    ),
    (
        "ch04.grey",
        "pixel times plane",
        "{ INDEX if (i < n) out[i] = 0.25f * planes[i] + 0.5f * planes[n*i+1] + 0.25f * planes[n*i+2]; }",
        "the index leads out of the planes",
    ),
    ("ch04.float4", "one float", "{ INDEX if (i < n) out[i] = in[i]; }", "one float a thread"),
]
