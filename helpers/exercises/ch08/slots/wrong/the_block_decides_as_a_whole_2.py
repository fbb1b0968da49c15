def issued(takes, then, otherwise):
    warps = (len(takes) + 31) // 32
    return warps * (then * any(takes) + otherwise * (not all(takes)))
