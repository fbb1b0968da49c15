"""More wrong answers to the exercises of chapter 00, by other hands."""

ROWS = [
    (
        "ch00.relu",
        "grid(1) times block",
        """@cuda.jit
def relu(x, out):
    i = cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x
    if i < x.size:
        out[i] = max(x[i], 0.0)""",
        "the threads do not cover the elements",
    ),
    (
        "ch00.relu",
        "blockIdx only",
        """@cuda.jit
def relu(x, out):
    i = cuda.blockIdx.x
    if i < x.size:
        out[i] = max(x[i], 0.0)""",
        "the threads do not cover the elements",
    ),
    (
        "ch00.relu",
        "guard size-1",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size - 1:
        out[i] = max(x[i], 0.0)""",
        "the last element is left out",
    ),
    (
        "ch00.relu",
        "only negatives written",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] < 0:
            out[i] = 0.0""",
        "positive numbers leave their element unwritten",
    ),
    (
        "ch00.relu",
        "step fn",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1.0 if x[i] > 0 else 0.0""",
        "that is the slope of ReLU",
    ),
    (
        "ch00.relu",
        "int cast",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = max(int(x[i]), 0)""",
        "the fractions are lost",
    ),
    (
        "ch00.relu",
        "relu6 stretch",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = min(max(x[i], 0), 6)""",
        "clipped at 6 as well",
    ),
    (
        "ch00.relu",
        "stores to every fourth element",
        """@cuda.jit
def relu(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[4 * i] = max(x[i], 0.0)""",
        "the index leads out of the array",
    ),
    (
        "ch00.leaky",
        "0.01 hard",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) out[i] = x[i] > 0 ? x[i] : 0.01f*x[i]; }",
        "a slope of your own",
    ),
    (
        "ch00.leaky",
        "0.25 hard",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) out[i] = x[i] > 0 ? x[i] : 0.25f*x[i]; }",
        "a slope of your own",
    ),
    (
        "ch00.leaky",
        "negatives unwritten",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n && x[i] > 0) out[i] = x[i]; }",
        "some numbers leave their element unwritten",
    ),
    (
        "ch00.leaky",
        "only neg written",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) if (x[i] < 0) out[i] = slope * x[i]; }",
        "some numbers leave their element unwritten",
    ),
    (
        "ch00.leaky",
        "an assignment in the guard",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i = n) out[i] = x[i] > 0 ? x[i] : slope*x[i]; }",
        "the index leads out of the array",
    ),
    (
        "ch00.leaky",
        "block only",
        "{ int i = blockIdx.x; if (i < n) out[i] = x[i] > 0 ? x[i] : slope*x[i]; }",
        "the threads do not cover the elements",
    ),
    (
        "ch00.leaky",
        "copy",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) out[i] = x[i]; }",
        "negative numbers come through",
    ),
    (
        "ch00.leaky",
        "max(0,x)+slope*x",
        "{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) out[i] = fmaxf(x[i],0) + slope*x[i]; }",
        "slope * x is added on both sides",
    ),
    (
        "ch00.leaky",
        "the last left out",
        """{ int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = x[i] > 0 ? x[i] : slope * x[i]; }""",
        "the last element is left out",
    ),
    (
        "ch00.typical",
        "print",
        """import numpy as np

def typical(times, warmup):
    print(np.median(times[warmup:]))""",
        "nothing is returned",
    ),
    (
        "ch00.typical",
        "returns None",
        """def typical(times, warmup):
    t = sorted(times[warmup:])
    m = t[len(t)//2]""",
        "nothing is returned",
    ),
    (
        "ch00.typical",
        "warmup one too many",
        """import numpy as np

def typical(times, warmup):
    return np.median(times[warmup+1:])""",
        "one run too many is dropped",
    ),
    (
        "ch00.typical",
        "warmup off by one",
        """import numpy as np

def typical(times, warmup):
    return np.median(times[max(warmup-1,0):])""",
        "one run too few is dropped",
    ),
    (
        "ch00.typical",
        "[:warmup]",
        """import numpy as np

def typical(times, warmup):
    return np.median(times[:warmup])""",
        "only the warm-up counts",
    ),
    (
        "ch00.typical",
        "drops last safe",
        """import numpy as np

def typical(times, warmup):
    return np.median(times[:len(times)-warmup])""",
        "the last runs are dropped",
    ),
    (
        "ch00.typical",
        "mid unsorted mean",
        """def typical(times, warmup):
    t = times[warmup:]
    m = len(t)//2
    return (t[m]+t[-m-1])/2""",
        "the middle two of the runs as they came",
    ),
    (
        "ch00.typical",
        "wrong pair for odd",
        """def typical(times, warmup):
    t = sorted(times[warmup:])
    m = len(t)//2
    return (t[m]+t[m-1])/2""",
        "two in the middle of an odd number of runs",
    ),
    (
        "ch00.typical",
        "midrange",
        """def typical(times, warmup):
    t = times[warmup:]
    return (min(t)+max(t))/2""",
        "half-way between fastest and slowest",
    ),
]
