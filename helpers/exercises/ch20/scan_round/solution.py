@cuda.jit
def scan_round(steps, distance, out):
    i = cuda.grid(1)
    if i < steps.shape[1]:
        if i >= distance:
            out[0, i] = steps[0, i] * steps[0, i - distance]
            out[1, i] = steps[0, i] * steps[1, i - distance] + steps[1, i]
        else:
            out[0, i] = steps[0, i]
            out[1, i] = steps[1, i]
