"""Right answers to lab07.room by routes other than the solution's."""

KEY = "lab07.room"

ROWS = [
    # which way, the solution cell
    (
        "while loops",
        """def room(registers, kib, threads, gpu):
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
""",
    ),
    (
        "bisect",
        """def room(registers, kib, threads, gpu):
    import bisect
    f = lambda r, s: -occupancy(r, s << 10, threads, gpu).blocks_per_sm
    h = f(registers, kib)
    if not h:
        return 0, 0
    r = bisect.bisect_right(range(0, 256), h, lo=max(1, registers), key=lambda r: f(r, kib)) - 1
    s = bisect.bisect_right(range(0, 229), h, lo=kib, key=lambda s: f(registers, s)) - 1
    return r, s
""",
    ),
    (
        "numpy ints",
        """def room(registers, kib, threads, gpu):
    held = occupancy(registers, 1024 * kib, threads, gpu).blocks_per_sm
    if held == 0:
        return 0, 0
    rs = np.array([r for r in range(registers, 256) if occupancy(r, 1024 * kib, threads, gpu).blocks_per_sm == held])
    ks = np.array([k for k in range(kib, 229) if occupancy(registers, 1024 * k, threads, gpu).blocks_per_sm == held])
    return rs.max(), ks.max()
""",
    ),
    (
        "warps_per_sm compare",
        """def room(registers, kib, threads, gpu):
    held = occupancy(registers, 1024 * kib, threads, gpu).warps_per_sm
    if held == 0:
        return 0, 0
    most = max(r for r in range(1, 256) if occupancy(r, 1024 * kib, threads, gpu).warps_per_sm == held)
    return most, max(k for k in range(229) if occupancy(registers, 1024 * k, threads, gpu).warps_per_sm == held)
""",
    ),
]
