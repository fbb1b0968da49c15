def diagnose(blocks, left, asked):
    free = [mib for mib, used in blocks if not used]
    for mib in free:
        if mib >= asked:
            return "cached"
    if left >= asked:
        return "driver"
    if sum(free) + left >= asked:
        return "fragmented"
    return "full"
