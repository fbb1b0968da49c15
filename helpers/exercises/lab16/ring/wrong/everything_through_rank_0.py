def all_reduce(rank, elements):
    """Sum a tensor of any length over all ranks, on every rank."""
    after, before = (rank.number + 1) % rank.size, (rank.number - 1) % rank.size
    whole = slice(0, elements)
    if rank.number > 0:
        rank.send(0, whole)
        rank.receive(0, whole)
        return
    for other in range(1, rank.size):
        rank.receive(other, whole, add=True)
    for other in range(1, rank.size):
        rank.send(other, whole)


def asked_to_all_reduce(size, elements):
    """What each of so many ranks asks for."""
    return ranks.recorded(all_reduce, size, elements)
