"""Right answers to lab16.scatter by routes other than the solution's."""

KEY = "lab16.scatter"

GIVEN = """

def asked_to_scatter(size, elements):
    return ranks.recorded(reduce_scatter, size, elements)
"""

ROWS = [
    # which way, the solution cell
    (
        "straight to whom a chunk belongs, another one at each step",
        """def reduce_scatter(rank, elements):
    length = elements // rank.size
    mine = part(rank.number, length)
    for away in range(1, rank.size):
        to, source = (rank.number + away) % rank.size, (rank.number - away) % rank.size
        rank.exchange(to=to, send=part(to, length), source=source, receive=mine, add=True)
"""
        + GIVEN,
    ),
    (
        "the ring runs the other way",
        """def reduce_scatter(rank, elements):
    length = elements // rank.size
    sent = (rank.number + 1) % rank.size
    for step in range(rank.size - 1):
        added = (sent + 1) % rank.size
        rank.exchange(
            to=(rank.number - 1) % rank.size, send=part(sent, length),
            source=(rank.number + 1) % rank.size, receive=part(added, length), add=True,
        )
        sent = added
"""
        + GIVEN,
    ),
]
