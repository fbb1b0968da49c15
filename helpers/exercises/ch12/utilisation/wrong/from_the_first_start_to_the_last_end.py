def utilisation(kernels, period):
    begin, end = period
    inside = [(max(a, begin), min(b, end)) for a, b in kernels if a < end and b > begin]
    if not inside:
        return 0
    busy = max(b for _, b in inside) - min(a for a, _ in inside)
    return round(100 * busy / (end - begin))
