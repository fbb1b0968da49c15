"""Right answers to lab07.launch by routes other than the solution's."""

KEY = "lab07.launch"

ROWS = [
    # which way, the solution cell
    (
        "max with key negative",
        """def choose(registers, floats, n, gpu):
    best = max(range(32, 1025, 32), key=lambda t: (occupancy(registers, 4 * floats * t, t, gpu).warps_per_sm, -t))
    held = occupancy(registers, 4 * floats * best, best, gpu)
    return best, min(held.blocks_per_sm * gpu.sms, (n + best - 1) // best)
""",
    ),
    (
        "sorted",
        """def choose(registers, floats, n, gpu):
    t, b = sorted(((-occupancy(registers, 4*floats*t, t, gpu).warps_per_sm, t) for t in range(32, 1025, 32)))[0][1], 0
    b = occupancy(registers, t * floats * np.dtype("float32").itemsize, t, gpu).blocks_per_sm * gpu.sms
    return t, int(min(b, np.ceil(n / t)))
""",
    ),
    (
        "threads on an SM",
        """def choose(registers, floats, n, gpu):
    best, most = None, -1
    for t in range(32, 1025, 32):
        o = occupancy(registers, 4 * floats * t, t, gpu)
        if o.blocks_per_sm * t > most:
            most, best, blocks = o.blocks_per_sm * t, t, o.blocks_per_sm
    return best, min(-(-n // best), blocks * gpu.sms)
""",
    ),
]
