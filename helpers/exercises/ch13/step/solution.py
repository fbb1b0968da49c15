def training_step(sizes, batch):
    total = 0
    for layer in range(len(sizes) - 1):
        product = 2 * batch * sizes[layer] * sizes[layer + 1]
        total += product
        total += product
        if layer > 0:
            total += product
    return total
