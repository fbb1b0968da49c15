import numpy as np

def cache_mask(new, cached, filler):
    query = cached + np.arange(new)
    key = np.arange(cached + new)
    causal = key[None, :] <= query[:, None]
    real = key[None, :] >= np.array(filler)[:, None]
    return causal[None, None] & real[:, None, None]
