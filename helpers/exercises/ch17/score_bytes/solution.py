def score_bytes(layers, batch, heads, length, itemsize):
    return layers * batch * heads * length * length * itemsize
