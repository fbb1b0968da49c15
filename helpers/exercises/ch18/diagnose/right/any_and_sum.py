def diagnose(blocks, left, asked):
    free = sorted((mib for mib, used in blocks if used is False), reverse=True)
    if free and free[0] >= asked:
        return "cached"
    if asked <= left:
        return "driver"
    return "full" if left + sum(free) < asked else "fragmented"
