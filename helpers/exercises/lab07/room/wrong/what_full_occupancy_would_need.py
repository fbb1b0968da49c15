def room(registers, kib, threads, gpu):
    """The most registers a thread, and the most KiB a block, with which as many blocks fit as now."""

    def fitting(r, k):
        return occupancy(r, 1024 * k, threads, gpu).blocks_per_sm

    held = gpu.warps_per_sm // (threads // 32)
    most = max((r for r in range(256) if fitting(r, kib) >= held), default=0)
    return most, max((k for k in range(229) if fitting(registers, k) >= held), default=0)
