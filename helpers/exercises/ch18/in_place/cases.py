from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural

BLOCK = 128
IGNORED = -100


def _case(tokens: int, words: int, ignored: int = 0) -> Case:
    logits = numbers((tokens, words), seed=tokens + words)
    wanted = np.random.default_rng(tokens).integers(0, words, tokens, np.int32)
    wanted[:ignored] = IGNORED
    exact = logits.astype(np.float64)
    logsum = np.log(np.exp(exact).sum(axis=1))
    gradient = np.exp(exact - logsum[:, None])
    counted = np.flatnonzero(wanted != IGNORED)
    gradient[counted, wanted[counted]] -= 1
    gradient[wanted == IGNORED] = 0
    out = Out((gradient / tokens).astype(np.float32), initial=logits)
    arguments = (out, logsum.astype(np.float32), wanted, np.int32(tokens), np.int32(words))
    name = f"{plural(tokens, 'token')}, {plural(words, 'word')}" + f", {ignored} of them padding" * (ignored > 0)
    return Case(name, arguments, (cover(tokens * words, BLOCK),), (BLOCK,))


def cases() -> list[Case]:
    return [_case(1, 1), _case(1, 31), _case(3, 64), _case(7, 97, ignored=2), _case(128, 5, ignored=1)]


def measured() -> Case:
    return _case(64, 256)


MEASURES = {"bytes stored for each byte of the logits": lambda p: p["global_write_bytes"] / (4 * 64 * 256)}
