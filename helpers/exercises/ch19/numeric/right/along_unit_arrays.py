import numpy as np


def numeric_gradient(loss, x, step):
    slots = []
    for i in range(x.size):
        move = np.zeros(x.size)
        move[i] = step
        move = move.reshape(x.shape)
        slots.append((loss(x + move) - loss(x - move)) / (2 * step))
    return np.array(slots).reshape(x.shape)
