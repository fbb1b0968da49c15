from helpers import gpus, occupancy

def elements(wanted, registers, threads, itemsize, name):
    held = occupancy(registers, 0, threads, gpus.find(name))
    at_once = held.blocks_per_sm * threads * itemsize
    return (wanted + at_once - 1) // at_once
