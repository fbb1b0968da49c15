"""What the compiler makes of a kernel, for several GPUs."""

from __future__ import annotations

from collections.abc import Callable

from helpers.checking.examine import Cost

ARCHITECTURES = ("T4", "A100", "H100")


def worst(*what: str) -> Callable[[Cost], int]:
    """Numbers of the compiler's, each the largest of several architectures', in all."""
    return lambda profile: sum(
        max(getattr(profile.on(name).resources, each) for name in ARCHITECTURES) for each in what
    )
