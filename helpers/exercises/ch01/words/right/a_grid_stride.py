import numpy as np

@cuda.jit
def hash_in_order(text, starts, order, hashes):
    for i in range(cuda.grid(1), order.size, cuda.gridsize(1)):
        word = order[i]
        at, end = starts[word], starts[word + 1]
        value = np.uint32(0)
        while at < end:
            value = np.uint32(31 * value + text[at])
            at += 1
        hashes[word] = value
