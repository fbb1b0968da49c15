def reads(rows, old, new, rank):
    length = -(-rows // new)
    first, last = rank * length, (rank + 1) * length
    return [(first * old // rows, first, last)]
