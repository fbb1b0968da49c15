def best_first(rows, factors):
    whole = sum(total for row, total, instances in rows)
    name, total, _ = max(rows, key=lambda row: factors[row[0]])
    saved = total - total / factors[name]
    return name, round(whole / (whole - saved), 2)
