from helpers import gpus, occupancy

def smallest_block(registers, floats, names, wanted):
    for threads in range(32, 1025, 32):
        held = [occupancy(registers, 4 * floats * threads, threads, gpus.find(name)) for name in names]
        if all(each.fraction >= wanted for each in held):
            return threads
    return 0
