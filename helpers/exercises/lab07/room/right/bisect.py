def room(registers, kib, threads, gpu):
    import bisect
    f = lambda r, s: -occupancy(r, s << 10, threads, gpu).blocks_per_sm
    h = f(registers, kib)
    if not h:
        return 0, 0
    r = bisect.bisect_right(range(0, 256), h, lo=max(1, registers), key=lambda r: f(r, kib)) - 1
    s = bisect.bisect_right(range(0, 229), h, lo=kib, key=lambda s: f(registers, s)) - 1
    return r, s
