def best_first(rows, factors):
    name, total, instances = max(rows, key=lambda row: row[1])
    return name, factors[name]
