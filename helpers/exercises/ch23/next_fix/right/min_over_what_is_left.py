def next_fix(step, suspects):
    left = {name: step - part * (1 - 1 / factor) for name, (part, factor) in suspects.items()}
    best = min(left, key=left.get, default=None)
    if best is None or left[best] >= step:
        return None, step
    return best, left[best]
