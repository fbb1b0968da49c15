import numpy as np

def bytes_of_block(threads, registers, shared, local):
    return np.int64(4*threads*registers + shared), np.int64(threads*local)
