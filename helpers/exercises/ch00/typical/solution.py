def typical(times, warmup):
    counted = sorted(times[warmup:])
    middle = len(counted) // 2
    return (counted[middle] + counted[-middle - 1]) / 2
