import helpers
from helpers import occupancy as occ
def smallest_block(registers, floats, names, wanted):
    threads = 32
    while threads <= 1024:
        ok = True
        for name in names:
            row = helpers.gpus.find(name)
            if occ(registers, threads * floats * 4, threads, row).fraction < wanted:
                ok = False
                break
        if ok:
            return threads
        threads += 32
    return 0
