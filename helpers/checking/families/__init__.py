"""Mistakes that any exercise knows: tried after its own, from the specific to the general.

A family is a row: its name, what looks for it in the evidence, and what to tell of it whoever made it. `look` gives
None, or a sentence with facts of the very answer that holds for every public case that fails. So it claims only what it
has verified; where none matches, the last rows say what was seen.
"""

from __future__ import annotations

import numpy as np

from helpers.checking.examine import Evidence
from helpers.checking.exercise import Mistake
from helpers.checking.families import costs, findings, functions, places, stops, streams, unwritten, values
from helpers.checking.fingerprint import public

FAMILIES = (
    *streams.FAMILIES,
    *findings.UNDEFINED,
    *stops.FAMILIES,
    *findings.FAMILIES,
    *unwritten.FAMILIES,
    *values.FAMILIES,
    *functions.FAMILIES,
    *places.FAMILIES,
    *costs.FAMILIES,
)


def told(evidence: Evidence) -> Mistake | None:
    """The first family that matches what public cases show. Of hidden ones only what they cost is a mistake here."""
    shown = public(evidence)
    seen = shown if not shown.passed else evidence
    if shown.right and not evidence.right:
        return None
    with np.errstate(all="ignore"):  # of results that are infinite, right or wrong, families compute NaN
        for family in FAMILIES:
            if (fact := family.look(seen)) is not None:
                about = getattr(fact, "finding", None)
                return Mistake(family.name, family.teach, seen=fact if seen is shown else "", finding=about)
    return None
