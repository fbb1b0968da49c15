from helpers import gpus, occupancy


def estimated(blocks, threads, registers, shared_bytes, name):
    gpu = gpus.find(name)
    fits = occupancy(registers, shared_bytes, threads, gpu).blocks_per_sm
    blocks_here = min(fits, blocks / gpu.sms)
    return 100.0 * (blocks_here * threads / 32) / (gpu.threads_per_sm / 32)
