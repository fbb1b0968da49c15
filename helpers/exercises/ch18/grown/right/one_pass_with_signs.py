def grown(before, after):
    change = {}
    for sign, blocks in ((-1, before), (1, after)):
        for block in blocks:
            if block["state"] == "active_allocated":
                change[block["line"]] = change.get(block["line"], 0) + sign * block["size"]
    return {line: more for line, more in change.items() if more > 0}
