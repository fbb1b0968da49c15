def shard(rows, ranks, rank):
    length = (rows + ranks - 1) // ranks
    first = min(rank * length, rows)
    last = min(first + length, rows)
    padding = length - (last - first)
    return first, last, padding
