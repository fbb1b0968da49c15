def training_step(sizes, batch):
    products = [2 * batch * inputs * outputs for inputs, outputs in zip(sizes, sizes[1:])]
    return 3 * sum(products) - products[0]
