def lowest_roof(flops, peaks, nbytes, bandwidth):
    pairs = [(nbytes / bandwidth, "memory")]
    pairs += [(done / peaks[unit], unit) for unit, done in flops.items()]
    return sorted(pairs)[-1][1]
