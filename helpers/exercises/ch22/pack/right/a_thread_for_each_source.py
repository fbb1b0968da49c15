@cuda.jit
def pack(weight, bias, parts):
    i = cuda.grid(1)
    rows, columns = weight.shape
    ranks = parts.shape[0]
    length = -(-rows // ranks)
    if i < ranks * length * (columns + 1):
        row, column = i // (columns + 1), i % (columns + 1)
        rank, line = row // length, row % length
        at = line * columns + column
        if column == columns:
            at = length * columns + line
        if row < rows:
            parts[rank, at] = bias[row] if column == columns else weight[row, column]
        else:
            parts[rank, at] = 0
