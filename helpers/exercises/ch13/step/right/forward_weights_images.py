def training_step(sizes, batch):
    flop = 0
    for at, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        flop += 2 * batch * inputs * outputs * (2 if at == 0 else 3)
    return flop
