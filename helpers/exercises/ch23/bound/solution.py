def bound(load, step, workers):
    if workers == 0:
        return load + step, "loader" if load > step else "step"
    each = load / workers
    return max(each, step), "loader" if each > step else "step"
