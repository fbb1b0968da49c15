def reduce_scatter(rank, elements):
    """Sum chunk r of a tensor on rank r; rank.size divides the number of elements."""
    length = elements // rank.size
    after, before = (rank.number + 1) % rank.size, (rank.number - 1) % rank.size
    if rank.number > 0:
        rank.send(0, slice(0, elements))
        rank.receive(0, part(rank.number, length))
    for other in range(1, rank.size):
        if rank.number == 0:
            rank.receive(other, slice(0, elements), add=True)
            if other == rank.size - 1:
                for each in range(1, rank.size):
                    rank.send(each, part(each, length))


def asked_to_scatter(size, elements):
    """What each of so many ranks asks for."""
    return ranks.recorded(reduce_scatter, size, elements)
