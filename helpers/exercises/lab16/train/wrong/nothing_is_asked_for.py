def train(rank, samples, batch, fits, epochs):
    """Train with all samples in every epoch, at most `fits` of them at once on a rank."""
    pass


def asked_to_train(size, samples, batch, fits, epochs):
    """What each of so many ranks asks for."""
    return ranks.recorded(train, size, samples, batch, fits, epochs)
