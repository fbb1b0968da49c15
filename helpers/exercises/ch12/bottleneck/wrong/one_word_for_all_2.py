def bottleneck(p):
    return "divergence"
