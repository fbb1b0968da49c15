from collections import namedtuple
R = namedtuple("R", "on off")
def bytes_of_block(threads, registers, shared, local):
    return R(on=threads*4*registers+shared, off=threads*local)
