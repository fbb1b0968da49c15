import math

import numpy as np

def accepts(operator):
    dice = np.random.default_rng(3)
    inputs = []
    for size in (0.0, 1.0, 500.0):
        inputs.append((size * dice.standard_normal((3, 200)), 1e-6))
        inputs.append((size * dice.standard_normal((2, 5)), 0.05))
    for x, eps in inputs:
        x = x.astype(np.float32)
        weight = dice.standard_normal(x.shape[1]).astype(np.float32)
        kept = x.tolist()
        got = operator(x, weight, eps)
        if x.tolist() != kept:
            return False
        for row, values in enumerate(kept):
            root = math.sqrt(math.fsum(value * value for value in values) / len(values) + eps)
            for column, value in enumerate(values):
                if not math.isclose(got[row, column], value / root * float(weight[column]), rel_tol=1e-4, abs_tol=1e-7):
                    return False
    return True
