"""Right answers to the exercises of chapter 21 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch21.fault",
        "NumPy, and nested conditions",
        """import numpy as np
def fault(stale, gradient, before, after):
    numbers = np.array(gradient if gradient is not None else [0.0])
    if not np.isfinite(numbers).all():
        return "not finite"
    if np.abs(numbers).max() == 0:
        return "no backward"
    if stale is not None and np.abs(np.array(stale)).max() > 0:
        return "no zero_grad"
    return "none" if list(before) != list(after) else "no step"
""",
    ),
    (
        "ch21.modes",
        "squares of distances, both ways from one table",
        """import numpy as np
def coverage(points, modes, reach, least):
    apart = np.array(points)[:, None] - np.array(modes)[None]
    near = (apart**2).sum(axis=2) < reach**2
    return int((near.sum(axis=0) >= least).sum()), float(near.any(axis=1).mean())
""",
    ),
    (
        "ch21.size",
        "counted, and not derived",
        """def row_size(n, kernel, stride, padding):
    covered = set()
    for i in range(n):
        covered.add(i * stride + kernel)
    return max(covered) - 2 * padding, kernel == kernel // stride * stride
""",
    ),
    (
        "ch21.spread",
        "over the inputs that reach this output",
        """@cuda.jit
def spread(x, w, out, stride):
    o = cuda.grid(1)
    if o < out.size:
        total = 0.0
        for i in range(x.size):
            k = o - i * stride
            if 0 <= k < w.size:
                total += x[i] * w[k]
        out[o] = total
""",
    ),
    (
        "ch21.hinge",
        "with an if, and the mean's share first",
        r"""
extern "C" __global__
void hinge(const float* x, const float* sign, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float share = 1.0f / n, s = sign[i], logit = x[i], loss = 0, slope = 0;
    if (s * logit < 1.0f) {
        loss = 1.0f - s * logit;
        slope = -s * share;
    }
    out[i] = loss;
    out[n + i] = slope;
}
""",
    ),
]
