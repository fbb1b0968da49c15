def lowest_roof(flops, peaks, nbytes, bandwidth):
    times = {"memory": nbytes / bandwidth}
    for unit in flops:
        times[unit] = flops[unit] / peaks[unit]
    return max(times, key=times.get)
