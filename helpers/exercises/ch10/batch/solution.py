def smallest_batch(inputs, outputs, itemsize, peak, bandwidth):
    ridge = peak / bandwidth
    for batch in range(1, 100_001):
        flops = 2 * batch * inputs * outputs
        nbytes = itemsize * (batch * inputs + inputs * outputs + batch * outputs)
        if flops / nbytes >= ridge:
            return batch
    return 0
