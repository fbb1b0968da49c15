import numpy as np
def lanes_at_work(lengths):
    rows = -(-len(lengths) // 32)
    padded = np.zeros(32 * rows)
    padded[: len(lengths)] = lengths
    return padded.sum() / padded.reshape(rows, 32).max(axis=1).sum()
