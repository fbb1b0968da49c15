"""More wrong answers to the exercises of chapter 01, by other hands."""

ROWS = [
    (
        "ch01.speedup",
        "rounded",
        """def speedup(share, factor, copies):
    return round(1 / (1 - share + share / factor + copies), 2)""",
        "rounded",
    ),
    (
        "ch01.speedup",
        "precedence 2",
        """def speedup(share, factor, copies):
    return 1 / (1 - share) + share / factor + copies""",
        "brackets are missing",
    ),
    (
        "ch01.speedup",
        "copies subtracted in denom",
        """def speedup(share, factor, copies):
    return 1 / (1 - share + share / factor - copies)""",
        "the copies save time",
    ),
    (
        "ch01.speedup",
        "no 1-share",
        """def speedup(share, factor, copies):
    return 1 / (share / factor + copies)""",
        "what stays as it was is left out",
    ),
    (
        "ch01.speedup",
        "share missing: 1/factor",
        """def speedup(share, factor, copies):
    return 1 / (1 - share + 1 / factor + copies)""",
        "all of it becomes faster",
    ),
    (
        "ch01.speedup",
        "whole faster",
        """def speedup(share, factor, copies):
    return 1 / (1 / factor + copies)""",
        "all of it becomes faster",
    ),
    (
        "ch01.speedup",
        "time saved",
        """def speedup(share, factor, copies):
    return share - share/factor - copies""",
        "that is the time saved",
    ),
    (
        "ch01.speedup",
        "share*factor in denom",
        """def speedup(share, factor, copies):
    return 1 / (1 - share + share * factor + copies)""",
        "the share takes longer, not shorter",
    ),
    (
        "ch01.speedup",
        "returns none",
        """def speedup(share, factor, copies):
    speed = 1 / (1 - share + share / factor + copies)""",
        "nothing is returned",
    ),
    (
        "ch01.speedup",
        "param order",
        """def speedup(factor, share, copies):
    return 1 / (1 - share + share / factor + copies)""",
        "the arguments are taken in another order",
    ),
    (
        "ch01.border",
        "round",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return round(1000*start_us/(cpu_ns-gpu_ns))""",
        "one element too few",
    ),
    (
        "ch01.border",
        "round+1",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return round(1000*start_us/(cpu_ns-gpu_ns))+1""",
        "one element too many",
    ),
    (
        "ch01.border",
        "ceil+1",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return math.ceil(1000*start_us/(cpu_ns-gpu_ns))+1""",
        "one element too many",
    ),
    (
        "ch01.border",
        "sum",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return math.floor(start_us*1000/(cpu_ns+gpu_ns))+1""",
        "the two times are added",
    ),
    (
        "ch01.border",
        "swapped diff",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return math.floor(start_us*1000/(gpu_ns-cpu_ns))+1""",
        "the difference is the wrong way round",
    ),
    (
        "ch01.border",
        "divide by gpu",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return math.floor(start_us*1000/gpu_ns)+1""",
        "the CPU's own elements are free",
    ),
    (
        "ch01.border",
        "units ceil",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns: return None
    return math.ceil(start_us/(cpu_ns-gpu_ns))""",
        "microseconds taken for nanoseconds",
    ),
    (
        "ch01.border",
        "start zero None",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns >= cpu_ns or not start_us: return None
    return math.floor(1000*start_us/(cpu_ns-gpu_ns)) + 1""",
        "nothing to start is taken for never",
    ),
    (
        "ch01.border",
        "no return",
        """import math
def break_even(cpu_ns, gpu_ns, start_us):
    if gpu_ns < cpu_ns:
        n = math.floor(1000*start_us/(cpu_ns-gpu_ns)) + 1""",
        "nothing is returned",
    ),
    (
        "ch01.standardise",
        "loop kept, from i",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    for j in range(i, x.size):
        out[j] = min(max((x[j]-mean)*scale, -limit), limit)""",
        "elements are computed more than once",
    ),
    (
        "ch01.standardise",
        "block stride loop",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        out[i] = min(max((x[i]-mean)*scale, -limit), limit)""",
        "elements are computed more than once",
    ),
    (
        "ch01.standardise",
        "bottom only",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max((x[i]-mean)*scale, -limit)""",
        "cut off on one side only",
    ),
    (
        "ch01.standardise",
        "divided",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = min(max((x[i]-mean)/scale, -limit), limit)""",
        "the value is computed in another way",
    ),
    (
        "ch01.standardise",
        "no mean",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = min(max(x[i]*scale, -limit), limit)""",
        "the value is computed in another way",
    ),
    (
        "ch01.standardise",
        "skip over limit",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        v = (x[i]-mean)*scale
        if -limit <= v <= limit:
            out[i] = v""",
        "what is beyond a limit is lost",
    ),
    (
        "ch01.standardise",
        "zero over limit",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        v = (x[i]-mean)*scale
        out[i] = v if abs(v) <= limit else 0""",
        "what is beyond a limit is lost",
    ),
    (
        "ch01.standardise",
        "the last left out",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size - 1:
        out[i] = min(max((x[i] - mean) * scale, -limit), limit)""",
        "the last element is left out",
    ),
    (
        "ch01.standardise",
        "gaps",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
    if i < x.size:
        out[i] = min(max((x[i] - mean) * scale, -limit), limit)""",
        "the threads do not cover the elements",
    ),
    (
        "ch01.standardise",
        "twice the index",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        out[2 * i] = min(max((x[i] - mean) * scale, -limit), limit)""",
        "the index leads out of the array",
    ),
    (
        "ch01.standardise",
        "loaded again",
        """@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = limit
        if (x[i] - mean) * scale < limit:
            out[i] = -limit
            if (x[i] - mean) * scale > -limit:
                out[i] = (x[i] - mean) * scale""",
        "loaded again",
    ),
]
