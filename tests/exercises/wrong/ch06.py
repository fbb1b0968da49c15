"""Wrong answers to the exercises of chapter 06: most of them give the right result when warps run in order."""

HEADS = {"ch06.histogram": "histogram(const int* values, int* counts, int n, int bins)"}

_SMOOTH = """
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    {0}
    for _ in range(3):
        left = s[t - 1] if t > 0 else s[t]
        {1}
        s[t] = (s[t] + left) / 2
        {2}
    if i < x.size:
        out[i] = s[t]
"""
_BARRIER, _NOTHING = "cuda.syncthreads()", "pass"
_IN_A_BRANCH = """
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    for _ in range(3):
        if t > 0:
            left = s[t - 1]
            cuda.syncthreads()
        else:
            left = s[t]
            cuda.syncthreads()
        s[t] = (s[t] + left) / 2
        cuda.syncthreads()
    if i < x.size:
        out[i] = s[t]
"""
_HISTOGRAM = """{{
    __shared__ int mine[64];
    int t = threadIdx.x;
    {0}
    {1}
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        {2}
    {3}
    {4}
}}"""
_ZERO, _SYNC = "if (t < bins) mine[t] = 0;", "__syncthreads();"
_COUNT, _ADD = "atomicAdd(&mine[values[i]], 1);", "if (t < bins) atomicAdd(&counts[t], mine[t]);"
_ARGMAX = """
import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = {0}
    {1}
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, {2})
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])
"""
_KEY, _LEAST = "np.int64(x[i]) << 32 | (0x7FFFFFFF - i)", "-(1 << 63)"

ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch06.smooth",
        "no barrier at all",
        _SMOOTH.format(_NOTHING, _NOTHING, _NOTHING),
        "reads and writes of one round are not kept apart",
    ),
    (
        "ch06.smooth",
        "none between reading and writing",
        _SMOOTH.format(_BARRIER, _NOTHING, _BARRIER),
        "reads and writes of one round are not kept apart",
    ),
    (
        "ch06.smooth",
        "none at the end of a round",
        _SMOOTH.format(_BARRIER, _BARRIER, _NOTHING),
        "no barrier before a round reads",
    ),
    (
        "ch06.smooth",
        "none after the load",
        _SMOOTH.format(_NOTHING, _BARRIER, _BARRIER),
        "no barrier before a round reads",
    ),
    (
        "ch06.smooth",
        "barriers of the warp",
        _SMOOTH.format("cuda.syncwarp()", "cuda.syncwarp()", "cuda.syncwarp()"),
        "__syncwarp orders one warp",
    ),
    ("ch06.smooth", "a barrier in each arm", _IN_A_BRANCH, "threads wait at different barriers"),
    ("ch06.histogram", "empty", "{}", "nothing is counted yet"),
    (
        "ch06.histogram",
        "no atomic",
        "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
        " counts[values[i]]++; }",
        "counted without an atomic",
    ),
    (
        "ch06.histogram",
        "no atomic in shared memory",
        _HISTOGRAM.format(_ZERO, _SYNC, "mine[values[i]]++;", _SYNC, _ADD),
        "counted without an atomic",
    ),
    (
        "ch06.histogram",
        "atomics on global memory",
        "{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
        " atomicAdd(&counts[values[i]], 1); }",
        "atomics on global memory",
    ),
    (
        "ch06.histogram",
        "not set to zero",
        _HISTOGRAM.format("", _SYNC, _COUNT, _SYNC, _ADD),
        "the private bins do not start at zero",
    ),
    (
        "ch06.histogram",
        "no barrier after the zeros",
        _HISTOGRAM.format(_ZERO, "", _COUNT, _SYNC, _ADD),
        "a barrier is missing",
    ),
    (
        "ch06.histogram",
        "no barrier before adding up",
        _HISTOGRAM.format(_ZERO, _SYNC, _COUNT, "", _ADD),
        "a barrier is missing",
    ),
    (
        "ch06.histogram",
        "stored, not added",
        _HISTOGRAM.format(_ZERO, _SYNC, _COUNT, _SYNC, "if (t < bins) counts[t] = mine[t];"),
        "the last block wins",
    ),
    (
        "ch06.histogram",
        "no loop",
        "{ __shared__ int mine[64]; int t = threadIdx.x; if (t < bins) mine[t] = 0; __syncthreads();\n"
        " int i = blockIdx.x * blockDim.x + t; if (i < n) atomicAdd(&mine[values[i]], 1); __syncthreads();\n"
        " if (t < bins) atomicAdd(&counts[t], mine[t]); }",
        "one value a thread",
    ),
    (
        "ch06.argmax",
        "compared, then stored",
        "import numpy as np\n\n@cuda.jit\ndef argmax(x, out):\n"
        "    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n"
        "        key = np.int64(x[i]) << 32 | (0x7FFFFFFF - i)\n"
        "        if key > out[0]:\n"
        "            out[0] = key\n",
        "compared, then stored",
    ),
    (
        "ch06.argmax",
        "the last of equals",
        _ARGMAX.format(_LEAST, _BARRIER, "np.int64(x[i]) << 32 | i"),
        "the last of equals",
    ),
    (
        "ch06.argmax",
        "no start",
        _ARGMAX.format(_LEAST, _BARRIER, _KEY).replace("best[0] = -(1 << 63)", "pass"),
        "the best of the block is never set",
    ),
    ("ch06.argmax", "no place", _ARGMAX.format(_LEAST, _BARRIER, "x[i]"), "the value without its place"),
    ("ch06.argmax", "starts at zero", _ARGMAX.format("0", _BARRIER, _KEY), "zero is taken for the least"),
    ("ch06.argmax", "no barrier after the start", _ARGMAX.format(_LEAST, "pass", _KEY), "a barrier is missing"),
    (
        "ch06.argmax",
        "atomics on global memory",
        "import numpy as np\n\n@cuda.jit\ndef argmax(x, out):\n"
        "    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n"
        "        cuda.atomic.max(out, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))\n",
        "every thread asks global memory",
    ),
    (
        "ch06.smooth",
        "threads that leave early",
        _SMOOTH.format(_BARRIER, _BARRIER, _BARRIER).replace(
            "    s[t] = x[i] if i < x.size else 0\n", "    if i >= x.size:\n        return\n    s[t] = x[i]\n"
        ),
        "threads that never come to the barrier",
    ),
    (
        "ch06.smooth",
        "no first neighbour",
        _SMOOTH.format(_BARRIER, _BARRIER, _BARRIER).replace(" if t > 0 else s[t]", ""),
        "the first thread has no left neighbour",
    ),
    (
        "ch06.histogram",
        "every thread sets a bin",
        _HISTOGRAM.format("mine[t] = 0;", _SYNC, _COUNT, _SYNC, _ADD),
        "more threads than bins",
    ),
    (
        "ch06.histogram",
        "added in shared memory, without an atomic",
        _HISTOGRAM.format(_ZERO, _SYNC, "mine[values[i]] += 1;", _SYNC, _ADD),
        "counted without an atomic",
    ),
    (
        "ch06.histogram",
        "one thread adds up",
        _HISTOGRAM.format(
            _ZERO, _SYNC, _COUNT, _SYNC, "if (t == 0) for (int b = 0; b < bins; ++b) atomicAdd(&counts[b], mine[b]);"
        ),
        "atomics on global memory",
    ),
    (
        "ch06.argmax",
        "added",
        _ARGMAX.format(_LEAST, _BARRIER, _KEY).replace("cuda.atomic.max(out", "cuda.atomic.add(out"),
        "added to the best",
    ),
    (
        "ch06.argmax",
        "halves swapped",
        _ARGMAX.format(_LEAST, _BARRIER, "np.int64(i) << 32 | x[i]"),
        "the place stands above the value",
    ),
]
