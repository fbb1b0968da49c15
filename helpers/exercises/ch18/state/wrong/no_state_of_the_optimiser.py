def state_bytes(parameters, optimiser, mixed):
    return 8 * parameters
