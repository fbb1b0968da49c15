def reduce_scatter(rank, elements):
    length = elements // rank.size
    sent = (rank.number + 1) % rank.size
    for step in range(rank.size - 1):
        added = (sent + 1) % rank.size
        rank.exchange(
            to=(rank.number - 1) % rank.size, send=part(sent, length),
            source=(rank.number + 1) % rank.size, receive=part(added, length), add=True,
        )
        sent = added


def asked_to_scatter(size, elements):
    return ranks.recorded(reduce_scatter, size, elements)
