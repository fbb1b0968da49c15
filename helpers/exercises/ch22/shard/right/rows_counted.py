def shard(rows, ranks, rank):
    length = -(-rows // ranks)
    mine = [row for row in range(rank * length, (rank + 1) * length) if row < rows]
    first = mine[0] if mine else rows
    return first, first + len(mine), length - len(mine)
