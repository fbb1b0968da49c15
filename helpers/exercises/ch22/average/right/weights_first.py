@cuda.jit
def whole_gradient(gradients, sizes, out):
    samples = sizes[0]
    for rank in range(1, sizes.size):
        samples += sizes[rank]
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        mean = gradients[0, i] * (sizes[0] / samples)
        for rank in range(1, sizes.size):
            mean += gradients[rank, i] * (sizes[rank] / samples)
        out[i] = mean
