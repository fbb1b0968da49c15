def state(flops, nbytes, seconds, peak, bandwidth):
    moving = nbytes / bandwidth
    calculating = flops / peak
    if max(moving, calculating) < seconds / 2:
        return "latency"
    return "memory" if moving > calculating else "compute"
