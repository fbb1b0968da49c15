def speedup(share, factor, copies, old=100.0):
    new = (1-share)*old + share*old/factor + copies*old
    return old/new
