@cuda.jit
def pack(weight, bias, parts):
    rows, columns = weight.shape
    ranks, width = parts.shape
    length = width // (columns + 1)
    for i in range(cuda.grid(1), ranks * width, cuda.gridsize(1)):
        rank = i // width
        at = i - rank * width
        first = rank * length
        kept = max(0, min(length, rows - first))
        value = weight[0, 0] * 0
        if at < kept * columns:
            value = weight[first + at // columns, at % columns]
        if length * columns <= at < length * columns + kept:
            value = bias[first + at - length * columns]
        parts[rank, at] = value
