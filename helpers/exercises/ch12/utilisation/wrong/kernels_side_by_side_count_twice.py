def utilisation(kernels, period):
    begin, end = period
    busy = sum(stop - start for start, stop in kernels)
    return round(100 * busy / (end - begin))
