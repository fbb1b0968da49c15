def whole_gradient(gradients, sizes):
    total = sum(size * gradient for size, gradient in zip(sizes, gradients))
    return total / sum(sizes)
