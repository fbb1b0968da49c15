import numpy as np


def cache_mask(new, cached, filler):
    found = np.zeros((len(filler), 1, new, cached + new), bool)
    for sequence, empty in enumerate(filler):
        for query in range(new):
            found[sequence, 0, query, empty : cached + query + 1] = True
    return found
