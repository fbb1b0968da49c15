def held_by_line(blocks):
    held = {}
    for block in blocks:
        if block["state"] == "active_allocated":
            held[block["line"]] = held.get(block["line"], 0) + block["size"]
    return held


def grown(before, after):
    old = held_by_line(before)
    found = {}
    for line, nbytes in held_by_line(after).items():
        more = nbytes - old.get(line, 0)
        if more > 0:
            found[line] = more
    return found
