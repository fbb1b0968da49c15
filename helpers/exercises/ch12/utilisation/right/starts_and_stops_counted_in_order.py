def utilisation(kernels, period):
    begin, end = period
    marks = []
    for start, stop in kernels:
        start, stop = max(start, begin), min(stop, end)
        if start < stop:
            marks += [(start, 1), (stop, -1)]
    busy = running = 0
    last = begin
    for time, change in sorted(marks):
        if running:
            busy += time - last
        running += change
        last = time
    return round(100 * busy / (end - begin))
