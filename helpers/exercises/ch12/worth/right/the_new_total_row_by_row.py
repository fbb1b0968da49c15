def best_first(table, factors):
    rows = []
    for line in table.splitlines()[2:]:
        share, total, instances, category, name = line.split(maxsplit=4)
        rows.append((name, int(total.replace(",", "")), int(instances)))
    whole = sum(row[1] for row in rows)
    best = (None, whole)
    for name, total, _ in rows:
        after = whole - total + total / factors[name]
        if after < best[1]:
            best = (name, after)
    return best[0], round(whole / best[1], 2)
