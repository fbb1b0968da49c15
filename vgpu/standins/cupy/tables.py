"""Tables of names as text: one long list of strings would be mostly quotation marks."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return text.split()
