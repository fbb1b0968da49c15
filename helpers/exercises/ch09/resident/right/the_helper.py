from helpers import gpus, occupancy
def resident(registers, shared_bytes, threads, name):
    return occupancy(registers, shared_bytes, threads, gpus.find(name)).blocks_per_sm
