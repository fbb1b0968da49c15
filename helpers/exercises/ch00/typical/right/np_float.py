import numpy as np

def typical(times, warmup=0):
    return float(np.median(np.array(times)[warmup:]))
