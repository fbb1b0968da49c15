import numpy as np
def effective(n, seconds, peak):
    gb = n * 3 * np.dtype("float32").itemsize / seconds
    return np.round(gb / 1e9, 1), np.round(gb / peak * 100, 1)
