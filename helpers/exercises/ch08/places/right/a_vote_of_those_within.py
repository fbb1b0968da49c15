@cuda.jit
def places(x, place):
    i = cuda.grid(1)
    if i < x.size:
        mine = x[i] > 0
        bits = cuda.ballot_sync(cuda.activemask(), mine)
        place[i] = cuda.popc(bits & ((1 << cuda.laneid) - 1)) if mine else -1
