@cuda.jit
def places(x, place):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    lane = cuda.threadIdx.x % 32
    kept = False
    if i < place.size:
        kept = x[i] > 0
    bits = cuda.ballot_sync(0xFFFFFFFF, kept)
    if i >= place.size:
        return
    place[i] = -1
    if kept:
        place[i] = cuda.popc(bits & ~(0xFFFFFFFF << lane) & 0xFFFFFFFF)
