def whole_gradient(gradients, sizes):
    return sum(gradients) / sum(size > 0 for size in sizes)
