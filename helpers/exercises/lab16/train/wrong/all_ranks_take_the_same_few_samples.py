def train(rank, samples, batch, fits, epochs):
    """Train with all samples in every epoch, at most `fits` of them at once on a rank."""
    for epoch in range(epochs):
        order = np.random.default_rng(epoch).permutation(samples)
        for first in range(0, samples, batch):
            rank.clear()
            rank.backward(order[first : first + batch][:fits], weight=1.0)
            rank.all_reduce()
            rank.update()


def asked_to_train(size, samples, batch, fits, epochs):
    """What each of so many ranks asks for."""
    return ranks.recorded(train, size, samples, batch, fits, epochs)
