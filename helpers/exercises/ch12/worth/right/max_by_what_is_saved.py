def best_first(rows, factors):
    whole = sum(total for _, total, _ in rows)
    saved = {name: total * (1 - 1 / factors[name]) for name, total, _ in rows}
    best = max(saved, key=saved.get)
    if saved[best] <= 0:
        return None, 1.0
    return best, round(whole / (whole - saved[best]), 2)
