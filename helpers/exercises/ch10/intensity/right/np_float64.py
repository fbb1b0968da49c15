import numpy as np
def intensity(a, b, itemsize):
    out = list(a[:-1]) + [b[-1]]
    elements = np.float64(np.prod(a) + np.prod(b) + np.prod(out))
    return 2 * np.prod(out) * a[-1] / (itemsize * elements)
