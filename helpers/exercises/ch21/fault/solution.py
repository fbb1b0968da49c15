def fault(stale, gradient, before, after):
    if gradient is not None and not all(abs(g) < float("inf") for g in gradient):
        return "not finite"
    if gradient is None or not any(gradient):
        return "no backward"
    if stale is not None and any(stale):
        return "no zero_grad"
    if before == after:
        return "no step"
    return "none"
