import numpy as np


def numeric_gradient(loss, x, step):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        before = loss(x)
        x[place] += step
        gradient[place] = (loss(x) - before) / step
    return gradient
