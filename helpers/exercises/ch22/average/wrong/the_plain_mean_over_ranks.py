def whole_gradient(gradients, sizes):
    return sum(gradients) / len(gradients)
