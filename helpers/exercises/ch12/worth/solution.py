def best_first(rows, factors):
    whole = sum(total for row, total, instances in rows)
    name, most = None, 0
    for row, total, instances in rows:
        saved = total - total / factors[row]
        if saved > most:
            name, most = row, saved
    return name, round(whole / (whole - most), 2)
