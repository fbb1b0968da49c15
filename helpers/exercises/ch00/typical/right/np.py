import numpy as np

def typical(times, warmup):
    return np.median(times[warmup:])
