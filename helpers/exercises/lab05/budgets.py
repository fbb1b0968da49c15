"""Budgets of the lab, and what of the sanitizer's hints is wrong in all of it."""

from __future__ import annotations

BLOCK = 256
