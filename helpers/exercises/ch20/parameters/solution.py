def parameters(inputs, hidden, layers, directions):
    total = 0
    width = inputs
    for _ in range(layers):
        total += directions * 4 * hidden * (width + hidden + 2)
        width = hidden * directions
    return total
