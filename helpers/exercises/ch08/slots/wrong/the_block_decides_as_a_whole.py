def issued(takes, then, otherwise):
    return then * any(takes) + otherwise * (not all(takes))
