import numpy as np


@cuda.jit
def bias_gradient(grad_output, out):
    k, lane = cuda.blockIdx.x, cuda.threadIdx.x
    images, filters, pixels = grad_output.shape
    total = np.float32(0)
    for i in range(lane, images * pixels, 32):
        total += grad_output[i // pixels, k, i % pixels]
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
    if lane == 0:
        out[k] = total
