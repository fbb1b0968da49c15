@cuda.jit
def roles(x, out, rounds):
    i = cuda.grid(1)
    if i >= x.size:
        return
    a = x[i]
    slow = a
    for _ in range(3 * rounds):
        slow = np.float32(0.75) * slow + np.float32(1)
    out[0, i] = slow
    fast = a
    for _ in range(rounds):
        fast = np.float32(0.5) * fast - a
    out[1, i] = fast
