def take_back(log, tolerance):
    _, best, loss = log[0]
    names = []
    for name, seconds, other in log[1:]:
        if abs(other - loss) > tolerance * abs(loss) or seconds >= best:
            names.append(name)
        else:
            best = seconds
    return names
