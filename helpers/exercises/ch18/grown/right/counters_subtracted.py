from collections import Counter


def held(blocks):
    found = Counter()
    for block in blocks:
        if block["state"] == "active_allocated":
            found[block["line"]] += block["size"]
    return found


def grown(before, after):
    return dict(held(after) - held(before))
