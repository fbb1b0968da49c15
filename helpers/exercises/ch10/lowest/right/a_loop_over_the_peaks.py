def lowest_roof(flops, peaks, nbytes, bandwidth):
    name, longest = "memory", nbytes / bandwidth
    for unit, peak in peaks.items():
        if flops.get(unit, 0) / peak > longest:
            name, longest = unit, flops[unit] / peak
    return name
