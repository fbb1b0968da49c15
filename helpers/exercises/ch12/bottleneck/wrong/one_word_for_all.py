def bottleneck(p):
    return "none"
