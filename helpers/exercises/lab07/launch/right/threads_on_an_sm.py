def choose(registers, floats, n, gpu):
    best, most = None, -1
    for t in range(32, 1025, 32):
        o = occupancy(registers, 4 * floats * t, t, gpu)
        if o.blocks_per_sm * t > most:
            most, best, blocks = o.blocks_per_sm * t, t, o.blocks_per_sm
    return best, min(-(-n // best), blocks * gpu.sms)
