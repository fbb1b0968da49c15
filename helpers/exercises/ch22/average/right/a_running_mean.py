import numpy as np

@cuda.jit
def whole_gradient(gradients, sizes, out):
    i = cuda.grid(1)
    if i < gradients.shape[1]:
        mean, samples = np.float32(0), np.float32(0)
        for rank in range(gradients.shape[0]):
            samples += sizes[rank]
            if sizes[rank] > 0:
                mean += (gradients[rank, i] - mean) * (sizes[rank] / samples)
        out[i] = mean
