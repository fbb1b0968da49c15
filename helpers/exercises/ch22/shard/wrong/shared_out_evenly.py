def shard(rows, ranks, rank):
    length = (rows + ranks - 1) // ranks
    first = rank * (rows // ranks) + min(rank, rows % ranks)
    last = first + rows // ranks + (rank < rows % ranks)
    return first, last, length - (last - first)
