def bottleneck(p):
    return "none" if p["sectors_per_load_request"] <= 4 else "uncoalesced access"
