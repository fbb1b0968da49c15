from helpers import gpus, occupancy

def estimated(blocks, threads, registers, shared_bytes, name):
    gpu = gpus.find(name)
    held = occupancy(registers, shared_bytes, threads, gpu)
    per_sm = min(blocks / gpu.sms, held.blocks_per_sm)
    return 100 * per_sm * threads / gpu.threads_per_sm
