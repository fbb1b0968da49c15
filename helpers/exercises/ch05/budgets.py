"""Budgets of several exercises: requests to shared memory that no two lanes' words in one bank draw out."""

from __future__ import annotations

from collections.abc import Callable

from helpers.checking.examine import Cost
from helpers.checking.exercise import Budget


def wavefronts_per_request(op: str) -> Callable[[Cost], float]:
    """Wavefronts for each request that reads or writes shared memory ("load", "store"); atomics do both."""

    def measure(profile: Cost) -> float:
        wavefronts = profile[f"shared_{op}_wavefronts"] + profile["shared_atomic_wavefronts"]
        requests = profile[f"shared_{op}_requests"] + profile["shared_atomic_requests"]
        if op == "store":
            wavefronts, requests = wavefronts + profile["shared_copy_wavefronts"], requests + profile["async_copies"]
        return wavefronts / max(1, requests)

    return measure


SHARED_LOADS = Budget(
    "wavefronts per shared load",
    wavefronts_per_request("load"),
    1.05,
    "32 lanes that read 32 words of one bank are served one after another.",
    "shared_load_wavefronts",
)
SHARED_STORES = Budget(
    "wavefronts per shared store",
    wavefronts_per_request("store"),
    1.05,
    "32 lanes that write 32 words of one bank are served one after another.",
    "shared_store_wavefronts",
)
