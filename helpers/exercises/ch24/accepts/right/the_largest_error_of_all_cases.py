import numpy as np

def accepts(operator):
    dice = np.random.default_rng(7)
    worst = 0.0
    for columns in (3, 129, 513):
        for scale in (0.0, 2e-2, 1000.0):
            for eps in (1e-5, 1e-3):
                x = (scale * dice.uniform(-1, 1, (5, columns))).astype(np.float32)
                weight = dice.uniform(-2, 2, columns).astype(np.float32)
                given = x.copy()
                got = np.asarray(operator(given, weight, eps), dtype=np.float64)
                if not np.array_equal(given, x) or not np.isfinite(got).all():
                    return False
                wide = x.astype(np.float64)
                exact = wide * weight / np.sqrt(np.einsum("ij,ij->i", wide, wide)[:, None] / columns + eps)
                worst = max(worst, np.abs(got - exact).max() / max(np.abs(exact).max(), 1e-3))
    return bool(worst < 1e-5)
