import numpy as np

def take_in(m, l, o, query, key, value, rows, keys, window):
    s = query @ key.T / np.sqrt(query.shape[1])
    seen = (keys[None, :] <= rows[:, None]) & (keys[None, :] > rows[:, None] - window)
    s = np.where(seen, s, -np.inf)
    largest = np.maximum(m, s.max(axis=1))
    base = np.where(np.isneginf(largest), 0, largest)
    shrink = np.exp(m - base)
    p = np.exp(s - base[:, None])
    l = l * shrink + p.sum(axis=1)
    o = o * shrink[:, None] + p @ value
    return largest, l, o
