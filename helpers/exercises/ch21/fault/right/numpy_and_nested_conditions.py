import numpy as np
def fault(stale, gradient, before, after):
    numbers = np.array(gradient if gradient is not None else [0.0])
    if not np.isfinite(numbers).all():
        return "not finite"
    if np.abs(numbers).max() == 0:
        return "no backward"
    if stale is not None and np.abs(np.array(stale)).max() > 0:
        return "no zero_grad"
    return "none" if list(before) != list(after) else "no step"
