@cuda.jit
def places(x, place):
    i = cuda.grid(1)
    mine = i < x.size and x[i] > 0
    who = cuda.ballot_sync(0xFFFFFFFF, mine)
    before = who & ((1 << cuda.laneid) - 1)
    if i < x.size:
        place[i] = cuda.popc(before) if mine else -1
