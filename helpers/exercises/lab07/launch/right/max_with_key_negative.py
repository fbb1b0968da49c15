def choose(registers, floats, n, gpu):
    best = max(range(32, 1025, 32), key=lambda t: (occupancy(registers, 4 * floats * t, t, gpu).warps_per_sm, -t))
    held = occupancy(registers, 4 * floats * best, best, gpu)
    return best, min(held.blocks_per_sm * gpu.sms, (n + best - 1) // best)
