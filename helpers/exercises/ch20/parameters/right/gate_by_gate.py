def parameters(inputs, hidden, layers, directions):
    total = 0
    for layer in range(layers):
        width = inputs if layer == 0 else directions * hidden
        matrices = hidden * width + hidden * hidden
        total += 4 * directions * (matrices + 2 * hidden)
    return total
