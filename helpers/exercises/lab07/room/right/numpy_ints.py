def room(registers, kib, threads, gpu):
    held = occupancy(registers, 1024 * kib, threads, gpu).blocks_per_sm
    if held == 0:
        return 0, 0
    rs = np.array([r for r in range(registers, 256) if occupancy(r, 1024 * kib, threads, gpu).blocks_per_sm == held])
    ks = np.array([k for k in range(kib, 229) if occupancy(registers, 1024 * k, threads, gpu).blocks_per_sm == held])
    return rs.max(), ks.max()
