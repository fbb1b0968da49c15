def whole_gradient(gradients, sizes):
    return gradients[0]
