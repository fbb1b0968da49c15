def smallest_batch(inputs, outputs, itemsize, peak, bandwidth):
    batch = 1
    while batch <= 100000:
        seconds = itemsize * (inputs * outputs + batch * (inputs + outputs)) / bandwidth
        if 2 * batch * inputs * outputs / peak >= seconds:
            return batch
        batch += 1
    return 0
