import numpy as np

@cuda.jit(device=True)
def hash_of(letters):
    value = np.uint32(0)
    for letter in letters:
        value = value * np.uint32(31) + letter
    return value

@cuda.jit
def hash_in_order(text, starts, order, hashes):
    i = cuda.grid(1)
    if i < order.size:
        word = order[order.size - 1 - i]
        hashes[word] = hash_of(text[starts[word] : starts[word + 1]])
