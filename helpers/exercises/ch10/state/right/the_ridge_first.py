def state(flops, nbytes, seconds, peak, bandwidth):
    if flops / nbytes < peak / bandwidth:
        near, word = nbytes / bandwidth, "memory"
    else:
        near, word = flops / peak, "compute"
    return "latency" if 2 * near < seconds else word
