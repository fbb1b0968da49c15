def effective(n, seconds, peak):
    rate = 3 * 4 * n / seconds
    return round(rate / 1e9, 1), round(100 * rate / peak, 1)
