def utilisation(kernels, period):
    begin, end = period
    merged = []
    for start, stop in sorted((max(a, begin), min(b, end)) for a, b in kernels):
        if start >= stop:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], stop)
        else:
            merged.append([start, stop])
    return round(100 * sum(stop - start for start, stop in merged) / (end - begin))
