def room(registers, kib, threads, gpu):
    base = occupancy(registers, kib * 1024, threads, gpu).blocks_per_sm
    if base == 0:
        return (0, 0)
    r = registers
    while r < 255 and occupancy(r + 1, kib * 1024, threads, gpu).blocks_per_sm >= base:
        r += 1
    s = kib
    while s < 228 and occupancy(registers, (s + 1) * 1024, threads, gpu).blocks_per_sm >= base:
        s += 1
    return r, s
