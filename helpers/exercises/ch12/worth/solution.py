def best_first(table, factors):
    rows = []
    for line in table.splitlines()[2:]:
        share, total, instances, category, name = line.split(maxsplit=4)
        rows.append((name, int(total.replace(",", "")), int(instances)))
    whole = sum(total for row, total, instances in rows)
    name, most = None, 0
    for row, total, instances in rows:
        saved = total - total / factors[row]
        if saved > most:
            name, most = row, saved
    return name, round(whole / (whole - most), 2)
