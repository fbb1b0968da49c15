def best_first(table, factors):
    rows = []
    for line in table.splitlines()[2:]:
        share, total, instances, category, name = line.split(maxsplit=4)
        rows.append((name, int(total.replace(",", "")), int(instances)))
    name, total, instances = max(rows, key=lambda row: row[1])
    return name, factors[name]
