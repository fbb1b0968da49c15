from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    best = 0
    for threads in range(1024, 0, -32):
        if all(occupancy(registers, 4 * floats * threads, threads, gpus.find(n)).fraction >= wanted for n in names):
            best = threads
    return best
