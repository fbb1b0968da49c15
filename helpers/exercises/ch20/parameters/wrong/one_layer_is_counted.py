def parameters(inputs, hidden, layers, directions):
    return 4 * hidden * (inputs + hidden + 2)
