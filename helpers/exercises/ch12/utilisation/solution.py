def utilisation(kernels, period):
    begin, end = period
    busy, until = 0, begin
    for start, stop in sorted(kernels):
        start, stop = max(start, until), min(stop, end)
        if stop > start:
            busy += stop - start
            until = stop
    return round(100 * busy / (end - begin))
