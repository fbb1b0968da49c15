def train(rank, samples, batch, fits, epochs):
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


def asked_to_train(size, samples, batch, fits, epochs):
    return ranks.recorded(train, size, samples, batch, fits, epochs)
