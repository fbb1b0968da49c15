@cuda.jit
def scan_round(steps, distance, out):
    i = cuda.grid(1)
    if i < steps.shape[1]:
        a, b = steps[0, i], steps[1, i]
        if i >= distance:
            b += a * steps[1, i - distance]
            a *= steps[0, i - distance]
        out[0, i], out[1, i] = a, b
