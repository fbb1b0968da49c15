def state_bytes(parameters, optimiser, mixed):
    each = 4 if mixed else 8
    if mixed:
        each += 4
    if optimiser == "momentum":
        each += 4
    elif optimiser == "Adam":
        each += 2 * 4
    return each * parameters
