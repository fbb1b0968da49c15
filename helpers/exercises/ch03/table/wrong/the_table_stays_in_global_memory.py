@cuda.jit
def look_up(which, table, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[which[i]]
