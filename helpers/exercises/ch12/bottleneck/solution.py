def bottleneck(p):
    if p["waves"] < 0.5:
        return "launch too small"
    if p["lanes_per_instruction"] < 24:
        return "divergence"
    if p["load_efficiency"] < 75:
        return "uncoalesced access"
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]:
        return "bank conflicts"
    return "none"
