"""What budgets measure, as ratios that hold for every size: what was moved for what had to be, per block, per warp.

They count the memory accesses of all instructions (`vgpu.tools.counter_sums`), and divide by what the case needs
(`Case.needed`).
Where they divide by what a kernel did, only as much of that counts as the case needs: useless requests, instructions
or warps don't make a ratio smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from helpers.checking.examine import Cost
from helpers.checking.exercise import Out
from vgpu.launch.shares import Shares
from vgpu.tools.roofline import flops_by_unit
from vgpu.tools.steps.dependencies import Chain

WARP = 32
ORDINARY = ("flops_fp16", "flops_fp32", "flops_fp64")


def per_block(*keys: str) -> Callable[[Cost], float]:
    """The sum of these counters for each block of the launch."""
    return lambda profile: sum(profile[key] for key in keys) / math.prod(profile.counters.grid)


def per_warp(*keys: str) -> Callable[[Cost], float]:
    """The sum of these counters for each warp of the launch."""
    return lambda profile: sum(profile[key] for key in keys) / profile.counters.warps


def sectors_per_request(what: str, most: float = math.inf) -> Callable[[Cost], float]:
    """Sectors for each request that reads ("read") or writes ("write") global memory; 0 where there is none.

    A request of wider elements counts as one for each 128 bytes: 32 times a float4 in a row are four full requests. At
    most `most` requests count for each 32 elements of the case's arrays.
    """

    def measure(profile: Cost) -> float:
        arguments = profile.case.arguments
        outs = [argument.expected for argument in arguments if isinstance(argument, Out)]
        arrays = outs if what == "write" else [argument for argument in arguments if isinstance(argument, np.ndarray)]
        needed = most * sum(-(-array.size // WARP) for array in arrays)
        wide = profile["global_load_bytes" if what == "read" else "global_write_bytes"] / 128
        requests = min(max(profile[f"global_{what}_requests"], wide), needed)
        return profile[f"global_{what}_sectors"] / max(1, requests)

    return measure


def total(*keys: str) -> Callable[[Cost], float]:
    """The sum of these counters."""
    return lambda profile: sum(profile[key] for key in keys)


def loaded_for_needed(profile: Cost) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the inputs; at best 1."""
    return 32 * profile["global_read_sectors"] / max(32, profile.needed.read_bytes)


def stored_for_needed(profile: Cost) -> float:
    """Bytes of all sectors that requests stored to, for each byte of the outputs; at best 1."""
    return 32 * profile["global_write_sectors"] / max(32, profile.needed.written_bytes)


def idle_lanes(profile: Cost, most: float = math.inf) -> float:
    """Lanes of 32 that do not take part in an instruction, on average.

    At most `most` instructions count for each 32 results of 4 bytes.
    """
    executed, needed = profile["instructions"], most * max(32, profile.needed.written_bytes) / 128
    idle = WARP * executed - profile["thread_instructions"]
    return idle / max(1, min(executed, needed))


def load_requests_for_needed(profile: Cost) -> float:
    """Load requests for each 128 bytes, a word for every lane, of the inputs."""
    return 128 * profile["global_read_requests"] / max(32, profile.needed.read_bytes)


