from helpers import gpus

def resident(registers, shared_bytes, threads, name):
    gpu = gpus.find(name)
    warps = (threads + 31) // 32
    by_warps = gpu.warps_per_sm // warps

    a_warp = (32 * registers + 255) // 256 * 256
    in_a_quarter = gpu.registers_per_sm // 4 // a_warp
    by_registers = 4 * in_a_quarter // warps

    unit = gpu.shared_granularity
    a_block = (shared_bytes + gpu.shared_reserved + unit - 1) // unit * unit
    by_shared = gpu.shared_per_sm // a_block
    return min(by_warps, by_registers, by_shared, gpu.blocks_per_sm)
