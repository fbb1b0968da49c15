from helpers import gpus, occupancy
def estimated(blocks, threads, registers, shared_bytes, name):
    gpu = gpus.find(name)
    held = occupancy(registers, shared_bytes, threads, gpu)
    launched = blocks * threads / 32 / gpu.sms / gpu.warps_per_sm
    return 100 * min(launched, held.fraction)
