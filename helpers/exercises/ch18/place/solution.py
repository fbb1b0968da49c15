def place(free, nbytes):
    size = (nbytes + 511) // 512 * 512
    best = None
    for i, block in enumerate(free):
        if block >= size and (best is None or block < free[best]):
            best = i
    if best is None:
        return None
    left = free[best] - size
    if left == 0:
        return free[:best] + free[best + 1:]
    return free[:best] + [left] + free[best + 1:]
