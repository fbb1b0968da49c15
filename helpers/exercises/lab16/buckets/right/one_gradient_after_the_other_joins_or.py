def buckets(nbytes, found, start, rate):
    made, free = [], 0.0
    for gradient in sorted(range(len(found)), key=found.__getitem__):
        if made and found[gradient] <= begins:
            made[-1].append(gradient)
            free += nbytes[gradient] / rate
        else:
            begins = max(free, found[gradient])
            made.append([gradient])
            free = begins + start + nbytes[gradient] / rate
    return made
