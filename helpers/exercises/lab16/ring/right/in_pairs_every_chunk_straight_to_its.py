def all_reduce(rank, elements):
    chunks = [slice(each[0], each[-1] + 1) if len(each) else slice(0, 0)
              for each in np.array_split(np.arange(elements), rank.size)]
    mine = chunks[rank.number]
    for add in (True, False):
        for away in range(1, rank.size):
            to, source = (rank.number + away) % rank.size, (rank.number - away) % rank.size
            if add:
                rank.exchange(to=to, send=chunks[to], source=source, receive=mine, add=True)
            else:
                rank.exchange(to=to, send=mine, source=source, receive=chunks[source])


def asked_to_all_reduce(size, elements):
    return ranks.recorded(all_reduce, size, elements)
