import numpy as np

@cuda.jit
def hash_in_order(text, starts, order, hashes):
    i = cuda.grid(1)
    if i < hashes.size:
        word = order[i]
        value = np.uint32(0)
        for at in range(starts[word], starts[word + 1]):
            value = value * np.uint32(31) + text[at]
        hashes[word] = value
