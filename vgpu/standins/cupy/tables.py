"""Tables of names as text, which is easier to read than a long list of strings."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return text.split()
