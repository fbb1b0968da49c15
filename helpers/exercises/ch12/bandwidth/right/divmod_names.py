def effective(n, seconds, peak):
    rate = 12 * n / seconds
    share = rate / peak
    result = round(rate * 1e-9, 1), round(share * 100, 1)
    return result
