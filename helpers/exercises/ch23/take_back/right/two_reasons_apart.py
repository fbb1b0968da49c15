def take_back(log, tolerance):
    _, best, loss = log[0]
    names = []
    for name, seconds, other in log[1:]:
        if abs(other - loss) > abs(tolerance * loss):
            names.append(name)
            continue
        if seconds < best:
            best = seconds
        else:
            names.append(name)
    return names
