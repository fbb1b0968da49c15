"""Right answers to the exercises of chapter 01, by other routes than the solution."""

ROWS = [
    (
        "ch01.speedup",
        "pow",
        """def speedup(share, factor, copies):
    return (1 - share + share * factor ** -1 + copies) ** -1""",
    ),
    (
        "ch01.speedup",
        "np",
        """import numpy as np

def speedup(share, factor, copies):
    return np.reciprocal(np.float64(1 - share + share / factor + copies))""",
    ),
    (
        "ch01.speedup",
        "mult by factor",
        """def speedup(share, factor, copies):
    return factor / (factor*(1 - share) + share + factor*copies)""",
    ),
    (
        "ch01.speedup",
        "old/new",
        """def speedup(share, factor, copies, old=100.0):
    new = (1-share)*old + share*old/factor + copies*old
    return old/new""",
    ),
    ("ch01.speedup", "lambda", "speedup = lambda p, s, c: 1/(1 - p*(1 - 1/s) + c)"),
    (
        "ch01.speedup",
        "class callable",
        """class A:
    def __call__(self, p, s, c): return 1/((1-p)+p/s+c)
speedup = A()""",
    ),
    (
        "ch01.border",
        "floordiv",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    d = cpu_ns - gpu_ns
    return int(start_us*1000 // d) + 1 if d > 0 else None""",
    ),
    (
        "ch01.border",
        "float result 2001.0",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    d = cpu_ns - gpu_ns
    return start_us*1000 // d + 1 if d > 0 else None""",
    ),
    (
        "ch01.border",
        "np",
        """import numpy as np

import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return
    return np.floor(1e3*start_us/(cpu_ns-gpu_ns)).astype(int) + 1""",
    ),
    (
        "ch01.border",
        "loop search",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if not cpu_ns > gpu_ns: return None
    n = 1
    while n*cpu_ns <= start_us*1000 + n*gpu_ns: n += 1
    return n""",
    ),
    (
        "ch01.border",
        "bisect",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    lo, hi = 0, 10**9
    while hi - lo > 1:
        m = (lo+hi)//2
        if m*cpu_ns > start_us*1000+m*gpu_ns: hi = m
        else: lo = m
    return hi""",
    ),
    (
        "ch01.border",
        "ceil fixed",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    d = cpu_ns-gpu_ns
    if d <= 0: return None
    n = math.ceil(start_us*1000/d)
    return n + (n*d == start_us*1000)""",
    ),
    (
        "ch01.standardise",
        "stride",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = min(max((x[i]-mean)*scale, -limit), limit)""",
    ),
    (
        "ch01.standardise",
        "ifs",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i >= x.size: return
    v = (x[i]-mean)*scale
    if v > limit: v = limit
    elif v < -limit: v = -limit
    out[i] = v""",
    ),
    (
        "ch01.standardise",
        "device clip",
        """@cuda.jit(device=True, inline=True)
def clip(v, a, b):
    return max(a, min(b, v))
@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.blockIdx.x*cuda.blockDim.x+cuda.threadIdx.x
    if i < len(x):
        out[i] = clip((x[i]-mean)*scale, -limit, limit)""",
    ),
    (
        "ch01.standardise",
        "float64",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = min(max((float(x[i])-float(mean))*float(scale), -float(limit)), float(limit))""",
    ),
    (
        "ch01.standardise",
        "selp",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        v = (x[i]-mean)*scale
        v = cuda.selp(v > limit, limit, v)
        out[i] = cuda.selp(v < -limit, -limit, v)""",
    ),
    (
        "ch01.standardise",
        "fma",
        """import math

@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        v = cuda.fma(x[i], scale, -mean*scale)
        out[i] = math.copysign(min(abs(v), limit), v)""",
    ),
    (
        "ch01.clocks",
        "math.ceil and if",
        """import math
def clocks(chains, steps, lanes, latency):
    most = math.ceil(chains / lanes)
    if most < latency:
        return latency * steps
    return most * steps""",
    ),
    (
        "ch01.clocks",
        "round by round",
        """def clocks(chains, steps, lanes, latency):
    dealt = [0] * lanes
    for chain in range(chains):
        dealt[chain % lanes] += 1
    time = 0
    for _ in range(steps):
        time += max([latency, *dealt])
    return time""",
    ),
    (
        "ch01.clocks",
        "np, a float",
        """import numpy as np
def clocks(chains, steps, lanes, latency):
    return steps * np.maximum(latency, np.ceil(chains / lanes))""",
    ),
    (
        "ch01.step",
        "accumulate",
        """from itertools import accumulate
def finished(kernels, launch, waits):
    def after(state, numbered):
        host, gpu = state
        number, kernel = numbered
        end = max(gpu, host + launch) + kernel
        return (end if number in waits else host + launch), end
    return list(accumulate(enumerate(kernels), after, initial=(0, 0)))[-1][1]""",
    ),
    (
        "ch01.step",
        "idle times",
        """def finished(kernels, launch, waits):
    asked, done = 0.0, 0.0
    for i in range(len(kernels)):
        asked += launch
        idle = asked - done if asked > done else 0
        done += idle + kernels[i]
        if i in waits:
            asked = done
    return done""",
    ),
    (
        "ch01.lanes",
        "padded array",
        """import numpy as np
def lanes_at_work(lengths):
    rows = -(-len(lengths) // 32)
    padded = np.zeros(32 * rows)
    padded[: len(lengths)] = lengths
    return padded.sum() / padded.reshape(rows, 32).max(axis=1).sum()""",
    ),
    (
        "ch01.lanes",
        "turn by turn",
        """def lanes_at_work(lengths):
    work = turns = 0
    while lengths:
        warp, lengths = lengths[:32], lengths[32:]
        letter = 0
        while any(length > letter for length in warp):
            work += sum(length > letter for length in warp)
            turns += 1
            letter += 1
    return work / turns""",
    ),
]
