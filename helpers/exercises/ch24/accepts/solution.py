import numpy as np

def accepts(operator):
    dice = np.random.default_rng(0)
    for rows, columns in ((1, 1), (3, 7), (2, 131), (4, 300)):
        for size in (0.0, 1e-3, 1.0, 300.0):
            for eps in (1e-6, 1e-2):
                x = (size * dice.standard_normal((rows, columns))).astype(np.float32)
                weight = dice.standard_normal(columns).astype(np.float32)
                mean = (x.astype(np.float64) ** 2).mean(axis=1, keepdims=True)
                exact = x / np.sqrt(mean + eps) * weight
                before = x.copy()
                got = operator(x, weight, eps)
                if not np.allclose(got, exact, rtol=1e-4, atol=1e-6) or (x != before).any():
                    return False
    return True
