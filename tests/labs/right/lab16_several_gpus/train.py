"""Right answers to lab16.train by routes other than the solution's."""

KEY = "lab16.train"

GIVEN = """

def asked_to_train(size, samples, batch, fits, epochs):
    return ranks.recorded(train, size, samples, batch, fits, epochs)
"""

ROWS = [
    # which way, the solution cell
    (
        "samples dealt out one by one, and each backward pass has one",
        """def train(rank, samples, batch, fits, epochs):
    rank.broadcast(0)
    for epoch in range(epochs):
        order = np.random.default_rng(epoch).permutation(samples)
        for first in range(0, samples, batch):
            whole = order[first : first + batch]
            for sample in whole[rank.number :: rank.size]:
                rank.backward([sample], weight=rank.size / len(whole))
            rank.all_reduce()
            rank.update()
            rank.clear()
"""
        + GIVEN,
    ),
    (
        "the last ranks have more",
        """def train(rank, samples, batch, fits, epochs):
    for epoch in range(epochs):
        order = list(np.random.default_rng(epoch).permutation(samples))
        while order:
            whole, order = order[:batch], order[batch:]
            first, last = (len(whole) * number // rank.size for number in (rank.number, rank.number + 1))
            if epoch == 0 and not hasattr(rank, "begun"):
                rank.broadcast(0)
                rank.begun = True
            rank.clear()
            while first < last:
                few = whole[first : min(first + fits, last)]
                rank.backward(few, rank.size * len(few) / len(whole))
                first += fits
            rank.all_reduce()
            rank.update()
"""
        + GIVEN,
    ),
]
