"""Words that no engineer says aloud, and the field's words for them: what readers of earlier versions stumbled over."""

from __future__ import annotations

import re
from collections.abc import Iterator

FIELD_WORDS = {
    r"under way": "in flight",
    r"mend(s|ed|ing)?|cure[sd]?|ailments?": "fix, remedy, problem",
    r"in vain": "wasted",
    r"foret(ell|ells|old)": "predict, predicted",
    r"rehearse[sd]?|rehearsals?": "dry run",
    r"by heart": "memorised",
    r"forth and back": "forward and backward, or back and forth",
    r"can but guess": "can only guess",
    r"behind the end": "past the end",
    r"(meet|meets|met) again": "reconverge",
    r"holds (it|them|a kernel|the kernel) up": "limits, the bottleneck",
    r"crosswise": "swizzled",
    r"gradients? by (the )?(weights?|inputs?|outputs?|parameters?|scores?|x)": "gradient with respect to",
    r"from here on": "from now on, or name the place",
    r"further (on|up)|as told": "below, above, in chapter N",
    r"an own|of an own": "its own, separate",
    r"made again": "recomputed",
    r"order(s|ed)? a copy": "issue a copy",
    r"(bytes|sectors|lanes|elements|counters) (are |were |that were )?asked for": "requested",
    r"beliefs?": "claim",
    r"none of the known mistakes": "this isn't a mistake we recognise",
}
_PATTERNS = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): better for words, better in FIELD_WORDS.items()}


def home_made(text: str) -> Iterator[tuple[str, str]]:
    """Each phrase in prose that the field has other words for, and those words."""
    for pattern, better in _PATTERNS.items():
        for found in pattern.finditer(text):
            yield found.group(), better
