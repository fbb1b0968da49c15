from helpers import gpus, occupancy
def elements(wanted, registers, threads, itemsize, name):
    warps = occupancy(registers, 0, threads, gpus.find(name)).warps_per_sm
    count = 1
    while count * warps * 32 * itemsize < wanted:
        count += 1
    return count
