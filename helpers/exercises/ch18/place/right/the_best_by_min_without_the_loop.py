def place(free, nbytes):
    size = -(-nbytes // 512) * 512
    fitting = [at for at, block in enumerate(free) if block >= size]
    if not fitting:
        return None
    at = min(fitting, key=lambda index: free[index])
    found = list(free)
    found[at] -= size
    return found if found[at] else found[:at] + found[at + 1 :]
