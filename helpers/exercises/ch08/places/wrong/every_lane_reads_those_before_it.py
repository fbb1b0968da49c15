@cuda.jit
def places(x, place):
    i = cuda.grid(1)
    if i < x.size:
        count = 0
        for k in range(i // 32 * 32, i):
            if x[k] > 0:
                count += 1
        place[i] = count if x[i] > 0 else -1
