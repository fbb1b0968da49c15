def least_seconds(shape, itemsize, bandwidth):
    seconds = itemsize / bandwidth
    for size in shape:
        seconds *= size
    return seconds
