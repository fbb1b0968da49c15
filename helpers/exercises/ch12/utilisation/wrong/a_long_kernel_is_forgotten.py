def utilisation(kernels, period):
    begin, end = period
    busy, until = 0, begin
    for start, stop in sorted(kernels):
        busy += max(0, min(stop, end) - max(start, until))
        until = stop
    return round(100 * busy / (end - begin))
