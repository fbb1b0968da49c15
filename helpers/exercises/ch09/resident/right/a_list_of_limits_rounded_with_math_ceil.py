import math
from helpers import gpus
def resident(registers, shared_bytes, threads, name):
    gpu = gpus.find(name)
    warps = math.ceil(threads / gpu.warp_size)
    limits = [gpu.warps_per_sm // warps, gpu.blocks_per_sm]
    units = math.ceil(registers * gpu.warp_size / gpu.register_granularity)
    quarter = gpu.registers_per_sm // gpu.partitions_per_sm
    limits.append(quarter // (units * gpu.register_granularity) * gpu.partitions_per_sm // warps)
    units = math.ceil((shared_bytes + gpu.shared_reserved) / gpu.shared_granularity)
    limits.append(gpu.shared_per_sm // (units * gpu.shared_granularity))
    return min(limits)
