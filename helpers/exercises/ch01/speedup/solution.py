def speedup(share, factor, copies):
    stays, shrinks = 1 - share, share / factor
    return 1 / (stays + shrinks + copies)
