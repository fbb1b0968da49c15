def choose(registers, floats, n, gpu):
    t, b = sorted(((-occupancy(registers, 4*floats*t, t, gpu).warps_per_sm, t) for t in range(32, 1025, 32)))[0][1], 0
    b = occupancy(registers, t * floats * np.dtype("float32").itemsize, t, gpu).blocks_per_sm * gpu.sms
    return t, int(min(b, np.ceil(n / t)))
