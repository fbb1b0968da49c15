def next_fix(step, suspects):
    best, least = None, step
    for name, (part, factor) in suspects.items():
        left = step - part + part / factor
        if left < least:
            best, least = name, left
    return best, least
