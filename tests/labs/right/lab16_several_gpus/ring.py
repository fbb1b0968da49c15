"""Right answers to lab16.ring by routes other than the solution's."""

KEY = "lab16.ring"

GIVEN = """

def asked_to_all_reduce(size, elements):
    return ranks.recorded(all_reduce, size, elements)
"""

ROWS = [
    # which way, the solution cell
    (
        "longer chunks first, and the sums of task 1",
        """def all_reduce(rank, elements):
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
"""
        + GIVEN,
    ),
    (
        "in pairs: every chunk straight to its rank, and every sum straight back",
        """def all_reduce(rank, elements):
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
"""
        + GIVEN,
    ),
]
