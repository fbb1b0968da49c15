import statistics
def typical(times, warmup):
    return statistics.median(times[warmup:])
