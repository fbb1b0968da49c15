def reduce_scatter(rank, elements):
    length = elements // rank.size
    mine = part(rank.number, length)
    for away in range(1, rank.size):
        to, source = (rank.number + away) % rank.size, (rank.number - away) % rank.size
        rank.exchange(to=to, send=part(to, length), source=source, receive=mine, add=True)


def asked_to_scatter(size, elements):
    return ranks.recorded(reduce_scatter, size, elements)
