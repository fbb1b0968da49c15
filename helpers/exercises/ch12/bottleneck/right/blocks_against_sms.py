import math
def bottleneck(p):
    if math.prod(p.counters.grid) < 108:
        return "launch too small"
    if p["lanes_per_instruction"] < 20:
        return "divergence"
    if 32 * p["global_load_sectors"] > 1.5 * p["global_load_bytes"]:
        return "uncoalesced access"
    if p["shared_load_conflicts"]:
        return "bank conflicts"
    return "none"
