def room(registers, kib, threads, gpu):
    held = occupancy(registers, 1024 * kib, threads, gpu).warps_per_sm
    if held == 0:
        return 0, 0
    most = max(r for r in range(1, 256) if occupancy(r, 1024 * kib, threads, gpu).warps_per_sm == held)
    return most, max(k for k in range(229) if occupancy(registers, 1024 * k, threads, gpu).warps_per_sm == held)
