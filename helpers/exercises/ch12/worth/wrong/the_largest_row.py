def worth_mending(rows, factors):
    name, total, instances = max(rows, key=lambda row: row[1])
    return name, factors[name]
