def best_first(table, factors):
    rows = []
    for line in table.splitlines()[2:]:
        share, total, instances, category, name = line.split(maxsplit=4)
        rows.append((name, int(total.replace(",", "")), int(instances)))
    whole = sum(total for _, total, _ in rows)
    saved = {name: total * (1 - 1 / factors[name]) for name, total, _ in rows}
    best = max(saved, key=saved.get)
    if saved[best] <= 0:
        return None, 1.0
    return best, round(whole / (whole - saved[best]), 2)
