import numpy as np

def speedup(share, factor, copies):
    return np.reciprocal(np.float64(1 - share + share / factor + copies))
