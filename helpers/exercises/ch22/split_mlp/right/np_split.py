import numpy as np


def partial_outputs(x, w1, b1, w2, b2, ranks):
    columns, biases, rows = np.split(w1, ranks, 1), np.split(b1, ranks), np.split(w2, ranks)
    out = np.stack([np.maximum(x @ w + b, 0) @ v for w, b, v in zip(columns, biases, rows)])
    out[0] += b2
    return out
