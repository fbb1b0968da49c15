"""Right answers to the exercises of chapter 10 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch10.intensity",
        "np.float64",
        """import numpy as np
def intensity(a, b, itemsize):
    out = list(a[:-1]) + [b[-1]]
    elements = np.float64(np.prod(a) + np.prod(b) + np.prod(out))
    return 2 * np.prod(out) * a[-1] / (itemsize * elements)
""",
    ),
    (
        "ch10.intensity",
        "batch first",
        """def intensity(a, b, itemsize):
    batch = a[0] if len(a) == 3 else 1
    rows, inner, columns = a[-2], a[-1], b[-1]
    own = batch if len(b) == 3 else 1
    nbytes = itemsize * (batch * rows * inner + own * inner * columns + batch * rows * columns)
    return 2 * batch * rows * inner * columns / nbytes
""",
    ),
    (
        "ch10.state",
        "shares of the time",
        """def state(flops, nbytes, seconds, peak, bandwidth):
    busy = {"memory": nbytes / bandwidth / seconds, "compute": flops / peak / seconds}
    most = max(busy, key=busy.get)
    return most if busy[most] >= 0.5 else "latency"
""",
    ),
    (
        "ch10.state",
        "the ridge first",
        """def state(flops, nbytes, seconds, peak, bandwidth):
    if flops / nbytes < peak / bandwidth:
        near, word = nbytes / bandwidth, "memory"
    else:
        near, word = flops / peak, "compute"
    return "latency" if 2 * near < seconds else word
""",
    ),
    (
        "ch10.faster",
        "by the rates that the roofs allow",
        """def faster(flops, nbytes, old, new):
    intensity = flops / nbytes
    allowed = [min(intensity * bandwidth, peak) for peak, bandwidth in (old, new)]
    return allowed[1] / allowed[0]
""",
    ),
    (
        "ch10.faster",
        "the ridge of each GPU",
        """def faster(flops, nbytes, old, new):
    def rate(gpu):
        peak, bandwidth = gpu
        return flops / nbytes * bandwidth if flops / nbytes < peak / bandwidth else peak
    return rate(new) / rate(old)
""",
    ),
    (
        "ch10.lowest",
        "sorted pairs",
        """def lowest_roof(flops, peaks, nbytes, bandwidth):
    pairs = [(nbytes / bandwidth, "memory")]
    pairs += [(done / peaks[unit], unit) for unit, done in flops.items()]
    return sorted(pairs)[-1][1]
""",
    ),
    (
        "ch10.lowest",
        "a loop over the peaks",
        """def lowest_roof(flops, peaks, nbytes, bandwidth):
    name, longest = "memory", nbytes / bandwidth
    for unit, peak in peaks.items():
        if flops.get(unit, 0) / peak > longest:
            name, longest = unit, flops[unit] / peak
    return name
""",
    ),
    (
        "ch10.batch",
        "in closed form",
        """import math
def smallest_batch(inputs, outputs, itemsize, peak, bandwidth):
    ridge = peak / bandwidth
    gain = 2 * inputs * outputs - ridge * itemsize * (inputs + outputs)
    if gain <= 0:
        return 0
    return math.ceil(ridge * itemsize * inputs * outputs / gain)
""",
    ),
    (
        "ch10.batch",
        "while and a limit",
        """def smallest_batch(inputs, outputs, itemsize, peak, bandwidth):
    batch = 1
    while batch <= 100000:
        seconds = itemsize * (inputs * outputs + batch * (inputs + outputs)) / bandwidth
        if 2 * batch * inputs * outputs / peak >= seconds:
            return batch
        batch += 1
    return 0
""",
    ),
    (
        "ch10.fuse",
        "grid stride with module constants",
        """import numpy as np
THREE, TWO = np.float32(3), np.float32(2)
@cuda.jit
def fuse(x, t, out, gain, shift):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y = gain * x[i] + shift
        out[i] = y * y * (THREE - TWO * y)
""",
    ),
    (
        "ch10.fuse",
        "device functions",
        """import numpy as np
@cuda.jit(device=True, inline=True)
def first(v, gain, shift):
    return gain * v + shift
@cuda.jit(device=True)
def second(y):
    return y * y * (np.float32(3.0) - (y + y))
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.shape[0]:
        return
    out[i] = second(first(x[i], gain, shift))
""",
    ),
    (
        "ch10.fuse",
        "fma",
        """import numpy as np
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < len(out):
        y = cuda.fma(gain, x[i], shift)
        out[i] = y * y * cuda.fma(np.float32(-2), y, np.float32(3))
""",
    ),
    (
        "ch10.fuse",
        "x dtype",
        """from numba import float32
@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        out[i] = float32(3) * y * y - float32(2) * y * y * y
""",
    ),
    (
        "ch10.fuse",
        "y + y + y",
        """@cuda.jit
def fuse(x, t, out, gain, shift):
    i = cuda.grid(1)
    if i < x.size:
        y = gain * x[i] + shift
        s = y * y
        out[i] = s + s + s - s * y - s * y
""",
    ),
    (
        "ch10.tile",
        "log2 ceil",
        """import math
def tile(peak, bandwidth, itemsize):
    return max(1, 2 ** math.ceil(math.log2(itemsize * peak / bandwidth)))
""",
    ),
    (
        "ch10.tile",
        "bit shift while",
        """def tile(peak, bandwidth, itemsize):
    t = 1
    while t * bandwidth < peak * itemsize:
        t <<= 1
    return t
""",
    ),
    (
        "ch10.tile",
        "bit_length",
        """import math
def tile(peak, bandwidth, itemsize):
    need = math.ceil(peak * itemsize / bandwidth)
    return 1 << (need - 1).bit_length() if need > 1 else 1
""",
    ),
    (
        "ch10.tile",
        "numpy",
        """import numpy as np
def tile(peak, bandwidth, itemsize):
    powers = 2 ** np.arange(20)
    return powers[2 * powers ** 2 / (2 * powers * itemsize) >= peak / bandwidth][0]
""",
    ),
]
