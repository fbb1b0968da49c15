import numpy as np

def typical(times, warmup):
    return np.percentile(times[warmup:], 50)
