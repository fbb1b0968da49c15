import numpy as np

def bytes_of_block(threads, registers, shared, local):
    return tuple(np.array([4*threads*registers + shared, threads*local]))
