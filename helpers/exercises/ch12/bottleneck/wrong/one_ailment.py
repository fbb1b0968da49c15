def bottleneck(p):
    r = []
    if p["waves"] < 0.5: r.append("launch too small")
    if p["lanes_per_instruction"] < 24: r.append("divergence")
    if p["load_efficiency"] < 75: r.append("uncoalesced access")
    if p["shared_load_conflicts"] > 0.1 * p["shared_load_wavefronts"]: r.append("bank conflicts")
    return r or "none"
