def bottleneck(p):
    return "uncoalesced access"
