def trials(most, limit):
    tried = []

    def fits(batch):
        tried.append(batch)
        return batch <= most

    batch = 1
    while batch <= limit and fits(batch):
        batch *= 2
    low, high = batch // 2, min(batch, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return tried
