def kernels(kinds):
    return len(kinds)
