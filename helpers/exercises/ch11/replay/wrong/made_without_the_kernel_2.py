def replay(x, halve, times):
    x[...] = (x - 2) / 2 ** (10 * times) + 2
