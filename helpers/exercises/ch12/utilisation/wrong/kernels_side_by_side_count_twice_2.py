def utilisation(kernels, period):
    begin, end = period
    busy = sum(max(0, min(stop, end) - max(start, begin)) for start, stop in kernels)
    return round(100 * busy / (end - begin))
