def all_reduce(rank, elements):
    after, before = (rank.number + 1) % rank.size, (rank.number - 1) % rank.size

    def chunk(index):
        index %= rank.size
        length, longer = divmod(elements, rank.size)
        first = index * length + min(index, longer)
        return slice(first, first + length + (index < longer))

    for half, add in enumerate((True, False)):
        for step in range(rank.size - 1):
            sent = rank.number - 1 + half - step
            rank.exchange(to=after, send=chunk(sent), source=before, receive=chunk(sent - 1), add=add)


def asked_to_all_reduce(size, elements):
    return ranks.recorded(all_reduce, size, elements)
