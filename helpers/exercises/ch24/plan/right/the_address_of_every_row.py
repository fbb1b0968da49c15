def plan(x):
    if x.numel() == 0:
        return "skip"
    if x.stride()[1] != 1:
        return "copy"
    starts = [row.data_ptr() for row in x]
    if x[0].nbytes % 16 or any(start % 16 for start in starts):
        return "single"
    return "packs"
