def all_reduce(rank, elements):
    """Sum a tensor of any length over all ranks, on every rank."""
    after, before = (rank.number + 1) % rank.size, (rank.number - 1) % rank.size
    pass


def asked_to_all_reduce(size, elements):
    """What each of so many ranks asks for."""
    return ranks.recorded(all_reduce, size, elements)
