def whole_gradient(gradients, sizes):
    weights = [1 / size if size else 0 for size in sizes]
    return sum(weight * gradient for weight, gradient in zip(weights, gradients)) / sum(weights)
