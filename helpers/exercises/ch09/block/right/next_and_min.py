from helpers import gpus, occupancy
def smallest_block(registers, floats, names, wanted):
    def worst(t):
        return min(occupancy(registers, floats * 4 * t, t, gpus.find(n)).fraction for n in names)

    return next((t for t in range(32, 1025, 32) if worst(t) >= wanted), 0)
