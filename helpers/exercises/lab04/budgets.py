"""Budgets of the lab."""

from __future__ import annotations

from helpers.checking.examine import Cost
from helpers.checking.measures import per_block

BLOCK, BLOCKS = 128, 4


def beside_one_ticket(profile: Cost) -> float:
    """Too many atomics for each block, or none, as when one block does the work of all or a ticket is drawn by ++."""
    return abs(per_block("global_update_requests")(profile) - 1)
