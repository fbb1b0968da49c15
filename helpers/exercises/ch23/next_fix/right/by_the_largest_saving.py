def next_fix(step, suspects):
    name, most = None, 0
    for suspect, (part, factor) in suspects.items():
        if part - part / factor > most:
            name, most = suspect, part - part / factor
    return name, step - most
