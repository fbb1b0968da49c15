def smallest_batch(hidden, itemsize, wanted):
    def intensity(batch):
        return 8 * batch * hidden**2 / (itemsize * (4 * hidden**2 + 5 * batch * hidden))

    return next((batch for batch in range(1, 5001) if intensity(batch) >= wanted), 0)
