def best_first(table, factors):
    rows = []
    for line in table.splitlines()[2:]:
        share, total, instances, category, name = line.split(maxsplit=4)
        rows.append((name, int(total.replace(",", "")), int(instances)))
    whole = sum(total for row, total, instances in rows)
    name, total, _ = max(rows, key=lambda row: factors[row[0]])
    saved = total - total / factors[name]
    return name, round(whole / (whole - saved), 2)
