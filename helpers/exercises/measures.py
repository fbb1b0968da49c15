"""What budgets measure, as ratios that hold for every size: what was moved for what had to be, per block, per warp."""

from __future__ import annotations

import math
from collections.abc import Callable


def per_block(*keys: str) -> Callable:
    """The sum of these counters for each block of the launch."""
    return lambda profile: sum(profile[key] for key in keys) / math.prod(profile.counters.grid)


def per_warp(*keys: str) -> Callable:
    """The sum of these counters for each warp of the launch."""
    return lambda profile: sum(profile[key] for key in keys) / profile.counters.warps


def per_request(what: str, space: str, op: str) -> Callable:
    """Sectors or wavefronts for each request of one kind; 0 where there is none."""
    return lambda profile: profile[f"{space}_{op}_{what}"] / max(1, profile[f"{space}_{op}_requests"])


def total(*keys: str) -> Callable:
    """The sum of these counters."""
    return lambda profile: sum(profile[key] for key in keys)


def loaded_for_needed(profile) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the distinct sectors among them; at best 1."""
    sectors = profile["global_load_sectors"] + profile["global_copy_sectors"]
    return 32 * sectors / max(32, profile.counters.footprint.read_bytes)


def stored_for_needed(profile) -> float:
    """Bytes of all sectors that requests stored to, for each byte of the distinct sectors among them; at best 1."""
    return 32 * profile["global_store_sectors"] / max(32, profile.counters.footprint.written_bytes)


def idle_lanes(profile) -> float:
    """Lanes of 32 that do not take part in an instruction, on average."""
    return 32 - profile["lanes_per_instruction"]


def load_requests_for_needed(profile) -> float:
    """Load requests for each 128 bytes, a word for every lane, of the distinct sectors that they bring."""
    return 128 * profile["global_load_requests"] / max(32, profile.counters.footprint.read_bytes)


def loaded_for_written(profile) -> float:
    """Bytes of all sectors that requests loaded, for each byte of the distinct sectors that were stored to."""
    return 32 * profile["global_load_sectors"] / max(32, profile.counters.footprint.written_bytes)


def load_requests_for_written(profile) -> float:
    """Load requests for each 512 bytes, 16 for every lane, of the distinct sectors that were stored to."""
    return 512 * profile["global_load_requests"] / max(32, profile.counters.footprint.written_bytes)


def instructions_for_written(profile) -> float:
    """Instructions of warps for each 128 bytes, a word for every lane, of the distinct sectors that were stored to."""
    return 128 * profile["instructions"] / max(32, profile.counters.footprint.written_bytes)


def stored_again(profile) -> float:
    """Bytes that lanes store, for each byte of the distinct sectors that they store to; 1 if each is stored once."""
    return profile["global_store_bytes"] / max(32, profile.counters.footprint.written_bytes)


SHARED = ("shared_load_requests", "shared_store_requests", "shared_atomic_requests")
"""Every request to shared memory."""
ATOMICS = ("global_atomic_requests", "shared_atomic_requests")
"""Every atomic."""


def conflicts_per_shared_request(profile) -> float:
    """Wavefronts beyond those that a request's width needs, for each request to shared memory."""
    requests = profile["shared_load_requests"] + profile["shared_store_requests"]
    return (profile["shared_load_conflicts"] + profile["shared_store_conflicts"]) / max(1, requests)


def busiest_warp(shares) -> float:
    """The instructions of the warp that executes most, for each that a warp executes on average; of all warps."""
    warps = shares.instructions
    return float(warps.max() * warps.size / max(1, warps.sum()))
