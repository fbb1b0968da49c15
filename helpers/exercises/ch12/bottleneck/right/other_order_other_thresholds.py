def bottleneck(p):
    if p["waves"] < 0.25:
        return "launch too small"
    conflicts = p["shared_load_conflicts"] + p["shared_store_conflicts"]
    if conflicts > 100 and conflicts / max(1, p["shared_load_wavefronts"] + p["shared_store_wavefronts"]) > 0.3:
        return "bank conflicts"
    if p["lanes_per_instruction"] < 28:
        return "divergence"
    if p["load_efficiency"] < 50:
        return "uncoalesced access"
    return "none"
