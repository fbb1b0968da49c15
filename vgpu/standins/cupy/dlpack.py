"""The codes of DLPack, the protocol by which libraries hand arrays to each other: (kind of device, its number)."""

from __future__ import annotations

CPU = (1, 0)
