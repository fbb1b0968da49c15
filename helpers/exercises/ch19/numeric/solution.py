import numpy as np


def numeric_gradient(loss, x, step):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        old = x[place]
        x[place] = old + step
        above = loss(x)
        x[place] = old - step
        below = loss(x)
        x[place] = old
        gradient[place] = (above - below) / (2 * step)
    return gradient
