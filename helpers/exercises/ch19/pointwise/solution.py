import numpy as np


@cuda.jit
def pointwise(image, weight, out):
    pixel, k = cuda.grid(2)
    if k < out.shape[0] and pixel < out.shape[1]:
        total = np.float32(0)
        for c in range(image.shape[0]):
            total += weight[k, c] * image[c, pixel]
        out[k, pixel] = total
