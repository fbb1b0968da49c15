def trials(most, limit):
    tried = []
    good, bad = 0, limit + 1
    batch = 1
    while batch < bad:
        tried.append(batch)
        if batch <= most:
            good = batch
            batch = 2 * batch
        else:
            bad = batch
    while bad - good > 1:
        middle = (good + bad) // 2
        tried.append(middle)
        if middle <= most:
            good = middle
        else:
            bad = middle
    return tried
