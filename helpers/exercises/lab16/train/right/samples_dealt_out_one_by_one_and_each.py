def train(rank, samples, batch, fits, epochs):
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


def asked_to_train(size, samples, batch, fits, epochs):
    return ranks.recorded(train, size, samples, batch, fits, epochs)
