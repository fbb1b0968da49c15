def bound(load, step, workers):
    seconds = max(load, step)
    return seconds, "loader" if load > step else "step"
