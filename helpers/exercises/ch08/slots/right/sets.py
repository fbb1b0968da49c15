def issued(takes, then, otherwise):
    ways = {(thread // 32, bool(way)) for thread, way in enumerate(takes)}
    return sum(then if way else otherwise for _, way in ways)
