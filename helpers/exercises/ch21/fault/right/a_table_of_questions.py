import math


def fault(stale, gradient, before, after):
    checks = {
        "not finite": gradient is not None and any(not math.isfinite(g) for g in gradient),
        "no backward": gradient is None or all(g == 0 for g in gradient),
        "no zero_grad": stale is not None and any(g != 0 for g in stale),
        "no step": list(before) == list(after),
    }
    return next((name for name, holds in checks.items() if holds), "none")
