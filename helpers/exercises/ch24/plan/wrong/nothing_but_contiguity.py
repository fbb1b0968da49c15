def plan(x):
    if x.is_contiguous():
        return "packs"
    return "copy"
