@cuda.jit
def pack(weight, bias, parts):
    i = cuda.grid(1)
    if i < parts.size:
        rows, columns = weight.shape
        ranks = parts.shape[0]
        length = (rows + ranks - 1) // ranks
        rank, at = i // parts.shape[1], i % parts.shape[1]
        in_bias = at >= length * columns
        row = rank * length + (at - length * columns if in_bias else at // columns)
        if row < rows:
            parts[rank, at] = bias[row] if in_bias else weight[row, at % columns]
