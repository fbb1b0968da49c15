def state(flops, nbytes, seconds, peak, bandwidth):
    busy = {"memory": nbytes / bandwidth / seconds, "compute": flops / peak / seconds}
    most = max(busy, key=busy.get)
    return most if busy[most] >= 0.5 else "latency"
