def efficiency(seconds, nbytes, ranks, latency, bandwidth, strong):
    ring = 2 * (ranks - 1) * (latency + nbytes / ranks / bandwidth)
    computing = seconds
    if strong:
        computing = seconds / ranks
    return computing / (computing + ring)
