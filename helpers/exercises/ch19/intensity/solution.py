def intensity(image, weight, stride, padding, itemsize):
    images, channels, height, width = image
    filters, depth, size, _ = weight
    down = (height + 2 * padding - size) // stride + 1
    across = (width + 2 * padding - size) // stride + 1
    outputs = images * filters * down * across
    flop = 2 * outputs * depth * size * size
    moved = images * channels * height * width + filters * depth * size * size + outputs
    return flop / (itemsize * moved)