def loaded_for_written(profile: Cost) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the outputs."""
    return 32 * profile["global_read_sectors"] / max(32, profile.needed.written_bytes)


def load_requests_for_written(profile: Cost) -> float:
    """Load requests for each 512 bytes, 16 for every lane, of the outputs."""
    return 512 * profile["global_read_requests"] / max(32, profile.needed.written_bytes)


def instructions_for_written(profile: Cost) -> float:
    """Instructions of warps for each 128 bytes, a word for every lane, of the outputs."""
    return 128 * profile["instructions"] / max(32, profile.needed.written_bytes)


def stored_again(profile: Cost) -> float:
    """Bytes that lanes store, for each byte of the outputs; 1 if each is stored once."""
    return profile["global_write_bytes"] / max(32, profile.needed.written_bytes)


def scratch_words(profile: Cost) -> float:
    """Words stored to global memory beyond the outputs, as to a variable of the module that stands in for shared
    memory. Atomics are left out: budgets count those by themselves."""
    stored = profile["global_write_bytes"] - 32 * profile["global_atomic_sectors"]
    return max(0, stored - profile.needed.written_bytes) / 4


def outside_registers(*keys: str) -> Callable[[Cost], float]:
    """The sum of these counters of requests, and every word of scratch in global memory."""
    return lambda profile: sum(profile[key] for key in keys) + scratch_words(profile)


def multiplied(profile: Cost, needed: float, elements: float) -> float:
    """Multiplications by any unit for each of those `needed`, of integers too.

    A division or special function counts as one. Three multiplications of integers are free for each of the
    `elements` of global memory that are needed, since an index takes that many.
    """
    ordinary = sum(profile[key] for key in ORDINARY)
    tensor = (sum(flops_by_unit(profile.total).values()) - ordinary) / 2
    return (multiplied_floats(profile) + tensor + multiplied_integers(profile, elements)) / needed


def multiplied_floats(profile: Cost) -> float:
    """Multiplications of floats by ordinary cores, of which sums of as many terms may stand in for some."""
    products = profile["float_products"] + profile["special_functions"]
    return max(sum(profile[key] for key in ORDINARY) / 2, products)


def multiplied_integers(profile: Cost, elements: float) -> float:
    """Multiplications of integers beyond three for each of `elements` of global memory, whose indices take them."""
    tensor = profile["ops_tensor_int8"] + profile["ops_tensor_int4"]
    return tensor / 2 + max(0, profile["integer_products"] - 3 * elements)


def special_functions(profile: Cost, arithmetic: float) -> float:
    """Special functions of all threads; each eight operations beyond `arithmetic` count as one, since that is what a
    polynomial takes in its place."""
    done = sum(profile[key] for key in ORDINARY) + profile["integer_products"]
    return profile["special_functions"] + max(0, done - arithmetic) / 8


def conflicts_per_shared_request(profile: Cost, most: float) -> float:
    """Wavefronts beyond those that a request's width needs, for each request to shared memory.

    At most `most` requests count for each 128 bytes of global memory that the case needs.
    """
    conflicts = sum(profile[f"shared_{op}_conflicts"] for op in ("load", "store", "copy"))
    conflicts += profile["shared_atomic_wavefronts"] - profile["shared_atomic_requests"]
    return conflicts / max(1, min(profile["shared_requests"], most * _words(profile) / WARP))


def busiest_warp(shares: Shares) -> float:
    """The instructions of the warp that executes most, for each that a warp executes on average; of all warps."""
    warps = shares.instructions
    return float(warps.max() * warps.size / max(1, warps.sum()))


def busiest_for_needed(profile: Cost, requests: float | None = None, instructions: float = math.inf) -> float:
    """What the busiest warp does: instructions by the average, or requests to global memory by those that it needs.

    Instructions alone don't tell, since useless ones of other warps raise the average. `requests`: those that a warp
    needs, by default an equal share of the case's words, or of all requests if they are more: a budget on bytes limits
    those. `instructions`: at most this average counts.
    """
    shares = profile.counters.by_warp
    assert shares is not None  # the launch was counted
    equal = max(_words(profile) / WARP / shares.requests.size, shares.requests.mean())
    each = equal if requests is None else requests
    average = min(shares.instructions.mean(), instructions)
    return float(max(shares.instructions.max() / max(1, average), shares.requests.max() / each))


def _words(profile: Cost) -> float:
    """Words of 4 bytes in the global memory that the case needs."""
    return (profile.needed.read_bytes + profile.needed.written_bytes) / 4


def waits_alone(chain: Chain) -> int:
    """How often a warp waits for global memory while nothing else that it asked for is in flight."""
    found, under_way = 0, set[int]()
    for number, link in enumerate(chain.links):
        waited = under_way & set(link.needs)
        under_way -= waited
        found += bool(waited) and not under_way
        if link.space == "global" and link.op == "load":
            under_way.add(number)
    return found
