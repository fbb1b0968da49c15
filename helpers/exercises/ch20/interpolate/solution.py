def interpolate(seen, letter, shorter):
    total = sum(seen.values())
    kinds = len(seen)
    if total == 0:
        return shorter
    return (seen.get(letter, 0) + kinds * shorter) / (total + kinds)
