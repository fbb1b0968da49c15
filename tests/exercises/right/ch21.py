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
    (
        "ch21.game",
        "p and q through one function",
        """import math


def part(mine, other):
    return -mine * math.log(mine / (mine + other)) if mine else 0.0


def best_loss(real, made):
    return sum(part(p, q) + part(q, p) for p, q in zip(real, made))""",
    ),
    (
        "ch21.game",
        "entropies of the mixture",
        """import math


def negative(x):
    return x * math.log(x) if x > 0 else 0.0


def best_loss(real, made):
    return sum(negative(p + q) - negative(p) - negative(q) for p, q in zip(real, made))""",
    ),
    (
        "ch21.fault",
        "a table of questions",
        """import math


def fault(stale, gradient, before, after):
    checks = {
        "not finite": gradient is not None and any(not math.isfinite(g) for g in gradient),
        "no backward": gradient is None or all(g == 0 for g in gradient),
        "no zero_grad": stale is not None and any(g != 0 for g in stale),
        "no step": list(before) == list(after),
    }
    return next((name for name, holds in checks.items() if holds), "none")""",
    ),
    (
        "ch21.slopes",
        "tanh in place of exp",
        (
            (
                """    on_real = 1 / (1 + np.exp(-(w * real + c))) - 1
    on_fake = 1 / (1 + np.exp(-(w * fake + c)))
""",
                """    on_real = 0.5 * np.tanh(0.5 * (w * real + c)) - 0.5
    on_fake = 0.5 + 0.5 * np.tanh(0.5 * (w * fake + c))
""",
            ),
        ),
    ),
    (
        "ch21.slopes",
        "sums divided by the count",
        (
            (
                """    back = (on_fake - 1) * w
    return np.array([by_w, by_c, (back * z).mean(), back.mean()])""",
                """    back = w * on_fake - w
    count = len(z)
    return np.stack([by_w, by_c, back @ z / count, back.sum() / count])""",
            ),
        ),
    ),
    (
        "ch21.modes",
        "distances squared, in one table",
        """def coverage(points, modes, reach, least):
    def near(point, mode):
        return sum((a - b) ** 2 for a, b in zip(point, mode)) < reach**2

    table = [[near(point, mode) for mode in modes] for point in points]
    reached = sum(sum(column) >= least for column in zip(*table))
    return reached, sum(map(any, table)) / len(points)""",
    ),
    (
        "ch21.size",
        "divmod",
        (
            (
                """    even = kernel % stride == 0
    return size, even""",
                "    return size, not kernel % stride",
            ),
        ),
    ),
    (
        "ch21.spread",
        "over the inputs that reach the output",
        """@cuda.jit
def spread(x, w, out, stride):
    o = cuda.grid(1)
    if o < out.size:
        total = 0.0
        first = max(0, (o - w.size + stride) // stride)
        last = min(x.size - 1, o // stride)
        for i in range(first, last + 1):
            total += x[i] * w[o - i * stride]
        out[o] = total""",
    ),
    (
        "ch21.keep",
        "next with a condition",
        (
            (
                """    for moment in moments:
        if moment["score"] >= best - noise:
            return moment["step"]""",
                '    return next(moment["step"] for moment in moments if moment["score"] >= best - noise)',
            ),
        ),
    ),
    (
        "ch21.keep",
        "the first of a list",
        """def keep(moments, noise):
    scores = [moment["score"] for moment in moments]
    good = [at for at, score in enumerate(scores) if score >= max(scores) - noise]
    return moments[good[0]]["step"]""",
    ),
    (
        "ch21.hinge",
        "one condition for both rows",
        (
            (
                """        out[i] = fmaxf(gap, 0.0f);
        out[n + i] = gap > 0.0f ? -side / n : 0.0f;""",
                """        bool inside = gap > 0.0f;
        out[i] = inside ? gap : 0.0f;
        out[i + n] = inside ? -side / (float)n : 0.0f;""",
            ),
        ),
    ),
]
