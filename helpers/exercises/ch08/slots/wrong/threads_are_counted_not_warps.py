def issued(takes, then, otherwise):
    return sum(then if each else otherwise for each in takes)
