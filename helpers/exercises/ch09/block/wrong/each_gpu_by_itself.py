from helpers import gpus, occupancy

def smallest_block(registers, floats, names, wanted):
    def smallest(gpu):
        sizes = range(32, 1025, 32)
        return next((t for t in sizes if occupancy(registers, 4 * floats * t, t, gpu).fraction >= wanted), 0)

    return max(smallest(gpus.find(name)) for name in names)
