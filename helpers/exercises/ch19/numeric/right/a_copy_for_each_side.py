import numpy as np


def numeric_gradient(loss, x, step):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[place] += step
        below[place] -= step
        gradient[place] = (loss(above) - loss(below)) / (2 * step)
    return gradient
