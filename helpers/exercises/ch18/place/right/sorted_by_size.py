def place(free, nbytes):
    size = (nbytes + 511) // 512 * 512
    fits = sorted((block, i) for i, block in enumerate(free) if block >= size)
    if not fits:
        return None
    best = fits[0][1]
    left = free[best] - size
    if left == 0:
        return free[:best] + free[best + 1:]
    return free[:best] + [left] + free[best + 1:]
