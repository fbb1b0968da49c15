"""Wrong answers to the exercises of chapter 00."""

HEADS = {
    "ch00.leaky": "leaky_relu(const float* x, float* out, float slope, int n)",
}
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
    (
        "ch00.typical",
        "mean",
        "def typical(times, warmup):\n    counted = times[warmup:]\n    return sum(counted) / len(counted)",
        "that is the mean",
    ),
    (
        "ch00.typical",
        "minimum",
        "def typical(times, warmup):\n    return min(times[warmup:])",
        "that is the fastest run",
    ),
    (
        "ch00.typical",
        "mean of all",
        "def typical(times, warmup):\n    return sum(times) / len(times)",
        "the mean, with the warm-up in it",
    ),
    (
        "ch00.typical",
        "warm-up counted",
        "def typical(times, warmup):\n    import statistics\n    return statistics.median(times)",
        "the warm-up counts",
    ),
    (
        "ch00.typical",
        "sorted first",
        "def typical(times, warmup):\n    import statistics\n    return statistics.median(sorted(times)[warmup:])",
        "sorted before the warm-up is dropped",
    ),
    (
        "ch00.typical",
        "not sorted",
        "def typical(times, warmup):\n    counted = times[warmup:]\n    return counted[len(counted) // 2]",
        "the middle of the runs as they came",
    ),
    (
        "ch00.typical",
        "upper middle",
        "def typical(times, warmup):\n    counted = sorted(times[warmup:])\n    return counted[len(counted) // 2]",
        "wrong for an even number of runs",
    ),
    (
        "ch00.relu",
        "min",
        "def relu(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = min(x[i], 0.0)",
        "min for max",
    ),
    (
        "ch00.leaky",
        "slope alone",
        "{ INDEX if (i < n) out[i] = x[i] > 0 ? x[i] : slope; }",
        "the slope in place of a product",
    ),
    ("ch00.leaky", "all scaled", "{ INDEX if (i < n) out[i] = slope * x[i]; }", "everything is scaled"),
    (
        "ch00.typical",
        "slowest",
        "def typical(times, warmup):\n    return max(times[warmup:])",
        "that is the slowest run",
    ),
]
