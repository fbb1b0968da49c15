def state_bytes(parameters, optimiser, mixed):
    weight_and_gradient = 2 + 2 if mixed else 4 + 4
    master = 4 if mixed else 0
    extra = {"SGD": 0, "momentum": 4, "Adam": 8}[optimiser]
    return parameters * (weight_and_gradient + master + extra)
