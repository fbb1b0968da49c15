"""Budgets of several exercises: each request fills its sectors, and each sector is asked for once."""

from __future__ import annotations

from helpers.checking.exercise import Budget
from helpers.checking.measures import sectors_per_request

LOADS = Budget(
    "sectors per load request",
    sectors_per_request("read"),
    4.2,
    "32 neighbouring floats fill 4 sectors, and 32 float4s 4 for each 128 bytes; lanes far apart bring a sector each.",
)
STORES = Budget(
    "sectors per store request",
    sectors_per_request("write"),
    4.2,
    "Stores are counted like loads: neighbouring lanes should write neighbouring elements.",
    "global_store_sectors",
)
ALL_SECTORS = Budget(
    "sectors loaded",
    lambda profile: profile["global_read_sectors"],
    4,
    "8 floats fill a sector: fetch each sector once, for all the lanes that want it.",
)
"""Besides ratios: a single lane at work makes good ratios, too. A limit is what all floats fill, and 4 to spare."""
